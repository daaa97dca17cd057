//! How a node that stays gives away what lives on it.

use std::sync::Arc;

use borough_protocol::sharding::KindId;
use borough_protocol::table::{State, Table};

use super::Sharding;
use super::desk::Sight;
use crate::node::{DrainError, Node};
use crate::topology::Failure;

impl Node {
    /// Gives away all that lives on this node, and hosts nothing any more; ready once nothing is here.
    ///
    /// It does for each type started here what [`Region::shutdown`](super::Region::shutdown) does for one, as soon as another node hosts the type: until then its
    /// entities live on here. Shards move in order, with what is queued. The node stays a member and a proxy, also if it comes back under a new uid; a type that is
    /// started here later is hosted. On a node that is in no cluster yet it is ready at once, and holds for when there is one. Cancel safe: once begun it goes on.
    ///
    /// Drain the hosts of a type one after the other: of those that drain at once none takes what another gives away, and what has not moved within a
    /// minute is dropped.
    ///
    /// Fails on a node that gave up its lease because it cannot work, see [`Standing::Failed`](crate::Standing::Failed); and on one of whose workers has not answered
    /// for 75 s, because a handler blocks it, see [`DrainError::Wedged`].
    pub async fn drain(&self) -> Result<(), DrainError> {
        self.sharding().drain().await
    }
}

impl Sharding {
    async fn drain(self: &Arc<Self>) -> Result<(), DrainError> {
        tokio::select! {
            biased;
            failure = self.watchdog.failed() => Err(DrainError::Failed(failure)),
            given = self.give_all_away() => given,
            () = self.watchdog.is_hopeless() => Err(DrainError::Wedged),
        }
    }

    async fn give_all_away(self: &Arc<Self>) -> Result<(), DrainError> {
        let hosted = self.shells().into_iter().filter(|shell| shell.hosts());
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
        tokio::select! {
            biased;
            () = self.errands.closed() => return,
            // It cannot fail: who would say so is here.
            _ = sight.wait_for(|sight| may_end(sight, name)) => {}
        }
        self.end_hosting(name).await;
    }
}

/// Whether nothing is lost if that type ends here.
fn may_end(sight: &Sight, name: &str) -> bool {
    let Some(table) = &sight.table else { return true };
    let Some((id, kind)) = table.kind_named(name) else { return true };
    let lives_here = kind.shards().values().any(|entry| entry.owner == sight.life);
    !lives_here || has_other_host(table, sight, id)
}

fn has_other_host(table: &Table, sight: &Sight, id: KindId) -> bool {
    let stays = |uid| table.member(uid).is_some_and(|member| member.state == State::Active);
    table.kind(id).is_some_and(|kind| kind.hosts().iter().any(|uid| *uid != sight.life && stays(*uid)))
}
