//! Which entity goes when there are too many.
//!
//! A host that keeps at most so many entities awake tells a [`Ranking`] of each that starts, gets a message, or is gone, and asks it
//! for a victim while there are more than the limit. A [`Policy`] says by which rule the victim is chosen.
//!
//! Promise: each call takes constant time, but for the growth of a vector when a slot is higher than any before; a slot takes at most
//! [`Ranking::BYTES_PER_SLOT`] bytes, twice that where vectors have just grown, and the whole at most [`Ranking::BYTES_FIXED`] more; the same
//! calls give the same victims everywhere; the one touched last is no victim while there is another, because it has a message to handle.

mod chains;
mod climber;
mod frequency;
mod policy;
mod ranking;
mod recency;
mod segments;
mod sketch;
mod window;

pub use self::policy::{Levels, LevelsError, Policy, Window};
pub use self::ranking::Ranking;
