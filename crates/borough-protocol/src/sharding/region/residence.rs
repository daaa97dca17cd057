//! The host's side of one shard: what lives here, what is on its way here, and where it went.
//!
//! ```text
//! Empty --I own e = lineage: Start--> Running <--moving none: Resume-- Frozen
//!   ^ ^                                  |--moving to N: Freeze--> Freezing --Froze--^ |
//!   | +--lineage > e, not admitted: Drop-+---------------------------------------------|
//!   +--epoch > e, lineage <= e: Release, and a record ---------------------------------+
//! Empty, and installed at f --I own f: Run--> Running
//! any but Empty --I own g > e, lineage <= e, not installed at g: Raise--> the same, at g
//! ```
//! Beside that, something may be installed, and records may be kept, in any state: a shard that comes back is installed while its
//! old home here is still frozen by an older table.

use alloc::vec::Vec;
use core::time::Duration;

use super::interface::{Dropped, Effect, Event, Pace};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::machine::Effects;
use crate::sharding::{Entry, Epoch, ShardId};
use crate::time::Timestamp;

/// A refusal that lasts is published again after this long.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// What one node has of one shard.
#[derive(Clone, Debug)]
pub(super) struct Residence {
    shard: ShardId,
    home: Home,
    /// A whole transfer that was taken in, by the epoch of its move.
    installed: Option<Epoch>,
    /// The table said that it moves here; something may be half taken in.
    expected: Option<Epoch>,
    /// The move that cannot be.
    impossible: Option<Epoch>,
    /// When the move away from here last made progress; never late, if that is `NEVER`.
    progress: Timestamp,
    /// The newest epoch at which it was ever owned here: none that is not above it runs here again.
    newest: Epoch,
    /// The newest epoch that the lane was told of. Below `newest` if the epoch was raised after all of the shard was dropped here.
    ran: Epoch,
    /// The highest epoch that the store has seen, if it refused the one that the shard lives at.
    refused: Option<Epoch>,
    /// What was published of a refusal, and when it is published again.
    told: Option<(Epoch, Timestamp)>,
    /// The newest epoch that the lane said to be over, because it dropped what lived here.
    dropped: Epoch,
    /// The epochs at which it went from here, and to whom, of which records are kept.
    records: Vec<(Epoch, Uid)>,
    /// The epochs at which it came here from another, as long as it is remembered from whom, and as which the lane knows them now.
    origins: Vec<(Epoch, Epoch)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Empty,
    Running { epoch: Epoch },
    Freezing { epoch: Epoch, to: Uid, next: Epoch },
    Frozen { epoch: Epoch, to: Uid, next: Epoch },
}

impl Home {
    /// The epoch it lives at.
    fn epoch_mut(&mut self) -> Option<&mut Epoch> {
        match self {
            Self::Empty => None,
            Self::Running { epoch } | Self::Freezing { epoch, .. } | Self::Frozen { epoch, .. } => {
                Some(epoch)
            }
        }
    }
}

/// Something of a shard that ends by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remembered {
    /// From whom it came at that epoch.
    Whence(Epoch),
    /// To whom it went at that epoch.
    Whither(Epoch),
}

/// What a residence needs to know of the node around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    pub(super) me: Uid,
    pub(super) flaws: Flaws,
    pub(super) now: Timestamp,
}

