//! The region: what one node does for the shards it hosts, and which way it sends to those of others.
//!
//! Nobody commands it. It follows the committed [table](crate::table), late and perhaps skipping versions, on two sides that know
//! nothing of each other: as a host (`residence`) it gives orders to the lanes in which shards live, and as a sender (`way`) it opens and
//! closes the ways to them. Messages do not pass through it: it publishes ways, and lanes place what arrives by their
//! [stance](crate::sharding::stance).
//!
//! What it wants of the coordinator it says in one [report](ShardReport), which is repeated until the table shows it.
//!
//! ```text
//! staying --Drain--> moving away --nothing owned, living or coming here--> asking all others --all clear--> Drained
//!                     |  |--no other host: Drop--|                           |
//!                     |  |<-------- something lives here after all ----------|
//!                     +--the bound, if there is one--> forcing --10 s without a shard that goes: Drop the rest--> asking
//! ```
//! A node that leaves asks the others whether they still send through it ([`Word::Leaving`]): what they sent by an old way stands in
//! front of the barrier that each of them awaits, so once all are clear nothing can come any more, and nothing is lost.

mod broken;
mod departure;
mod ending;
mod interface;
mod late;
mod residence;
#[cfg(test)]
mod tests;
mod way;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use self::broken::BROKEN_MAX;
use self::departure::Departure;
pub use self::interface::{Dropped, Effect, Event, Input, Pace, Patience, Word};
use self::residence::{Host, Remembered, Residence};
use self::way::{Scene, Way};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::machine::{Effects, Machine};
use crate::sharding::{Entry, Epoch, Kind, KindId, ShardId, ShardReport};
use crate::table::Table;
use crate::time::Timestamp;
use crate::version::Version;

/// Everything of sharding that one life of a node must know and decide.
#[derive(Clone, Debug)]
pub struct Region {
    host: Host,
    patience: Patience,
    table: Arc<Table>,
    /// The types started here, by name.
    kinds: BTreeMap<Arc<str>, Started>,
    residences: BTreeMap<ShardId, Residence>,
    /// Those of them that are on their way to another, and maybe some that were.
    going: BTreeSet<ShardId>,
    ways: BTreeMap<ShardId, Way>,
    /// The ways that await a barrier's answer, by its number.
    awaiting: BTreeMap<u64, ShardId>,
    nonce: u64,
    wanted: BTreeSet<ShardId>,
    places: BTreeMap<ShardId, (Uid, Timestamp)>,
    /// What ends by time.
    remembered: BTreeSet<(Timestamp, ShardId, Remembered)>,
    /// Barriers of others that could not be passed on, and the hop whose removal this table does not show yet.
    broken: BTreeMap<(Uid, u64), Uid>,
    departure: Departure,
    /// When what has not moved away is forced, at the latest.
    bound: Timestamp,
    /// Those that leave and want to know when nothing of this node is under way through them, and the ways that must change first.
    leaving: BTreeMap<Uid, (Version, BTreeSet<ShardId>)>,
    report: ShardReport,
}

/// A type started here.
#[derive(Clone, Debug)]
struct Started {
    kind: Arc<Kind>,
    hosts: bool,
    pace: Pace,
    /// Set once it is to end here: since when.
    ended: Option<Timestamp>,
    /// Whether what does not move is forced, because it ends here.
    is_forced: bool,
}

impl Region {
    /// Of the node `me`, which knows that table and has started no type yet.
    pub fn new(me: Uid, table: Arc<Table>, patience: Patience, flaws: Flaws) -> Self {
        Self {
            host: Host { me, flaws, now: Timestamp::ZERO },
            patience,
            table,
            kinds: BTreeMap::new(),
            residences: BTreeMap::new(),
            going: BTreeSet::new(),
            ways: BTreeMap::new(),
            awaiting: BTreeMap::new(),
            nonce: 0,
            wanted: BTreeSet::new(),
            places: BTreeMap::new(),
            remembered: BTreeSet::new(),
            broken: BTreeMap::new(),
            departure: Departure::Staying,
            bound: Timestamp::NEVER,
            leaving: BTreeMap::new(),
            report: ShardReport::default(),
        }
    }

    /// The table it follows.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Whether the type of that id is started here.
    pub fn knows(&self, kind: KindId) -> bool {
        self.kinds.values().any(|started| self.id_of(started) == Some(kind))
    }

    /// How many ways are closed and hold what is sent, for whatever reason.
    pub fn closed_ways(&self) -> usize {
        self.ways.values().filter(|way| way.is_old()).count()
    }

