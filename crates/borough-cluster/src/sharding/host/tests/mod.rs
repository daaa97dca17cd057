//! Lanes, each behaviour by itself.

mod ending;
mod fencing;
mod leases;
mod life;
mod moves;
mod pace;
mod packets;
mod rig;
mod thing;
