//! The ways in which the first plan broke, each as a script: the same steps, and what the rules do instead.
//!
//! The numbers are those of the list of attacks. 17 to 28 are about moving shards and the order of messages, which are not there
//! yet: 17 when the new owner runs, 18 when the old one may delete, 19 called-off and repeated transfers, 20 a change of
//! coordinator at each step, 21 passivation during a move, 22 the deadline of a move, 23 there and back again, 24 a dead old
//! owner, 25 the lock-free route, 26 replies during a move, 27 the entity as sender, 28 lanes. Those about stores, 29 to 31, are
//! shown on a store of the test's own.

mod coordinator;
mod fencing;
mod stores;