    /// How many records of shards that went from here are kept.
    pub fn records(&self) -> usize {
        self.residences.values().map(Residence::records).sum()
    }

    /// Whether anything lives here, or was taken in.
    pub fn is_inhabited(&self) -> bool {
        self.residences.values().any(Residence::is_inhabited)
    }

    fn is_member(&self, uid: Uid) -> bool {
        self.table.member(uid).is_some()
    }

    /// The id of a type started here, if the table shows the same type.
    fn id_of(&self, started: &Started) -> Option<KindId> {
        let (id, shown) = self.table.kind_named(&started.kind.name)?;
        (*shown.kind() == started.kind).then_some(id)
    }

    /// Follows a newer table.
    fn follow(&mut self, now: Timestamp, table: Arc<Table>, effects: &mut Effects<Effect>) {
        if table.version() <= self.table.version() {
            return;
        }
        let before = core::mem::replace(&mut self.table, table);
        let members_changed = !before.members().keys().eq(self.table.members().keys());
        for id in self.started_ids() {
            let (old, new) = (before.kinds().get(usize::from(id.0)), &self.table.kinds()[usize::from(id.0)]);
            if !members_changed && old.is_some_and(|old| Arc::ptr_eq(old, new)) {
                continue;
            }
            let all = members_changed || old.is_none_or(|old| old.hosts() != new.hosts());
            self.follow_kind(now, id, Some(&before), all, effects);
        }
        if members_changed {
            let table = self.table.clone();
            for residence in self.residences.values_mut() {
                residence.forget_lost(|uid| table.member(uid).is_some(), effects);
            }
            self.answer_broken(effects);
        }
        self.leaving.retain(|uid, _| table_has(&self.table, *uid));
        self.vacate_if_over(effects);
    }

    fn started_ids(&self) -> Vec<KindId> {
        self.kinds.values().filter_map(|started| self.id_of(started)).collect()
    }

    /// Follows what the table says of the shards of that type: of `all`, or of those of which it says something else than before.
    fn follow_kind(
        &mut self,
        now: Timestamp,
        id: KindId,
        before: Option<&Table>,
        all: bool,
        effects: &mut Effects<Effect>,
    ) {
        let table = self.table.clone();
        let Some(kind) = table.kind(id) else { return };
        let before = before.and_then(|before| before.kind(id));
        for (number, entry) in kind.shards() {
            let shard = ShardId { kind: id, number: *number };
            let old = before.and_then(|before| before.shards().get(number));
            // A barrier may wait for the version of the table alone.
            if !all && old == Some(entry) && !self.ways.get(&shard).is_some_and(Way::is_old) {
                continue;
            }
            tell(shard, old, entry, effects);
            self.follow_as_host(now, shard, entry, effects);
            self.follow_as_sender(now, shard, entry, effects);
        }
    }

    fn follow_as_host(
        &mut self,
        now: Timestamp,
        shard: ShardId,
        entry: &Entry,
        effects: &mut Effects<Effect>,
    ) {
        let Host { me, .. } = self.host;
        if !self.is_member(me) || self.table.is_closing() {
            return;
        }
        let mine = entry.owner == me || entry.moving.is_some_and(|(to, _)| to == me);
        if !mine && !self.residences.contains_key(&shard) {
            return;
        }
        let residence = self.residences.entry(shard).or_insert_with(|| Residence::new(shard));
        let mut remembered = Vec::new();
        residence.follow(entry, self.host, &mut remembered, effects);
        if residence.is_moving() {
            self.going.insert(shard);
        }
        self.remember(now, shard, remembered);
    }

    fn remember(&mut self, now: Timestamp, shard: ShardId, remembered: Vec<Remembered>) {
        let early = self.host.flaws.has(Flaw::RecordForgottenEarly);
        for what in remembered {
            let lasts = match what {
                // Less long than the record of the one it came from: a barrier that goes back there must find it.
                Remembered::Whence(_) => self.patience.records / 2,
                Remembered::Whither(_) if early => Duration::ZERO,
                Remembered::Whither(_) => self.patience.records,
            };
            self.remembered.insert((now + lasts, shard, what));
        }
    }

    fn follow_as_sender(
        &mut self,
        now: Timestamp,
        shard: ShardId,
        entry: &Entry,
        effects: &mut Effects<Effect>,
    ) {
        self.with_way(now, shard, entry, effects, Way::follow);
        if !self.ways.contains_key(&shard) {
            let scene = scene(now, &self.table, self.patience, self.host.flaws, &mut self.nonce);
            if let Some(way) = Way::find(shard, entry, &scene, effects) {
                self.ways.insert(shard, way);
            }
        }
        self.wanted.remove(&shard);
    }

