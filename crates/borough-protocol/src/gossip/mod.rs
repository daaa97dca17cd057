//! One document that everybody has, sooner or later.
//!
//! Gossip says who is there; it decides nothing. The [`Document`] holds members, who finds whom unreachable, tombstones
//! of those who are gone, a vector clock and the set of those who have this very version. Two documents are merged by
//! the join of a semilattice: in whatever order and however often they meet, all end up with the same one, and a uid
//! with a tombstone does not come back. Its size is bounded by the members and the tombstones that still live.
//!
//! [`Gossip`] spreads it: a digest of constant size to one peer a round, and only what the other lacks when they differ.
//!
//! ```text
//! A                             B
//! | -- Digest ----------------> |  same version: B answers Seen if the seen sets differ, else nothing
//! | <---------------- Pull ---- |  another version: B shows its clock
//! | -- Delta -----------------> |  what B's clock does not cover
//! | <- Delta (reply), or Seen - |  what A's clock does not cover; Seen if they now agree
//! | -- Seen ------------------> |  they agree
//! ```

mod changes;
mod document;
mod member;
mod members;
mod merge;
mod messages;
mod queries;
mod reachability;
mod seen;
mod settings;
mod spread;
mod tombstones;
mod view;
#[cfg(feature = "serde")]
mod wire;

#[cfg(test)]
mod tests;

pub use self::document::{Change, Document};
pub use self::member::{Member, Status};
pub use self::messages::{Delta, Message};
pub use self::reachability::Report;
pub use self::settings::Settings;
pub use self::spread::Gossip;
pub use self::tombstones::{Gone, Obituary, Tombstone};
pub use self::view::{Listed, Shown};
