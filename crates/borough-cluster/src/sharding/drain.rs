//! How a node that stays gives away what lives on it, and how anybody learns that it does not get on.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::EntityId;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::KindId;
use borough_protocol::sharding::region::{Input, Pace};
use borough_protocol::table::{State, Table};
use tokio::time::{Instant, sleep};

use super::Sharding;
use super::desk::{Errand, Sight};
use super::hindrance::{DroppedState, Hindrance, Stuck};
use super::shell::Shell;
use crate::node::{DrainError, Node};
use crate::topology::Failure;

/// How often it is looked whether anything has gone.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Node {
    /// Gives away all that lives on this node, and hosts nothing any more; ready once nothing is here.
    ///
    /// It does for each type started here what [`Region::shutdown`](super::Region::shutdown) does for one, as soon as another node hosts the type: until then its
    /// entities live on here. Shards move in order, with what is queued. The node stays a member and a proxy, also if it comes back under a new uid; a type that is
    /// started here later is hosted. On a node that is in no cluster yet it is ready at once, and holds for when there is one. Cancel safe: once begun it goes on.
    ///
    /// Nothing is dropped, unless [`drop_after`](crate::NodeBuilder::drop_after) is set: then [`DrainError::Dropped`] says what was. If no shard has gone for as long
    /// as a turn may last ([`handoff_timeout`](crate::ShardBuilder::handoff_timeout)) it fails with [`DrainError::Stuck`], which names the entities and workers in the way;
    /// what is left works on, and is tried again.
    ///
    /// Drain the hosts of a type one after the other: of those that drain at once none takes what another gives away.
    ///
    /// Fails on a node that gave up its lease because it cannot work, see [`Standing::Failed`](crate::Standing::Failed); and on one of whose workers has not answered
    /// for 75 s, because a handler blocks it, see [`DrainError::Wedged`].
    pub async fn drain(&self) -> Result<(), DrainError> {
        self.sharding().drain(None).await
    }
}

impl Sharding {
    /// Of that type, or of all.
    pub(super) async fn drain(self: &Arc<Self>, kind: Option<&Arc<str>>) -> Result<(), DrainError> {
        let before = self.hindrances.dropped(kind.map(|kind| &**kind));
        let concerns = |shell: &dyn Shell| kind.is_none_or(|kind| *kind == shell.kind().name);
        // What waits for another host is not stuck.
        let may_go = |sight: &Sight, name: &str| may_end(sight, name);
        tokio::select! {
            biased;
            failure = self.watchdog.failed() => return Err(DrainError::Failed(failure)),
            given = self.give_all_away(concerns) => given?,
            worker = self.watchdog.is_hopeless() => return Err(DrainError::Wedged(worker)),
            stuck = self.stuck(concerns, may_go) => return Err(DrainError::Stuck(stuck)),
        }
        match self.hindrances.dropped_since(kind.map(|kind| &**kind), before) {
            None => Ok(()),
            Some(dropped) => Err(DrainError::Dropped(dropped)),
        }
    }

    async fn give_all_away(
        self: &Arc<Self>,
        concerns: impl Fn(&dyn Shell) -> bool,
    ) -> Result<(), DrainError> {
        let hosted = self.shells().into_iter().filter(|shell| shell.hosts() && concerns(&**shell));
        let ending: Vec<_> = hosted
            .map(|shell| {
                let sharding = self.clone();
                self.runtime().spawn(async move { sharding.give_away(&shell.kind().name).await })
            })
            .collect();
        for ended in ending {
            // Only if the runtime ends.
            ended.await.map_err(|_| DrainError::Failed(Failure::RuntimeGone))?;
        }
        Ok(())
    }

    /// Ends the hosting of a type here once it can live elsewhere, or nothing of it lives here.
    async fn give_away(&self, name: &Arc<str>) {
        let mut sight = self.sight.subscribe();
        if !may_end(&sight.borrow(), name) {
            tracing::info!(
                kind = &**name,
                "no other member hosts the type: its entities live on here until one does"
            );
        }
        tokio::select! {
            biased;
            () = self.errands.closed() => return,
            // It cannot fail: who would say so is here.
            _ = sight.wait_for(|sight| may_end(sight, name)) => {}
        }
        self.end_hosting(name).await;
    }

