//! Whole nodes on a network that does what the test says: each rule of membership, by a case that shows it.

mod departure;
mod formation;
mod removal;
mod rig;
