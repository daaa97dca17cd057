//! Whole nodes on a network that does what the test says: each rule of membership, by a case that shows it.

mod addresses;
mod attacks;
mod bad_links;
mod changed_settings;
mod cuts;
mod departure;
mod downing;
mod durable;
mod following;
mod formation;
mod joining;
mod late;
#[path = "../shared/links.rs"]
mod links;
mod loss;
mod recovery;
mod removal;
mod requests;
mod resuming;
mod rig;
mod sharding;
mod voters;
mod wrong_recovery;
