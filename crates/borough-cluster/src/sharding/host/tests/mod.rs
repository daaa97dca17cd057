//! Lanes, each behaviour by itself.

mod ending;
mod life;
mod moves;
mod packets;
mod rig;
mod thing;