    /// Does something to a way, and notes which barrier it awaits then.
    fn with_way(
        &mut self,
        now: Timestamp,
        shard: ShardId,
        entry: &Entry,
        effects: &mut Effects<Effect>,
        act: impl FnOnce(&mut Way, &Entry, &mut Scene<'_>, &mut Effects<Effect>),
    ) {
        let Some(way) = self.ways.get_mut(&shard) else { return };
        let before = way.nonce();
        let mut scene = scene(now, &self.table, self.patience, self.host.flaws, &mut self.nonce);
        act(way, entry, &mut scene, effects);
        let after = way.nonce();
        let is_old = way.is_old();
        if before != after {
            if let Some(nonce) = before {
                self.awaiting.remove(&nonce);
            }
            if let Some(nonce) = after {
                self.awaiting.insert(nonce, shard);
            }
        }
        if !is_old {
            self.note_opened(shard, effects);
        }
    }

    fn hear(&mut self, now: Timestamp, from: Uid, word: Word, effects: &mut Effects<Effect>) {
        match word {
            Word::BarrierDone { nonce } => self.hear_of(now, nonce, effects, |way, entry, scene, effects| {
                way.done(nonce, entry, scene, effects);
            }),
            Word::ChainBroken { nonce, version } => {
                self.hear_of(now, nonce, effects, |way, entry, scene, effects| {
                    way.broken(nonce, version, entry, scene, effects);
                });
            }
            Word::Leaving { version } => self.hear_leaving(from, version, effects),
            Word::Clear { version } => self.hear_clear(now, from, version, effects),
            Word::Taken { shard, epoch, .. } => {
                if let Some(home) = self.residences.get_mut(&shard)
                    && home.note_taken(from, epoch, now)
                {
                    self.note_progress(now);
                }
            }
        }
    }

    fn hear_of(
        &mut self,
        now: Timestamp,
        nonce: u64,
        effects: &mut Effects<Effect>,
        act: impl FnOnce(&mut Way, &Entry, &mut Scene<'_>, &mut Effects<Effect>),
    ) {
        if let Some(shard) = self.awaiting.get(&nonce).copied()
            && let Some(entry) = self.table.shard(shard).copied()
        {
            self.with_way(now, shard, &entry, effects, act);
        }
    }

    fn closed(&mut self, now: Timestamp, shard: ShardId, used: bool, effects: &mut Effects<Effect>) {
        if let Some(entry) = self.table.shard(shard).copied() {
            self.with_way(now, shard, &entry, effects, |way, entry, scene, effects| {
                way.closed(used, entry, scene, effects);
            });
        }
    }

    fn start(
        &mut self,
        now: Timestamp,
        kind: &Arc<Kind>,
        (hosts, pace): (bool, Pace),
        effects: &mut Effects<Effect>,
    ) {
        let started = Started { kind: kind.clone(), hosts, pace, ended: None, is_forced: false };
        self.kinds.insert(kind.name.clone(), started);
        if let Some(id) = self.table.kind_named(&kind.name).map(|(id, _)| id)
            && self.started_ids().contains(&id)
        {
            self.follow_kind(now, id, Some(&self.table.clone()), true, effects);
        }
    }

    fn at_residence(
        &mut self,
        now: Timestamp,
        shard: ShardId,
        effects: &mut Effects<Effect>,
        act: impl FnOnce(&mut Residence, Option<&Entry>, Host, &mut Vec<Remembered>, &mut Effects<Effect>),
    ) {
        let table = self.table.clone();
        let residence = self.residences.entry(shard).or_insert_with(|| Residence::new(shard));
        let mut remembered = Vec::new();
        act(residence, table.shard(shard), self.host, &mut remembered, effects);
        if residence.is_moving() {
            self.going.insert(shard);
        }
        self.remember(now, shard, remembered);
    }

    /// A store refused the shard: the coordinator is asked for an epoch above the one that it has seen, unless that is an error.
    fn note_refused(
        &mut self,
        now: Timestamp,
        shard: ShardId,
        (epoch, seen): (Epoch, Epoch),
        effects: &mut Effects<Effect>,
    ) {
        let is_far_ahead = self.table.epoch_above(shard, seen).is_none();
        self.at_residence(now, shard, effects, |home, _, _, _, effects| {
            if home.refuse(now, epoch, seen, is_far_ahead) {
                effects.push(Effect::Publish(Event::Refused { shard, epoch, seen, is_far_ahead }));
            }
        });
    }

    /// What ends by time, and what is said again.
    fn pass_time(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        while let Some((until, shard, what)) = self.remembered.first().copied()
            && until <= now
        {
            self.remembered.pop_first();
            if let Some(residence) = self.residences.get_mut(&shard) {
                residence.forget(what, effects);
            }
        }
        self.places.retain(|_, (_, until)| *until > now);
        let due: Vec<ShardId> = self
            .awaiting
            .values()
            .filter(|shard| self.ways.get(shard).is_some_and(|way| way.again() <= now))
            .copied()
            .collect();
        for shard in due {
            if let Some(entry) = self.table.shard(shard).copied() {
                self.with_way(now, shard, &entry, effects, |way, entry, scene, effects| {
                    way.repeat(entry, scene, effects);
                });
            }
        }
        self.call_late_ones_off(now);
        self.end_kinds(now, effects);
        self.depart(now, effects);
    }

    /// Says what the coordinator is to know, if that has changed.
    fn report(&mut self, effects: &mut Effects<Effect>) {
        let me = self.host.me;
        let (table, mut report) =
            (self.table.clone(), ShardReport { seq: self.report.seq, ..ShardReport::default() });
        let open = |to: Uid, shard: ShardId| {
            let hosted = table.kind(shard.kind).is_some_and(|kind| kind.hosts().contains(&to));
            hosted && table.shard(shard).is_none_or(|entry| entry.owner != to)
        };
        self.places.retain(|shard, (to, _)| open(*to, *shard));
        if self.is_member(me) {
            report.is_forcing = self.is_forcing();
            for started in self.kinds.values() {
                let shown = self.table.kind_named(&started.kind.name);
                let is_host = shown.is_some_and(|(_, shown)| shown.hosts().contains(&me));
                let dropped =
                    shown.filter(|_| is_host).map(|(id, _)| self.dropped_of(id)).unwrap_or_default();
                // What was dropped begins anew only after this node was taken for no host: also if it wants to be one again.
                let has_ended = started.ended.is_some() || !dropped.is_empty();
                // One that leaves becomes no host again: what it has dropped would begin anew there.
                let wants_to_host = started.hosts && self.departure == Departure::Staying;
                match shown {
                    None if started.ended.is_none() => {
                        report.kinds.push((started.kind.clone(), started.hosts));
                    }
                    Some((_, shown)) if wants_to_host && !is_host && *shown.kind() == started.kind => {
                        report.kinds.push((started.kind.clone(), true));
                    }
                    Some((id, _)) if has_ended && is_host => {
                        report.ended.push(id);
                        report.dropped.extend(dropped);
                    }
                    None | Some(_) => {}
                }
            }
            report.wanted.extend(&self.wanted);
            for (shard, residence) in &self.residences {
                report.frozen.extend(residence.frozen().map(|epoch| (*shard, epoch)));
                report.installed.extend(residence.installed().map(|epoch| (*shard, epoch)));
                report.impossible.extend(residence.impossible().map(|epoch| (*shard, epoch)));
                report.refused.extend(residence.refused().map(|(at, seen)| (*shard, at, seen)));
            }
            report.places.extend(self.places.iter().map(|(shard, (to, _))| (*shard, *to)));
        }
        if report != self.report {
            report.seq += 1;
            self.report = report.clone();
            effects.push(Effect::Report(report));
        }
    }
}

/// Publishes what changed.
fn tell(shard: ShardId, before: Option<&Entry>, entry: &Entry, effects: &mut Effects<Effect>) {
    if before == Some(entry) {
        return;
    }
    let Entry { owner, epoch, lineage, .. } = *entry;
    let old_epoch = before.map(|before| before.epoch);
    let old_move = before.and_then(|before| before.moving);
    if old_epoch != Some(epoch) {
        let event = if lineage == epoch {
            Event::Allocated { shard, owner, epoch }
        } else if before.is_some_and(|before| (before.owner, before.lineage) == (owner, lineage)) {
            Event::Raised { shard, owner, epoch }
        } else {
            Event::Moved { shard, owner, epoch }
        };
        effects.push(Effect::Publish(event));
    } else if let Some((_, burnt)) = old_move
        && old_move != entry.moving
    {
        effects.push(Effect::Publish(Event::CalledOff { shard, epoch: burnt }));
    }
    if let Some((to, next)) = entry.moving
        && old_move != entry.moving
    {
        effects.push(Effect::Publish(Event::Moving { shard, from: owner, to, epoch: next }));
    }
}

fn table_has(table: &Table, uid: Uid) -> bool {
    table.member(uid).is_some()
}

fn scene<'a>(
    now: Timestamp,
    table: &'a Table,
    patience: Patience,
    flaws: Flaws,
    nonce: &'a mut u64,
) -> Scene<'a> {
    Scene { now, table, patience: patience.again, flaws, nonce }
}