    /// Ready once nothing of what is to leave has got on for as long as its turns may last: says what is in the way. Cancel safe.
    async fn stuck(
        &self,
        concerns: impl Fn(&dyn Shell) -> bool,
        is_going: impl Fn(&Sight, &str) -> bool,
    ) -> Stuck {
        let (mut seen, mut since) = (None, Instant::now());
        loop {
            let (sight, mut left, mut pace) =
                (self.sight(), 0, Pace { turns: Duration::ZERO, ..Pace::default() });
            let mut kinds = Vec::new();
            for shell in self.shells().into_iter().filter(|shell| concerns(&**shell)) {
                let name = shell.kind().name.clone();
                let here = owned_here(&sight, &name);
                if here > 0 && is_going(&sight, &name) {
                    left += here;
                    pace.turns = pace.turns.max(shell.pace().turns);
                    pace.stall = pace.stall.max(shell.pace().stall);
                    kinds.push(name);
                }
            }
            let state = Some((left, self.hindrances.progress()));
            if seen != state {
                (seen, since) = (state, Instant::now());
            }
            let idle = since.elapsed();
            if left > 0 && idle >= pace.turns {
                let is_concerned = |kind: &str| kinds.iter().any(|name| **name == *kind);
                let mut hindrances = self.hindrances.of(is_concerned);
                let silent = self.shells().into_iter().filter(|shell| is_concerned(&shell.kind().name));
                hindrances.extend(silent.flat_map(|shell| shell.silent_workers()).map(Hindrance::Worker));
                // Its lane may be about to say who it is.
                if !hindrances.is_empty() || idle >= pace.turns + pace.stall {
                    return Stuck { shards: left, idle, hindrances };
                }
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// The same while the node leaves.
    pub(crate) async fn leave_is_stuck(&self) -> Stuck {
        self.stuck(|_| true, |sight, _| sight.drains).await
    }

    /// What has not moved off this node by then is forced to, and dropped if that does not help: the process is about to end.
    pub(crate) fn give_away_by(&self, patience: Duration) {
        let at = self.lease.clock().now() + patience;
        self.errand(Errand::Tell(Input::Bound(at)));
    }

    /// A lane dropped state that was to move away. The last member of a cluster has nobody to give it to, nor have members that all leave: that is no failure.
    pub(super) fn state_was_dropped(
        &self,
        kind: &str,
        shard: u32,
        entities: usize,
        entity: Option<&EntityId>,
    ) {
        let Sight { table, life, .. } = self.sight();
        if table.is_some_and(|table| !does_another_stay(&table, life)) {
            return tracing::warn!(
                kind,
                shard,
                entities,
                "no member stays in the cluster: the state of a shard ends with this node"
            );
        }
        let shards = usize::from(entity.is_none());
        if let Some(entity) = entity {
            tracing::error!(
                kind,
                %entity,
                shard,
                "an entity lost its state: its turn was ended by force, because its shard had to move"
            );
        } else {
            tracing::error!(
                kind,
                shard,
                entities,
                "a shard was dropped with the state of its entities: it had not moved away in time, or no other member hosts the type"
            );
        }
        self.hindrances.note_dropped(kind, DroppedState { shards, entities });
        self.chronicle().lose_unmoved(shards, entities);
    }
}

/// Whether a member other than that one does not leave.
fn does_another_stay(table: &Table, me: Uid) -> bool {
    table.members().iter().any(|(uid, member)| *uid != me && member.state == State::Active)
}

/// How many shards of that type this node owns.
fn owned_here(sight: &Sight, name: &str) -> usize {
    let kind = sight.table.as_ref().and_then(|table| table.kind_named(name));
    kind.map_or(0, |(_, kind)| kind.shards().values().filter(|entry| entry.owner == sight.life).count())
}

/// Whether nothing is lost if that type ends here.
fn may_end(sight: &Sight, name: &str) -> bool {
    let Some(table) = &sight.table else { return true };
    let Some((id, _)) = table.kind_named(name) else { return true };
    owned_here(sight, name) == 0 || has_other_host(table, sight, id)
}

fn has_other_host(table: &Table, sight: &Sight, id: KindId) -> bool {
    let stays = |uid| table.member(uid).is_some_and(|member| member.state == State::Active);
    table.kind(id).is_some_and(|kind| kind.hosts().iter().any(|uid| *uid != sight.life && stays(*uid)))
}
