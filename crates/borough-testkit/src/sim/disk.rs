//! The disks of a run, one in each slot: what is synced, what is not yet, and how long that takes.
//!
//! Writes become synced in their order. A crash loses those that are not, but for the first few, which may have made it without anybody
//! being told. An address keeps its disk over all lives of its processes.

use std::collections::{BTreeSet, VecDeque};

use borough_protocol::disk::{Image, Record, StoredLog, Write};
use borough_protocol::incarnation;
use borough_protocol::log::raft;
use borough_protocol::random::Random;
use borough_protocol::table::Change;
use borough_protocol::version::Term;
use borough_protocol::voters::VoterId;

use super::cuts::SlotIndex;
use super::moment::{MILLISECOND, Moment, Nanos, SECOND};

/// Of a thousand runs so many have disks.
const DURABLE: u64 = 500;
/// What the chance of disks is drawn from, besides the seed: runs without disks are as they were before there were any.
const CHANCE: u64 = 0xD15C_0000;
/// How long a write takes that is slow.
const SLOW: Nanos = 2 * SECOND;

/// Where the chance of the disks of that seed comes from.
pub(super) fn chance(seed: u64) -> Random {
    Random::seeded(seed ^ CHANCE)
}

/// Whether the clusters of that seed keep their votes and logs on disks.
pub(super) fn is_durable(seed: u64) -> bool {
    chance(seed).per_mille(DURABLE)
}

/// All disks of a run.
#[derive(Debug)]
pub(super) struct Disks {
    list: Vec<Disk>,
    random: Random,
    /// The slots whose first disk is lost.
    lost: BTreeSet<SlotIndex>,
    /// Of a thousand writes so many are slow.
    slow_per_mille: u64,
    /// When the last slow write is synced.
    slow_until: Moment,
}

/// The disk in one slot.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    /// What is synced.
    pub(super) image: Image,
    /// How many lives have used it.
    lives: u64,
    pending: VecDeque<Pending>,
    /// Until when it syncs nothing.
    stuck_until: Moment,
    /// It was restored from a copy: its voter is refused as one.
    is_restored: bool,
    /// It has no room: nothing is synced before a restart.
    pub(super) is_full: bool,
    /// The furthest place of a log that was ever synced by this voter.
    synced_end: u64,
    /// The votes that were ever synced by this voter. A voter that follows the winner of a term writes the winner in place of its vote.
    votes: BTreeSet<(Term, VoterId)>,
}

/// A write that is not synced.
#[derive(Clone, Debug)]
struct Pending {
    due: Moment,
    life: usize,
    number: u64,
    write: Write,
}

/// A copy that somebody made of a disk.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    image: Image,
    lives: u64,
}

impl Copy {
    /// Whether it has a log. A copy without one says of its voter no more than an empty disk.
    pub(super) fn has_log(&self) -> bool {
        self.image.log.is_some()
    }

    /// Its record of a cluster.
    pub(super) fn record(&self) -> Option<&Record> {
        self.image.record.as_ref()
    }

    /// Whether it holds promises to founders.
    pub(super) fn has_promised(&self) -> bool {
        !self.image.pledges.is_empty()
    }

    /// Whether the voter of that time was a quorum by itself.
    pub(super) fn decides_alone(&self) -> bool {
        self.voters().len() == 1
    }

    /// Those that the voter of that time counts: nothing in the copy says that others do by now.
    pub(super) fn voters(&self) -> BTreeSet<VoterId> {
        let Some(log) = &self.image.log else { return BTreeSet::new() };
        let of_item = |item: &raft::Item<Change>| match item {
            raft::Item::Lists { now, next, .. } => Some((now.clone(), next.clone())),
            raft::Item::Term(_) | raft::Item::Payload(_) => None,
        };
        let of_snapshot = || {
            log.snapshot.as_ref().map(|snapshot| (snapshot.voters.now.clone(), snapshot.voters.next.clone()))
        };
        let newest = log.entries.iter().rev().find_map(of_item).or_else(of_snapshot);
        newest.into_iter().flat_map(|(now, next)| now.into_iter().chain(next)).collect()
    }
}

/// What became synced: of which life, and the number of the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Synced {
    pub(super) life: usize,
    pub(super) number: u64,
}

