//! Lanes, each behaviour by itself.

mod life;
mod moves;
mod packets;
mod rig;
mod thing;
