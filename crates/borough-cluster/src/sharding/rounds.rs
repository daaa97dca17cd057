//! What a node looks at now and then, apart from the way of every message.
//!
//! Promise: who stands in line for an entity of another node asks again every second.
//! Promise: messages that wait for a type which nobody hosts are reported, once, with what to do; a type that has fewer shards than hosts is, too, and one
//! that the cluster does not get to know. What was counted is handed to the `metrics` facade, with the feature of that name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::{Kind, KindId};
use borough_protocol::table::Table;
use tokio::time::Instant;

use super::Sharding;
use super::events::ShardEvent;
use super::lack::{self, Lack};

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);
/// A node that leaves says after so many looks what it waits for.
const ROUNDS_BETWEEN: u32 = 5;
/// How long messages wait for a type that has no host, or the cluster does not know a type, before that is said: nodes that start together take a while
/// to start their types.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Default)]
pub(super) struct Rounds {
    /// Types that messages wait for and nobody can take, since when, and whether it was said.
    lacking: BTreeMap<Arc<str>, (Instant, bool)>,
    /// Types that are started here and not known to the cluster, since when, and whether it was said.
    unknown: BTreeMap<Arc<str>, (Instant, bool)>,
    /// Types of which it was said that they have few shards.
    few: BTreeSet<Arc<str>>,
    /// How often it was looked since the node was told to give away what lives here.
    looks_while_leaving: u32,
}

impl Rounds {
    /// Until the node is gone.
    pub(super) async fn run(mut self, sharding: Arc<Sharding>) {
        #[cfg(feature = "metrics")]
        super::metrics::describe();
        loop {
            tokio::select! {
                () = sharding.errands.closed() => return,
                () = tokio::time::sleep(EVERY) => self.go(&sharding),
            }
            #[cfg(feature = "metrics")]
            publish(&sharding).await;
        }
    }

    fn go(&mut self, sharding: &Sharding) {
        let sight = sharding.sight();
        let table = sight.table.filter(|table| table.member(sight.life).is_some());
        self.look_at_departure(table.as_deref().filter(|_| sight.drains), sight.life);
        // One that could not be started may be started again later.
        self.unknown.retain(|name, _| table.is_some() && sharding.shell(name).is_some());
        for shell in sharding.shells() {
            shell.look_around();
            let name = &shell.kind().name;
            let known = table.as_deref().and_then(|table| Some((table, table.kind_named(name)?.0)));
            let Some((table, id)) = known else {
                self.lacking.remove(name);
                if let Some(table) = &table {
                    self.look_for_type(table, shell.kind(), shell.held());
                }
                continue;
            };
            self.unknown.remove(name);
            let said = self.look_for_hosts(table, id, name, shell.held());
            sharding.announce(said);
            self.look_at_shards(table, id, name);
        }
    }

    /// Says, now and then, what a node that leaves waits for.
    fn look_at_departure(&mut self, table: Option<&Table>, me: Uid) {
        self.looks_while_leaving = table.map_or(0, |_| self.looks_while_leaving + 1);
        let Some(table) = table.filter(|_| self.looks_while_leaving.is_multiple_of(ROUNDS_BETWEEN)) else {
            return;
        };
        let shards = table.owned_by(me).count();
        if shards > 0 {
            tracing::info!(shards, "node leaves: it waits until these shards have moved or ended");
        } else {
            let members = table.members().len() - 1;
            tracing::info!(members, "node leaves: it waits until the other members let it go");
        }
    }

    /// Whether messages wait for hosts that are not there; said once they have for a while.
    fn look_for_hosts(
        &mut self,
        table: &Table,
        id: KindId,
        name: &Arc<str>,
        held: usize,
    ) -> Option<ShardEvent> {
        let lack = (held > 0).then(|| Lack::of(table, id)).flatten();
        let Some(lack) = lack else {
            self.lacking.remove(name);
            return None;
        };
        let (since, is_said) = self.lacking.entry(name.clone()).or_insert_with(|| (Instant::now(), false));
        if *is_said || since.elapsed() < PATIENCE {
            return None;
        }
        *is_said = true;
        tracing::warn!(kind = &**name, waiting = held, "messages wait: {lack}");
        Some(ShardEvent { kind: name.clone(), shard: 0, what: lack.news(held) })
    }

    /// The cluster does not know the type; said once it has not for a while.
    fn look_for_type(&mut self, table: &Table, kind: &Kind, held: usize) {
        let (since, is_said) =
            self.unknown.entry(kind.name.clone()).or_insert_with(|| (Instant::now(), false));
        if *is_said || since.elapsed() < PATIENCE {
            return;
        }
        *is_said = true;
        let why = lack::unknown(kind, Some(table));
        tracing::warn!(kind = &*kind.name, waiting = held, "a type is started here and nowhere known: {why}");
    }

    fn look_at_shards(&mut self, table: &Table, id: KindId, name: &Arc<str>) {
        let Some(kind) = table.kind(id) else { return };
        let (shards, hosts) = (kind.kind().shards, kind.hosts().len());
        if usize::try_from(shards).is_ok_and(|shards| shards < hosts) && self.few.insert(name.clone()) {
            tracing::warn!(
                kind = &**name,
                shards,
                hosts,
                "it has fewer shards than nodes host it: some of them have nothing to do; about ten for each are good, and their number cannot be changed later"
            );
        }
    }
}

/// Hands over what was counted. A lane that does not answer in time is held up by a turn: then it is done the next time.
#[cfg(feature = "metrics")]
async fn publish(sharding: &Sharding) {
    for shell in sharding.shells() {
        if let Ok(stats) = tokio::time::timeout(EVERY, shell.stats(super::host::Depth::Counts)).await {
            super::metrics::publish(&stats);
        }
    }
}
