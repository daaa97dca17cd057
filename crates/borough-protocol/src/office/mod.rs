//! What the coordinator does: it admits, removes, and sees to it that the right nodes vote.
//!
//! It decides nothing by itself: everything it wants is appended to the log, and is so once a quorum has it. A coordinator acts
//! only after an entry of its own term is committed, and forgets everything here when it leaves office: its successor learns the
//! same from the table and from what the nodes repeat.

mod admission;
mod broken_pairs;
mod cover;
mod cut_off;
mod guest_watch;
mod probation;
mod removal;
mod shards;
mod voter_change;
pub mod voter_choice;
mod voter_history;
mod waits;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use self::admission::Rivals;
use self::broken_pairs::BrokenPairs;
pub use self::guest_watch::GuestWatch;
pub use self::probation::Probation;
use self::removal::nobody_stays;
use self::shards::Shards;
use self::voter_change::Wish;
pub use self::voter_history::VoterHistory;
use self::waits::Waits;
use crate::gossip::Document;
use crate::incarnation::Uid;
use crate::lease::Grants;
use crate::log::{Carrier, CarrierMessage, Log, Outbox};
use crate::node::{QuietReport, Report, VoterLives};
use crate::settings::{Checked, Strategy};
use crate::sharding::allocation::Strategies;
use crate::table::{Change, Member, Removal, Table};
use crate::time::Timestamp;
use crate::voters::VoterId;

/// The log as the table uses it.
pub type TableLog = Carrier<Change, Arc<Table>>;
/// What its nodes say to each other.
pub type TableLogMessage = CarrierMessage<Change, Arc<Table>>;

/// One term of office.
#[derive(Clone, Debug)]
pub struct Office {
    /// From when on it may decide on what others held before: the first entry of its term was committed then.
    since: Timestamp,
    /// The newest report of each voter about members that the voter does not hear: when the report came, and which life of the voter sent it.
    reports: BTreeMap<VoterId, (Timestamp, Uid, QuietReport)>,
    /// What nodes asked for and the table does not show yet.
    asked: BTreeSet<Request>,
    waits: Waits,
    wish: Wish,
    broken_pairs: BrokenPairs,
    /// When it last removed a member for bad links.
    last_cut_off: Option<Timestamp>,
    /// Since when a node that joins has not been heard.
    missing: BTreeMap<Uid, Timestamp>,
    rivals: Rivals,
    shards: Shards,
}

/// What a node asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// That node leaves.
    Leave(Uid),
    /// That node has dropped everything.
    Goodbye(Uid),
    /// Somebody wants that node removed.
    Down(Uid),
    /// Somebody wants the cluster shut down.
    Close,
}

/// What the coordinator looks at when it decides.
#[derive(Debug)]
pub struct Scene<'a> {
    /// Itself.
    pub me: Uid,
    /// The settings.
    pub settings: &'a Checked,
    /// The table, as far as it is committed.
    pub table: &'a Table,
    /// What gossip says.
    pub document: &'a Document,
    /// Whom this voter has heard.
    pub grants: &'a Grants,
    /// Whom this voter has not heard for too long.
    pub quiet: &'a [Uid],
    /// Since when this node has seen the guests.
    pub guests: &'a GuestWatch,
    /// Who was removed for bad links, and since when later lives are heard.
    pub probation: &'a Probation,
    /// Which lives speak for the voters.
    pub lives: &'a VoterLives,
    /// Who voted in the last minutes.
    pub voter_history: &'a VoterHistory,
    /// Where shards go by functions of the user's.
    pub strategies: &'a Strategies,
}

