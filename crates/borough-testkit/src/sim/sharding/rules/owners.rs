//! Shards are given, and move, only to members that host their type and stay; owners are members, or were removed and left orphans.

use std::collections::BTreeMap;

use borough_protocol::sharding::{Entry, KindId, ShardId};
use borough_protocol::table::{KindTable, State, Table};

use crate::sim::moment::Moment;
use crate::sim::violation::Violation;

#[derive(Debug, Default)]
pub(super) struct Owners {
    /// The newest table of each founding.
    newest: BTreeMap<u64, Table>,
    changed: Moment,
}

impl Owners {
    pub(super) fn see(&mut self, now: Moment, table: &Table) -> Result<(), Violation> {
        let before = self.newest.entry(table.cluster().tag()).or_insert_with(|| Table::new(table.cluster()));
        if table.version() <= before.version() {
            return Ok(());
        }
        for (place, kind) in (0..).zip(table.kinds()) {
            for (number, entry) in kind.shards() {
                let shard = ShardId { kind: KindId(place), number: *number };
                look(shard, entry, kind, before, table)?;
            }
        }
        if before.kinds() != table.kinds() {
            self.changed = now;
        }
        *before = table.clone();
        Ok(())
    }
}

impl Owners {
    /// When anything of shards changed last.
    pub(super) fn changed(&self) -> Moment {
        self.changed
    }
}

fn look(
    shard: ShardId,
    entry: &Entry,
    kind: &KindTable,
    before: &Table,
    table: &Table,
) -> Result<(), Violation> {
    let old = before.shard(shard);
    let known = |uid| before.member(uid).is_some() || table.member(uid).is_some() || table.is_removed(uid);
    let is_old = |uid| old.is_some_and(|old| old.owner == uid || old.moving.is_some_and(|(to, _)| to == uid));
    let given = [Some(entry.owner), entry.moving.map(|(to, _)| to)].into_iter().flatten();
    for uid in given.filter(|uid| !is_old(*uid)) {
        let left_before = before.member(uid).is_some_and(|member| member.state == State::Draining);
        let hosts = kind.hosts().contains(&uid)
            || before.kind(shard.kind).is_some_and(|kind| kind.hosts().contains(&uid))
            || table.member(uid).is_none();
        if left_before || !hosts || !known(uid) {
            let text = format!("{shard:?} was given to {uid:?}, which leaves, or does not host it");
            return Err(Violation::Safety("owners", text));
        }
    }
    Ok(())
}
