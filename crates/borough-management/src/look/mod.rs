//! What is told, read off the node: nothing is decided here, and nothing is kept but a moment's statistics.

mod advice;
mod entities;
mod health;
mod losses;
mod members;
mod recovery;
mod settings;
mod shards;
mod stats;

pub(crate) use self::entities::{entities, entity_ids, location, of_token};
pub(crate) use self::health::{live, ready};
pub(crate) use self::losses::{state_loss, state_losses};
pub(crate) use self::members::{members, state};
pub(crate) use self::recovery::recovery;
pub(crate) use self::settings::settings;
pub(crate) use self::shards::shards;
pub(crate) use self::stats::{StatsDesk, kind_stats};