impl Residence {
    pub(super) fn new(shard: ShardId) -> Self {
        Self {
            shard,
            home: Home::Empty,
            installed: None,
            expected: None,
            impossible: None,
            progress: Timestamp::NEVER,
            newest: Epoch::ZERO,
            ran: Epoch::ZERO,
            refused: None,
            told: None,
            dropped: Epoch::ZERO,
            records: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Whether anything lives here or has been taken in.
    pub(super) fn is_inhabited(&self) -> bool {
        self.home != Home::Empty || self.installed.is_some()
    }

    /// Whether it ran here at that epoch and is gone.
    pub(super) fn is_over(&self, epoch: Epoch) -> bool {
        self.home == Home::Empty && self.newest >= epoch
    }

    /// Whether it lives here and does not move away.
    pub(super) fn lives(&self) -> bool {
        self.home != Home::Empty && !self.is_moving()
    }

    /// Whether it ran here at that epoch, and the lane has nothing of it any more.
    pub(super) fn is_dropped(&self, epoch: Epoch) -> bool {
        self.is_over(epoch) && self.dropped >= epoch.min(self.ran)
    }

    /// The lane has dropped what lived here at that epoch.
    pub(super) fn note_dropped(&mut self, epoch: Epoch) {
        self.dropped = self.dropped.max(epoch);
    }

    /// Whether it is, or will soon be, on its way to another.
    pub(super) fn is_moving(&self) -> bool {
        matches!(self.home, Home::Freezing { .. } | Home::Frozen { .. })
    }

    /// Follows what the table says of the shard. What began to be remembered is added to `remembered`.
    pub(super) fn follow(
        &mut self,
        entry: &Entry,
        host: Host,
        remembered: &mut Vec<Remembered>,
        effects: &mut Effects<Effect>,
    ) {
        self.rise(entry, host, effects);
        self.leave_or_stay(entry, host, remembered, effects);
        self.discard(entry, host, effects);
        self.move_in(entry, host, remembered, effects);
        if let Some((_, next)) = entry.moving.filter(|(to, _)| *to == host.me) {
            self.expected = Some(next);
        }
        let may_be =
            |epoch: &Epoch| *epoch > entry.issued || entry.moving.is_some_and(|(_, next)| next == *epoch);
        self.impossible = self.impossible.filter(may_be);
    }

    /// Goes on at a higher epoch if this node still has the shard by one. What moved away and came back was taken in at its new epoch; everything else
    /// of the same lineage never left.
    fn rise(&mut self, entry: &Entry, host: Host, effects: &mut Effects<Effect>) {
        let (shard, next) = (self.shard, entry.epoch);
        let is_raised = entry.owner == host.me && next > self.newest && entry.lineage <= self.newest;
        if !is_raised || self.installed == Some(next) {
            return;
        }
        let before = core::mem::replace(&mut self.newest, next);
        if let Some(epoch) = self.home.epoch_mut() {
            *epoch = next;
            self.ran = next;
            self.forgive();
            for (_, lives) in self.origins.iter_mut().filter(|(_, lives)| *lives == before) {
                *lives = next;
            }
            effects.push(Effect::Raise { shard, epoch: before, next });
        }
    }

    /// What the table says of the one that lives here.
    fn leave_or_stay(
        &mut self,
        entry: &Entry,
        host: Host,
        remembered: &mut Vec<Remembered>,
        effects: &mut Effects<Effect>,
    ) {
        let shard = self.shard;
        let (epoch, way) = match self.home {
            Home::Empty => return,
            Home::Running { epoch } => (epoch, None),
            Home::Freezing { epoch, to, next } | Home::Frozen { epoch, to, next } => {
                (epoch, Some((to, next)))
            }
        };
        if entry.owner == host.me && entry.epoch == epoch {
            match (way, entry.moving) {
                (Some(_), None) => {
                    effects.push(Effect::Resume { shard, epoch });
                    self.home = Home::Running { epoch };
                }
                (None, Some((to, next))) => {
                    effects.push(Effect::Freeze { shard, epoch, to, next });
                    self.home = Home::Freezing { epoch, to, next };
                    self.progress = host.now;
                }
                (Some((_, before)), Some((to, next))) if before != next => {
                    effects.push(Effect::Transfer { shard, epoch, to, next });
                    self.home = Home::Freezing { epoch, to, next };
                    self.progress = host.now;
                }
                (None, None) | (Some(_), Some(_)) => {}
            }
        } else if entry.lineage > epoch {
            self.drop_home(Dropped::BeganAnew, effects);
        } else if entry.epoch > epoch {
            // Froze may still be on its way here from the lane: but what another owns now was sent to it.
            match way {
                Some((to, next)) => {
                    effects.push(Effect::Release { shard, epoch, to, next });
                    self.home = Home::Empty;
                    self.forgive();
                    self.records.push((epoch, to));
                    remembered.push(Remembered::Whither(epoch));
                }
                None => self.drop_home(Dropped::Overtaken, effects),
            }
        }
    }

    /// Drops what was taken in for a move that does not take place.
    fn discard(&mut self, entry: &Entry, host: Host, effects: &mut Effects<Effect>) {
        let over = |epoch: Epoch| {
            let comes = entry.moving == Some((host.me, epoch));
            let mine = entry.owner == host.me && entry.epoch == epoch;
            entry.issued >= epoch && !comes && !mine
        };
        let shard = self.shard;
        let stale = [self.installed, self.expected].into_iter().flatten().filter(|epoch| over(*epoch)).max();
        if let Some(epoch) = stale {
            if host.flaws.has(Flaw::InstallKeptAfterCallOff) {
                return;
            }
            effects.push(Effect::Discard { shard, epoch });
            self.installed = self.installed.filter(|at| !over(*at));
            self.expected = self.expected.filter(|at| !over(*at));
        }
    }

    /// What the table says to the one that has nothing.
    fn move_in(
        &mut self,
        entry: &Entry,
        host: Host,
        remembered: &mut Vec<Remembered>,
        effects: &mut Effects<Effect>,
    ) {
        let Entry { owner, epoch, lineage, moving, .. } = *entry;
        let shard = self.shard;
        if self.home != Home::Empty || owner != host.me || epoch <= self.newest {
            return;
        }
        let revived = host.flaws.has(Flaw::InstallKeptAfterCallOff) && self.installed.is_some();
        let moved = self.installed == Some(epoch) || revived;
        if moved {
            effects.push(Effect::Run { shard, epoch });
            self.origins.push((epoch, epoch));
            remembered.push(Remembered::Whence(epoch));
        } else if lineage == epoch {
            effects.push(Effect::Start { shard, epoch });
        } else {
            // It was dropped here, or another life of this region had it: the table will say who begins anew.
            return;
        }
        self.installed = None;
        self.expected = None;
        (self.newest, self.ran) = (epoch, epoch);
        self.home = Home::Running { epoch };
        effects.push(Effect::Publish(Event::Hosted { shard, epoch, moved }));
        if let Some((to, next)) = moving {
            effects.push(Effect::Freeze { shard, epoch, to, next });
            self.home = Home::Freezing { epoch, to, next };
            self.progress = host.now;
        }
    }

    /// The lane waits with that move: it is not late, however long that takes.
    pub(super) fn put_off(&mut self, at: Epoch) {
        if matches!(self.home, Home::Freezing { next, .. } if next == at) {
            self.progress = Timestamp::NEVER;
        }
    }

    /// The lane begins with that move.
    pub(super) fn freezing(&mut self, at: Epoch, host: Host) {
        if matches!(self.home, Home::Freezing { next, .. } if next == at) {
            self.progress = host.now;
        }
    }

    /// The node that it moves to has taken more of it in. Whether it was that node that said so.
    pub(super) fn note_taken(&mut self, from: Uid, at: Epoch, now: Timestamp) -> bool {
        let (Home::Freezing { to, next, .. } | Home::Frozen { to, next, .. }) = self.home else {
            return false;
        };
        let is_news = (to, next) == (from, at) && self.progress != Timestamp::NEVER;
        if is_news {
            self.progress = now;
        }
        is_news
    }

    /// When its move is late unless it makes progress.
    pub(super) fn late_at(&self, pace: Pace) -> Timestamp {
        let allowed = match self.home {
            Home::Freezing { .. } => pace.turns.saturating_add(pace.stall),
            Home::Frozen { .. } => pace.stall,
            Home::Empty | Home::Running { .. } => return Timestamp::NEVER,
        };
        self.progress + allowed
    }

    /// Its move has made no progress for too long.
    pub(super) fn give_up(&mut self) {
        self.progress = Timestamp::NEVER;
        if let Home::Freezing { next, .. } | Home::Frozen { next, .. } = self.home {
            self.impossible = Some(next);
        }
    }

    /// The lane has frozen it and sent it away.
    pub(super) fn froze(
        &mut self,
        at: Epoch,
        host: Host,
        remembered: &mut Vec<Remembered>,
        effects: &mut Effects<Effect>,
    ) {
        if let Home::Freezing { epoch, to, next } = self.home
            && next == at
        {
            self.home = Home::Frozen { epoch, to, next };
            self.progress = host.now;
            if host.flaws.has(Flaw::ReleasesBeforeCommit) {
                effects.push(Effect::Release { shard: self.shard, epoch, to, next });
                self.home = Home::Empty;
                self.records.push((epoch, to));
                remembered.push(Remembered::Whither(epoch));
            }
        }
    }

    /// The lane has taken a whole transfer in. `entry` is what the table says of the shard.
    pub(super) fn install(
        &mut self,
        epoch: Epoch,
        entry: Option<&Entry>,
        host: Host,
        remembered: &mut Vec<Remembered>,
        effects: &mut Effects<Effect>,
    ) {
        if epoch <= self.newest || self.installed.is_some_and(|before| before >= epoch) {
            return;
        }
        self.installed = Some(epoch);
        if host.flaws.has(Flaw::RunsAtInstall) && self.home == Home::Empty {
            let shard = self.shard;
            effects.push(Effect::Run { shard, epoch });
            (self.installed, self.newest, self.home) = (None, epoch, Home::Running { epoch });
            self.ran = epoch;
            return;
        }
        // It may have been called off, or be owned here, already.
        if let Some(entry) = entry {
            self.follow(entry, host, remembered, effects);
        }
    }

    /// The lane says that the move cannot be.
    pub(super) fn fail(&mut self, epoch: Epoch, entry: Option<&Entry>) {
        let open = entry
            .is_none_or(|entry| epoch > entry.issued || entry.moving.is_some_and(|(_, next)| next == epoch));
        if open {
            self.impossible = Some(epoch);
        }
    }

    /// The store refused what lives here at that epoch. Whether that is news: it is said now and then as long as it lasts.
    pub(super) fn refuse(&mut self, now: Timestamp, epoch: Epoch, seen: Epoch, is_far_ahead: bool) -> bool {
        // One that has seen only less has no reason to refuse: what is higher would not help.
        if self.home.epoch_mut().is_none_or(|lives| *lives != epoch) || seen < epoch {
            return false;
        }
        self.refused = (!is_far_ahead).then_some(seen);
        let is_news = self.told.is_none_or(|(told, again)| told != seen || again <= now);
        if is_news {
            self.told = Some((seen, now + TOLD_EVERY));
        }
        is_news
    }

    /// The store takes what lives here at that epoch.
    pub(super) fn accept(&mut self, epoch: Epoch) {
        if self.home.epoch_mut().is_some_and(|lives| *lives == epoch) {
            self.forgive();
        }
    }

    fn forgive(&mut self) {
        (self.refused, self.told) = (None, None);
    }

    /// The epoch that the store refused, and the highest one that it has seen.
    pub(super) fn refused(&self) -> Option<(Epoch, Epoch)> {
        self.refused.map(|seen| (self.newest, seen))
    }

    /// Drops everything that lives here or came here. Records stay: what comes late is still passed on.
    pub(super) fn vacate(&mut self, why: Dropped, effects: &mut Effects<Effect>) {
        self.drop_home(why, effects);
        if let Some(epoch) = self.installed.take().max(self.expected.take()) {
            effects.push(Effect::Discard { shard: self.shard, epoch });
        }
        self.impossible = None;
    }

    /// Drops what lives here, unless it moves away: that ends one way or the other. What comes here is called off, or runs and is dropped then.
    pub(super) fn leave(&mut self, why: Dropped, effects: &mut Effects<Effect>) {
        if !self.is_moving() {
            self.drop_home(why, effects);
        }
    }

    fn drop_home(&mut self, why: Dropped, effects: &mut Effects<Effect>) {
        let shard = self.shard;
        match self.home {
            Home::Empty => {}
            Home::Running { epoch } | Home::Freezing { epoch, .. } | Home::Frozen { epoch, .. } => {
                effects.push(Effect::Drop { shard, epoch, why });
                effects.push(Effect::Publish(Event::Dropped { shard, epoch, why }));
                self.home = Home::Empty;
                self.forgive();
                self.origins.retain(|(_, lives)| *lives != epoch);
            }
        }
    }

    /// The time of that is over.
    pub(super) fn forget(&mut self, what: Remembered, effects: &mut Effects<Effect>) {
        match what {
            Remembered::Whence(epoch) => self.forget_origin(|(came, _)| *came == epoch, effects),
            Remembered::Whither(epoch) => self.forget_records(|(at, _)| *at == epoch, effects),
        }
    }

    /// Whoever is no member takes nothing any more: records that lead there end.
    pub(super) fn forget_lost(&mut self, is_member: impl Fn(Uid) -> bool, effects: &mut Effects<Effect>) {
        self.forget_records(|(_, to)| !is_member(*to), effects);
    }

    fn forget_origin(&mut self, which: impl Fn(&(Epoch, Epoch)) -> bool, effects: &mut Effects<Effect>) {
        for (_, epoch) in self.origins.extract_if(.., |origin| which(origin)) {
            effects.push(Effect::Forget { shard: self.shard, epoch });
        }
    }

    fn forget_records(&mut self, which: impl Fn(&(Epoch, Uid)) -> bool, effects: &mut Effects<Effect>) {
        let over: Vec<Epoch> =
            self.records.extract_if(.., |record| which(record)).map(|(epoch, _)| epoch).collect();
        for epoch in over {
            // A lane forgets one thing at a time, whence the shard came first.
            self.forget_origin(|(_, lives)| *lives == epoch, effects);
            effects.push(Effect::Forget { shard: self.shard, epoch });
        }
    }

    /// How many records are kept.
    pub(super) fn records(&self) -> usize {
        self.records.len()
    }

    /// The move for which it is frozen and sent away.
    pub(super) fn frozen(&self) -> Option<Epoch> {
        match self.home {
            Home::Frozen { next, .. } => Some(next),
            Home::Empty | Home::Running { .. } | Home::Freezing { .. } => None,
        }
    }

    /// The move that has been taken in and is not owned here yet.
    pub(super) fn installed(&self) -> Option<Epoch> {
        self.installed
    }

    /// The move that cannot be.
    pub(super) fn impossible(&self) -> Option<Epoch> {
        self.impossible
    }

    pub(super) fn assert_invariants(&self) {
        let (epoch, next) = match self.home {
            Home::Empty => (self.newest, None),
            Home::Running { epoch } => (epoch, None),
            Home::Freezing { epoch, next, .. } | Home::Frozen { epoch, next, .. } => (epoch, Some(next)),
        };
        assert_eq!(epoch, self.newest, "{:?} lives here at an epoch that is not its newest", self.shard);
        assert!(next.is_none_or(|next| next > epoch), "{:?} moves to an epoch below its own", self.shard);
        assert!(self.ran <= self.newest, "{:?} runs at an epoch that is not owned here", self.shard);
        assert!(
            self.installed.is_none_or(|at| at > self.newest),
            "{:?} is installed below what ran",
            self.shard
        );
        assert!(
            self.records.iter().all(|(record, _)| *record <= self.newest),
            "{:?} has a record of nothing",
            self.shard
        );
    }
}
