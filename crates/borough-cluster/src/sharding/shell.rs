//! One type of entities on this node, as the desk sees it: whatever its messages are.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use borough_actor::EntityId;
use borough_actor::remote::{Carrier, Inlet};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::Pace;
use borough_protocol::sharding::{Epoch, Kind, KindId};
use borough_protocol::table::Table;
use borough_protocol::version::Version;

use super::host::{Depth, Order, Woken};
use super::listing::Listed;
use super::loss::Hosted;
use super::queries::KindStats;
use super::routes::{Replaced, Used};
use super::watchdog::WedgedWorker;

/// See the module.
pub(super) trait Shell: Send + Sync {
    /// What all nodes must agree upon.
    fn kind(&self) -> &Arc<Kind>;

    /// Whether its entities can live here; otherwise it is a proxy.
    fn hosts(&self) -> bool;

    /// How long its shards may take to move away from here.
    fn pace(&self) -> Pace;

    /// Turns of its shards that are to move are ended by force from now on, if they take longer than a few seconds.
    fn force(&self);

    /// Its entities live here no more: it is a proxy from now on.
    fn stop_hosting(&self);

    /// The table is newer. Whether it has `news` for this type: of its shards, its hosts or any node.
    fn follow(&self, life: Uid, id: Option<KindId>, table: &Arc<Table>, news: bool);

    /// What waits for a newer table is looked at again.
    fn look(&self);

    /// Shards that somebody waits for and nobody was told of.
    fn take_wanted(&self) -> Vec<u32>;

    /// Holds from now on what is sent to these shards.
    fn close(&self, shards: &[u32]) -> Closing;

    /// Whether nobody uses the ways any more that were closed so.
    fn is_quiet(&self, closing: &Closing) -> bool;

    /// These shards have a way: what is held goes first.
    fn open(&self, openings: &[Opening]);

    /// Sends a barrier behind what was sent to that node before.
    fn barrier(&self, shard: u32, to: Uid, tag: Epoch, nonce: u64, min_version: Option<Version>);

    /// Tells the lane of that shard what to do.
    fn order(&self, order: Order);

    /// Nothing is held from now on: what has no way is refused.
    fn shut_holds(&self);

    /// Closes every way.
    fn close_all(&self) -> Closing;

    /// Whether nothing that was accepted here waits for a way, or to be sent on.
    fn is_settled(&self) -> bool;

    /// The life of the node is over: what lived here is dropped, and nobody has a way.
    fn reset(&self);

    /// The node is gone: nothing is taken any more.
    fn end(&self);

    /// Itself, for those who know the type of its messages.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// The type of its messages.
    fn message_type(&self) -> &'static str;

    /// The shard of that id.
    fn shard_of(&self, id: &EntityId) -> u32;

    /// Starts that entity, if its shard lives here.
    fn wake(&self, id: EntityId) -> Pin<Box<dyn Future<Output = Woken> + Send>>;

    /// Which entities of that shard live here.
    fn list(&self, shard: u32, after: Option<EntityId>) -> Listed;

    /// Looks, now and then, after what waits for a word of another node.
    fn look_around(&self);

    /// Pings its workers, and gives those that have not answered for long; see [`Sharding::ping`](super::Sharding::ping).
    fn ping(&self, starts_over: bool) -> Vec<WedgedWorker>;

    /// Its workers that have not answered the last few pings.
    fn silent_workers(&self) -> Vec<WedgedWorker>;

    /// How many messages wait for a way.
    fn held(&self) -> usize;

    /// What lives here.
    fn stats(&self, depth: Depth) -> Pin<Box<dyn Future<Output = KindStats> + Send + '_>>;

    /// How many shards and entities live here now: waits for as long as a handler holds up a lane. `None` if a lane is gone.
    fn hosted_now(&self) -> Pin<Box<dyn Future<Output = Option<Hosted>> + Send + '_>>;

    /// Waits until its lanes have attended to everything that was sent here before.
    fn flushed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The way in for what one other node sends.
    fn inlet(&self, carrier: Arc<dyn Carrier>) -> Box<dyn Inlet>;
}

/// Ways that were closed at once.
pub(super) struct Closing {
    pub(super) ways: Vec<Closed>,
}

/// A way that was closed.
pub(super) struct Closed {
    pub(super) shard: u32,
    /// `None` if there was no way.
    pub(super) used: Option<Used>,
    pub(super) replaced: Replaced,
}

impl Closing {
    /// Which shards, and whether anything ever went by their ways.
    pub(super) fn shards(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.ways.iter().map(|way| (way.shard, way.used.as_ref().is_some_and(Used::is_marked)))
    }
}

/// A shard has a way.
pub(super) struct Opening {
    pub(super) shard: u32,
    pub(super) to: Uid,
    pub(super) tag: Epoch,
}