impl Machine for Region {
    type Input = Input;
    type Effect = Effect;

    fn handle(&mut self, now: Timestamp, input: Input, effects: &mut Effects<Effect>) {
        self.host.now = now;
        self.take(now, input, effects);
        self.pass_time(now, effects);
        self.report(effects);
    }

    fn next_deadline(&self) -> Timestamp {
        let barriers = self.awaiting.values().filter_map(|shard| self.ways.get(shard)).map(Way::again);
        let record = self.remembered.first().map(|(until, ..)| *until);
        let places = self.places.values().map(|(_, until)| *until);
        let kinds = self.next_end();
        let going = self.going.iter().map(|shard| self.late_at(*shard));
        let ends = barriers.chain(record).chain(places).chain(kinds).chain(going);
        ends.fold(self.departure.next_deadline(self.bound), Timestamp::min)
    }

    fn assert_invariants(&self, _: Timestamp) {
        for residence in self.residences.values() {
            residence.assert_invariants();
        }
        for (shard, way) in &self.ways {
            way.assert_invariants(self.nonce);
            let noted = way.nonce().is_none_or(|nonce| self.awaiting.get(&nonce) == Some(shard));
            assert!(noted, "nobody knows which way awaits the barrier of {shard:?}");
        }
        for (nonce, shard) in &self.awaiting {
            let awaits = self.ways.get(shard).is_some_and(|way| way.nonce() == Some(*nonce));
            assert!(awaits, "nobody awaits the barrier {nonce} of {shard:?}");
        }
        assert!(self.broken.len() <= BROKEN_MAX, "too many broken barriers are kept");
        for (until, pending) in self.leaving.values() {
            assert!(!pending.is_empty(), "one that leaves was not told that all is clear since {until:?}");
        }
    }
}