impl Scene<'_> {
    /// Whether its last renewal is there, as far as one may have come: it answers now, as far as one can tell.
    fn just_heard(&self, now: Timestamp, uid: Uid) -> bool {
        let lately = self.settings.timing().renew + self.settings.round_trip;
        uid == self.me || self.grants.heard(uid).is_some_and(|at| now.since(at) < lately)
    }

    /// The identity of that member as a voter.
    fn voter_of(&self, member: &Member) -> VoterId {
        if self.settings.durable { member.voter() } else { VoterId::of_life(member.incarnation.uid) }
    }

    /// Whether the voter's last renewal is there.
    fn just_heard_voter(&self, now: Timestamp, voter: VoterId) -> bool {
        self.lives.uid(voter).is_some_and(|uid| self.just_heard(now, uid))
    }

    /// Whether nothing is known against it at the moment: it is heard here, and nobody calls it unreachable.
    fn is_well(&self, now: Timestamp, uid: Uid) -> bool {
        uid == self.me
            || (self.hears(now, uid) && !self.quiet.contains(&uid) && !self.document.is_unreachable(uid))
    }

    /// Whether the cluster may own and remove: a fixed quorum may once all its voters were there.
    fn is_complete(&self) -> bool {
        match self.settings.strategy {
            Strategy::StaticQuorum { quorum } => self.table.most_voters() >= 2 * quorum - 1,
            Strategy::KeepMajority | Strategy::KeepOldest | Strategy::DownAll | Strategy::LeaseMajority => {
                true
            }
        }
    }

    fn hears(&self, now: Timestamp, uid: Uid) -> bool {
        uid == self.me || self.grants.is_fresh(now, self.settings.timing(), uid)
    }
}

impl Office {
    /// Takes office: an entry of its term was just committed. `acts_from` is later if something older must have ended first.
    pub fn new(now: Timestamp, acts_from: Timestamp) -> Self {
        Self {
            since: now.max(acts_from),
            reports: BTreeMap::new(),
            asked: BTreeSet::new(),
            waits: Waits::default(),
            wish: Wish::default(),
            broken_pairs: BrokenPairs::default(),
            last_cut_off: None,
            missing: BTreeMap::new(),
            rivals: Rivals::default(),
            shards: Shards::default(),
        }
    }

    /// The coordinator itself was away: what it did not see meanwhile has not lasted.
    pub fn forgive(&mut self, away: Duration) {
        for since in self.missing.values_mut() {
            *since = *since + away;
        }
        self.broken_pairs.forgive(away);
        self.rivals.forgive(away);
    }

    /// Takes the report of a voter about members that the voter does not hear. `life` is the life that sent it.
    pub fn report_quiet(&mut self, now: Timestamp, (voter, life): (VoterId, Uid), report: QuietReport) {
        // Each life of a voter counts its reports from 1.
        let is_newer =
            |(_, said_by, before): &(_, _, QuietReport)| *said_by != life || before.seq < report.seq;
        if self.reports.get(&voter).is_none_or(is_newer) {
            self.reports.insert(voter, (now, life, report));
        }
    }

    /// A node asks for something; it is kept until the table shows it.
    pub fn ask(&mut self, request: Request) {
        self.asked.insert(request);
    }

    /// Those who wanted to join and have not been heard for so long that gossip may forget them.
    pub fn vanished(&mut self, now: Timestamp, scene: &Scene<'_>) -> Vec<Uid> {
        let absent = |uid: &Uid| scene.table.member(*uid).is_none() && !scene.hears(now, *uid);
        let joining: BTreeSet<Uid> =
            scene.document.joining().map(|member| member.incarnation.uid).filter(absent).collect();
        self.missing.retain(|uid, _| joining.contains(uid));
        for uid in joining {
            self.missing.entry(uid).or_insert(now);
        }
        let patience = scene.settings.timing().give_up_after;
        self.missing.iter().filter(|(_, since)| now.since(**since) >= patience).map(|(uid, _)| *uid).collect()
    }

