//! Durable logs: disks that are slow, full, lose what was not written, or come back with an older copy.
//!
//! `voter` is one log with its disk. `cluster` runs a few by hand, `rig` by chance from a seed.

mod cluster;
mod gating;
mod lost;
mod restart;
mod rig;
mod seeds;
mod voter;