impl Region {
    fn take(&mut self, now: Timestamp, input: Input, effects: &mut Effects<Effect>) {
        match input {
            Input::Table(table) => self.follow(now, table, effects),
            Input::Start { kind, hosts, pace } => self.start(now, &kind, (hosts, pace), effects),
            Input::End { kind } => {
                if let Some(started) = self.kinds.get_mut(&kind) {
                    (started.hosts, started.ended) = (false, started.ended.or(Some(now)));
                }
            }
            Input::Want(shard) => {
                if self.table.shard(shard).is_none() {
                    self.wanted.insert(shard);
                }
            }
            Input::Closed { shard, used } => self.closed(now, shard, used, effects),
            Input::PutOff { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, _, _, _, _| home.put_off(epoch));
            }
            Input::Freezing { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, _, host, _, _| home.freezing(epoch, host));
            }
            Input::Froze { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, _, host, kept, effects| {
                    home.froze(epoch, host, kept, effects);
                });
            }
            Input::Impossible { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, entry, _, _, _| home.fail(epoch, entry));
            }
            Input::Installed { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, entry, host, kept, effects| {
                    home.install(epoch, entry, host, kept, effects);
                });
            }
            Input::Dropped { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, _, _, _, _| home.note_dropped(epoch));
            }
            Input::Refused { shard, epoch, seen } => self.note_refused(now, shard, (epoch, seen), effects),
            Input::Fenced { shard, epoch } => {
                self.at_residence(now, shard, effects, |home, _, _, _, _| home.accept(epoch));
            }
            Input::Word { from, word } => self.hear(now, from, word, effects),
            Input::Broken { origin, nonce, hop } => self.note_broken(origin, nonce, hop, effects),
            Input::Place { shard, to } => {
                self.places.insert(shard, (to, now + self.patience.places));
            }
            Input::Drain => self.begin_to_leave(now),
            Input::Bound(at) => self.bound = self.bound.min(at),
            Input::Many(inputs) => inputs.into_iter().for_each(|input| self.take(now, input, effects)),
            Input::Deadline => {}
        }
    }
}