impl Disks {
    /// So many, all empty. Gentle ones are never slow.
    pub(super) fn new(seed: u64, slots: usize, are_gentle: bool) -> Self {
        let mut random = Random::seeded(chance(seed).next_u64());
        let slow_per_mille = if are_gentle || random.per_mille(500) { 0 } else { random.below(20) };
        let list = (0..slots).map(|_| Disk::empty(&mut random)).collect();
        Self { list, random, lost: BTreeSet::new(), slow_per_mille, slow_until: Moment::START }
    }

    /// When the last slow write is synced: until then a voter may have said nothing for longer than an election waits.
    pub(super) fn slow_until(&self) -> Moment {
        self.slow_until
    }

    pub(super) fn of(&self, slot: SlotIndex) -> &Disk {
        &self.list[slot]
    }

    pub(super) fn of_mut(&mut self, slot: SlotIndex) -> &mut Disk {
        &mut self.list[slot]
    }

    /// A life in that slot wants something written; says when it is synced, unless the disk gets stuck.
    pub(super) fn write(
        &mut self,
        (now, slot): (Moment, SlotIndex),
        (life, number): (usize, u64),
        write: Write,
    ) -> Moment {
        let is_slow = self.random.per_mille(self.slow_per_mille);
        let delay = self.random.between(MILLISECOND, if is_slow { SLOW } else { 20 * MILLISECOND });
        let disk = &mut self.list[slot];
        let before = disk.pending.back().map_or(now, |pending| pending.due);
        let due = now.after(delay).max(before);
        if is_slow {
            self.slow_until = self.slow_until.max(due);
        }
        disk.pending.push_back(Pending { due, life, number, write });
        due.max(disk.stuck_until)
    }

    /// The process there is gone: a part of what was not synced is lost. Says how many writes.
    pub(super) fn crash(&mut self, slot: SlotIndex) -> usize {
        let disk = &mut self.list[slot];
        let count = disk.pending.len() as u64;
        let made = if disk.is_full { 0 } else { self.random.below(count + 1) };
        for _ in 0..made {
            disk.make_next();
        }
        let lost = disk.pending.len();
        disk.pending.clear();
        (disk.is_full, disk.stuck_until) = (false, Moment::START);
        lost
    }

    /// Another disk is put there, with nothing on it.
    pub(super) fn replace(&mut self, slot: SlotIndex) {
        self.list[slot] = Disk::empty(&mut self.random);
        self.lost.insert(slot);
    }

    /// What the disk of that slot knew of a cluster is lost.
    pub(super) fn note_lost(&mut self, slot: SlotIndex) {
        self.lost.insert(slot);
    }

    /// Whether the first disk of that slot is lost.
    pub(super) fn is_lost(&self, slot: SlotIndex) -> bool {
        self.lost.contains(&slot)
    }

    /// Whether some slot has the disk of that voter, and no copy of it.
    pub(super) fn has(&self, voter: VoterId) -> bool {
        self.list.iter().any(|disk| disk.image.voter == voter && !disk.is_restored)
    }
}

impl Disk {
    fn empty(random: &mut Random) -> Self {
        let voter = VoterId::new(random.next_u64() | 1 << 62).expect("a bit is set");
        Self {
            image: Image::new(voter),
            lives: 0,
            pending: VecDeque::new(),
            stuck_until: Moment::START,
            is_restored: false,
            is_full: false,
            synced_end: 0,
            votes: BTreeSet::new(),
        }
    }

    /// A life begins with what is synced.
    pub(super) fn open(&mut self) -> (Image, incarnation::Disk) {
        self.lives += 1;
        (self.image.clone(), incarnation::Disk { voter: self.image.voter, life: self.lives })
    }

    /// Syncs what is due; says up to which write of which life.
    pub(super) fn sync(&mut self, now: Moment) -> Option<Synced> {
        let mut synced = None;
        while self.is_due(now) {
            synced = self.make_next();
        }
        synced
    }

    /// When the next write is synced, if the disk works.
    pub(super) fn next(&self) -> Option<Moment> {
        self.pending.front().map(|pending| pending.due.max(self.stuck_until))
    }

    fn is_due(&self, now: Moment) -> bool {
        !self.is_full && self.next().is_some_and(|due| due <= now)
    }

    fn make_next(&mut self) -> Option<Synced> {
        let Pending { life, number, write, .. } = self.pending.pop_front()?;
        if matches!(write, Write::Become { .. }) {
            self.is_restored = false;
            self.synced_end = 0;
            self.votes.clear();
        }
        self.image.apply(write);
        self.note_vote();
        let end = self.image.log.as_ref().map_or(0, StoredLog::last_index);
        self.synced_end = self.synced_end.max(end);
        Some(Synced { life, number })
    }

