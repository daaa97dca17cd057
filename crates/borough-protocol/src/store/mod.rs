//! A shared store as the one voter: any side that reaches it lives, even one node of five.
//!
//! [`Register`] stands for the store. It is passive: it has no clock and asks nobody; each [`Ask`] is one transaction, and its
//! [`Answer`] goes back to the asker. Whatever carries the two may lose, repeat, delay and reorder them. [`StoreSeeking`] is how a
//! node finds its cluster there, or founds it; once it takes part, it follows the register through
//! [`RegisterLog`](crate::log::register::RegisterLog) and asks it for its lease.
//!
//! The promise is that of the voters: what is in the register is decided; a renewal counts only while the table in the register has
//! that admission; so a removed member's lease ends at the latest one lease length after the removal.
//!
//! There is no real store behind it yet: this is for simulations, and users are refused the strategy until there is one.

mod message;
mod register;
mod seeking;
#[cfg(test)]
mod tests;

pub use self::message::{Answer, Ask};
pub use self::register::Register;
pub use self::seeking::{Found, StoreSeeking};
