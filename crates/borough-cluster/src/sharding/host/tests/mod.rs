//! Lanes, each behaviour by itself.

mod life;
mod moves;
mod rig;
mod thing;