    fn note_vote(&mut self) {
        let vote = self.image.log.as_ref().and_then(|log| Some((log.term, log.vote?)));
        self.votes.extend(vote);
    }

    /// Whether that vote was ever synced.
    pub(super) fn has_voted(&self, term: Term, whom: VoterId) -> bool {
        self.votes.contains(&(term, whom))
    }

    /// Whether everything that it was given is synced.
    pub(super) fn is_level(&self) -> bool {
        self.pending.is_empty()
    }

    /// What the disk has once everything that it was given is synced.
    pub(super) fn level(&self) -> Image {
        let mut image = self.image.clone();
        for pending in &self.pending {
            image.apply(pending.write.clone());
        }
        image
    }

    /// Whether something of the log waits.
    pub(super) fn writes_log(&self) -> bool {
        let is_of_log = |write: &Write| match write {
            Write::Log(_) => true,
            Write::Become { log, .. } => !log.is_empty(),
            Write::Record(_) | Write::Pledges(_) => false,
        };
        self.pending.iter().any(|pending| is_of_log(&pending.write))
    }

    /// The furthest place of a log that was ever synced.
    pub(super) fn synced_end(&self) -> u64 {
        self.synced_end
    }

    /// It syncs nothing until then.
    pub(super) fn get_stuck(&mut self, until: Moment) {
        self.stuck_until = self.stuck_until.max(until);
    }

    /// It works again.
    pub(super) fn come_loose(&mut self) {
        self.stuck_until = Moment::START;
    }

    pub(super) fn is_stuck(&self, now: Moment) -> bool {
        now < self.stuck_until
    }

    /// Until when it syncs nothing, if it is stuck.
    pub(super) fn stuck_until(&self, now: Moment) -> Option<Moment> {
        self.is_stuck(now).then_some(self.stuck_until)
    }

    pub(super) fn copy(&self) -> Copy {
        Copy { image: self.image.clone(), lives: self.lives }
    }

    /// An operator puts a copy back, while no process runs. A voter that it names may have confirmed more than the copy has.
    pub(super) fn restore(&mut self, copy: Copy) {
        (self.image, self.lives, self.is_restored) = (copy.image, copy.lives, true);
        self.pending.clear();
        self.synced_end = self.image.log.as_ref().map_or(0, StoredLog::last_index);
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn vote(term: u64) -> Write {
        Write::Log(raft::Write::Vote { term: Term::new(term), vote: None })
    }

    fn term(disk: &Disk) -> u64 {
        disk.image.log.as_ref().map_or(0, |log| log.term.get())
    }

    fn with_three_writes() -> (Disks, Moment) {
        let mut disks = Disks::new(1, 1, true);
        let mut last = Moment::START;
        for number in 1..=3 {
            last = disks.write((Moment::START, 0), (0, number), vote(number));
        }
        (disks, last)
    }

    #[test]
    fn writes_are_synced_in_their_order() {
        let (mut disks, last) = with_three_writes();
        assert_eq!(disks.of_mut(0).sync(Moment::START), None);
        assert_eq!(disks.of_mut(0).sync(last), Some(Synced { life: 0, number: 3 }));
        assert_eq!((term(disks.of(0)), disks.of(0).is_level()), (3, true));
    }

    #[test]
    fn what_is_not_synced_is_part_of_the_level_disk() {
        let (disks, _) = with_three_writes();
        let level = disks.of(0).level();
        assert_eq!((term(disks.of(0)), level.log.map(|log| log.term.get())), (0, Some(3)));
    }

    #[test]
    fn a_full_disk_syncs_nothing_and_a_stuck_one_nothing_yet() {
        let (mut disks, last) = with_three_writes();
        disks.of_mut(0).get_stuck(last.after(SECOND));
        assert_eq!(disks.of_mut(0).sync(last), None);
        disks.of_mut(0).is_full = true;
        assert_eq!(disks.of_mut(0).sync(last.after(SECOND)), None);
        assert_eq!(disks.crash(0), 3);
        assert!(!disks.of(0).is_full);
    }

    #[test]
    fn a_crash_leaves_a_prefix() {
        let (mut disks, _) = with_three_writes();
        let lost = disks.crash(0) as u64;
        assert_eq!(term(disks.of(0)), 3 - lost);
    }

    #[test]
    fn about_half_of_the_seeds_have_disks() {
        let count = (0..1000).filter(|seed| is_durable(*seed)).count();
        assert!((450..550).contains(&count), "{count}");
    }
}
