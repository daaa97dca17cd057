//! Lanes, each behaviour by itself.

mod ending;
mod leases;
mod life;
mod moves;
mod packets;
mod rig;
mod thing;