    /// Does everything that is to be done now, and says when to look again.
    ///
    /// Called after every change of the table, of gossip, of what was heard or asked, and at the moment it names.
    pub fn act(
        &mut self,
        now: Timestamp,
        scene: &Scene<'_>,
        log: &mut TableLog,
        out: &mut Outbox<TableLogMessage>,
    ) -> Timestamp {
        if scene.table.is_closing() {
            return Timestamp::NEVER;
        }
        if now < self.since {
            return self.since;
        }
        let mut next = now + scene.settings.timing().renew;
        let mut propose = Proposals { now, log, out };
        if self.asked.contains(&Request::Close) || nobody_stays(scene, propose.log) {
            propose.once(Change::Close);
            return next;
        }
        self.look_at_links(scene, &propose);
        self.admit(scene, &mut propose);
        self.let_go(scene, &mut propose);
        // Until a fixed quorum is complete it must not end anybody who wants to stay.
        if scene.is_complete() {
            self.remove(scene, &mut propose);
        }
        next = next.min(self.free(scene, &mut propose));
        self.change_voters(scene, &mut propose);
        self.arrange_shards(scene, &mut propose);
        self.asked.retain(|request| request.is_open(scene.table));
        next
    }

    /// Notes what gossip says of links, and who has to prove itself.
    fn look_at_links(&mut self, scene: &Scene<'_>, propose: &Proposals<'_>) {
        let now = propose.now;
        self.broken_pairs.look(now, scene, propose.log);
        let guests = scene.document.joining();
        let waiting = guests.filter(|guest| scene.table.member(guest.incarnation.uid).is_none());
        let held_back =
            waiting.filter(|guest| self.holds_back(now, scene, guest)).map(|guest| guest.incarnation.uid);
        let held_back = held_back.chain(scene.probation.unproven(now, scene)).collect();
        self.shards.hold_back(held_back);
    }
}

impl Request {
    /// What a report of that node asks for.
    pub fn of(from: Uid, report: Report) -> Self {
        match report {
            Report::Leave => Self::Leave(from),
            Report::Goodbye => Self::Goodbye(from),
            Report::Down(uid) => Self::Down(uid),
            Report::Close => Self::Close,
        }
    }

    /// Whether the table does not show it yet.
    fn is_open(self, table: &Table) -> bool {
        match self {
            Self::Leave(uid) | Self::Goodbye(uid) | Self::Down(uid) => table.member(uid).is_some(),
            Self::Close => !table.is_closing(),
        }
    }
}

/// What is appended, each change once as long as it is under way.
struct Proposals<'a> {
    now: Timestamp,
    log: &'a mut TableLog,
    out: &'a mut Outbox<TableLogMessage>,
}

impl Proposals<'_> {
    fn once(&mut self, change: Change) {
        let same = |other: &Change| match (other, &change) {
            (Change::Admit(a), Change::Admit(b)) => a.incarnation.uid == b.incarnation.uid,
            (Change::Remove(a, _), Change::Remove(b, _)) => a == b,
            (a, b) => a == b,
        };
        if !self.log.tail().any(same) {
            // Not in office any more, or handing over: the successor will see the same and do it.
            let _ = self.log.propose(self.now, change, self.out);
        }
    }

    fn remove(&mut self, uid: Uid, why: Removal) {
        self.once(Change::Remove(uid, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed 168338 of the simulator: a voter with a disk started again, and its reports counted for nothing until there were more than of the life before.
    #[test]
    fn each_life_of_a_voter_counts_its_reports_from_the_first() {
        let uid = |number| Uid::new(number).expect("not 0");
        let voter = VoterId::new(7).expect("not 0");
        let mut office = Office::new(Timestamp::ZERO, Timestamp::ZERO);
        for (millis, life, seq, kept) in
            [(1, 1, 9, (1, 9)), (2, 1, 8, (1, 9)), (3, 2, 1, (2, 1)), (4, 2, 1, (2, 1))]
        {
            let at = Timestamp::from_millis(millis);
            office.report_quiet(at, (voter, uid(life)), QuietReport { seq, quiet: Arc::from([]) });
            let (_, said_by, report) = &office.reports[&voter];
            assert_eq!((*said_by, report.seq), (uid(kept.0), kept.1));
        }
    }
}
