//! What a simulated cluster is there for: entities in shards, and senders that send to them.
//!
//! The regions and the stances of lanes are the real ones. Everything around them is a model that is as bad as the real thing may be:
//!
//! ```text
//! sender --looks up the way, later enqueues--> stream of a pair of lives --in order, late--> lane --places--> entity, turn by turn
//!            | no way: held in order                 lost when a life ends, or a removed one's link is closed
//! ```
//! What must hold is in [`rules`], a file a rule.

mod lane;
mod load;
mod message;
mod route;
mod rules;
mod site;
mod situation;
mod store;
mod stream;

pub(super) use self::lane::{Deed, Lane, Letter};
pub use self::load::Load;
pub(super) use self::message::{Ended, Frame, Item, Message};
pub(super) use self::route::{Look, Route};
pub(super) use self::rules::{Books, Handling, is_taken};
pub(super) use self::site::Site;
pub use self::situation::{Situation, Situations};
pub(super) use self::store::Store;
pub(super) use self::stream::Stream;
