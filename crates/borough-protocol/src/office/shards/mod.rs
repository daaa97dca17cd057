//! What the coordinator does with shards: it registers who hosts what, gives shards to hosts, plans their moves and ends them.
//!
//! It acts on the committed table and on the newest report of each member, and on nothing else. What it wants is decided for all shards
//! at once, then written down in batches; while such a batch is under way nothing more is decided, so every decision is made on
//! what is committed. A new coordinator knows no report until it hears it again: nothing here outlives a term.
//!
//! ```text
//! wanted, or its owner is freed --Own--> owned
//! owned --drain, wish, balance: Move--> moving --the receiver has it whole: Settle--> owned, by the receiver
//!                                          +--impossible, the owner says that it is late, the receiver leaves, the owner dropped it: CallOff--> owned, as before
//! owned, moving or not --a store has seen a higher epoch: Raise--> owned, by the same
//! ```
//!
//! Promise: nothing is given away before a fixed quorum was complete, nor to a member that leaves, is silent or cannot be reached at the
//! moment, nor to one whose links were bad until it has proved itself (unless nobody else can host the type); a shard has one step a batch; every
//! step that is written fits the table it was decided on.

mod balance;
mod hosting;
mod moves;
mod owners;
mod raising;
mod survey;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use self::moves::Rest;
use self::survey::Survey;
use super::{Office, Proposals, Scene};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::sharding::{ShardId, ShardReport, Step};
use crate::table::{Change, Table};
use crate::time::Timestamp;
use crate::version::Version;

/// So many steps are one entry of the log: several such entries still fit one message.
const STEPS_MAX: usize = 512;

/// How often the balance is looked at.
const ROUND: Duration = Duration::from_secs(1);

/// What one term of office knows of shards beyond the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Shards {
    /// The newest report of each member.
    reports: BTreeMap<Uid, Arc<ShardReport>>,
    /// Shards whose last move was called off.
    rests: BTreeMap<ShardId, Rest>,
    /// Those who can wait no longer for their shards to go.
    hurried: BTreeSet<Uid>,
    /// Until when epochs are not raised again: a store that refuses every epoch must not fill the log.
    raised: BTreeMap<ShardId, Timestamp>,
    /// Who reported last.
    last: Option<Uid>,
    /// Wishes that were fulfilled: who wished what for which shard.
    fulfilled: BTreeSet<(Uid, ShardId, Uid)>,
    /// Guests that are not admitted and members that get no shards, because their links were bad.
    held_back: BTreeSet<Uid>,
    /// When the balance is looked at next.
    round: Timestamp,
    /// What was looked at last, whether a report came since, and when to look again although nothing has changed.
    seen: Version,
    news: bool,
    next: Timestamp,
}

impl Shards {
    /// These nodes get no shards for now.
    pub(super) fn hold_back(&mut self, nodes: BTreeSet<Uid>) {
        self.news |= self.held_back != nodes;
        self.held_back = nodes;
    }

    fn keep(&mut self, from: Uid, report: Arc<ShardReport>) {
        if self.reports.get(&from).is_none_or(|before| before.seq < report.seq) {
            self.fulfilled.retain(|(by, shard, to)| *by != from || report.places.contains(&(*shard, *to)));
            self.reports.insert(from, report);
            self.last = Some(from);
            self.news = true;
        }
    }
}

impl Shards {
    /// The steps to take, in the order of shards. What ends a move comes before what begins one.
    fn plan(&mut self, scene: &Scene<'_>, now: Timestamp, survey: &mut Survey<'_>) -> Vec<(ShardId, Step)> {
        let mut plan = Plan { table: scene.table, steps: BTreeMap::new() };
        self.look_at_rests(now, scene);
        self.settle(scene, &mut plan);
        self.raise(now, scene, &mut plan);
        self.call_off(now, scene, survey, &mut plan);
        self.give(scene, survey, &mut plan);
        self.fulfil(now, scene.table, survey, &mut plan);
        self.empty(now, scene, survey, &mut plan);
        if self.round <= now {
            self.round = now + ROUND;
            self.balance(now, scene, survey, &mut plan);
        }
        plan.steps.into_iter().collect()
    }
}

/// What a coordinator does that keeps but one report: it never hears again what it has once heard.
fn forget_others(shards: &mut Shards) {
    let last = shards.last;
    for (_, report) in shards.reports.iter_mut().filter(|(uid, _)| Some(**uid) != last) {
        *report = Arc::new(ShardReport { seq: report.seq, ..ShardReport::default() });
    }
}

/// What is to be written down: a step a shard, each fitting the table.
struct Plan<'a> {
    table: &'a Table,
    steps: BTreeMap<ShardId, Step>,
}

impl Plan<'_> {
    /// Whether the step was taken: it fits, and there is none for that shard yet.
    fn put(&mut self, shard: ShardId, step: Step) -> bool {
        let fits = !self.steps.contains_key(&shard) && self.table.after(shard, step).is_some();
        if fits {
            self.steps.insert(shard, step);
        }
        fits
    }

    fn has(&self, shard: ShardId) -> bool {
        self.steps.contains_key(&shard)
    }
}

impl Office {
    /// A member's region says what it wants; an older word of the same member says nothing.
    pub fn report_shards(&mut self, from: Uid, report: Arc<ShardReport>) {
        self.shards.keep(from, report);
    }

    /// Does what is to be done with shards. No moment is exact here: the coordinator acts every renewal anyway, and at once on every
    /// change of the table and every report.
    pub(super) fn arrange_shards(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let (now, table) = (propose.now, scene.table);
        let shards = &mut self.shards;
        let is_new = shards.news || shards.seen != table.version() || shards.next <= now;
        // What is under way changes the table as soon as it is committed, and that is looked at.
        if !is_new || propose.log.tail().any(is_of_shards) {
            return;
        }
        (shards.news, shards.seen) = (false, table.version());
        shards.reports.retain(|uid, _| table.member(*uid).is_some());
        if scene.settings.flaws.has(Flaw::ForgetsReportsOfOthers) {
            forget_others(shards);
        }
        shards.register(scene, propose);
        let mut survey = Survey::new(scene, now, &shards.reports, &shards.held_back);
        let steps = shards.plan(scene, now, &mut survey);
        let waits = survey.is_busy() || shards.reports.values().any(|report| !report.is_empty());
        shards.next = if waits { now } else { shards.round };
        for chunk in steps.chunks(STEPS_MAX) {
            propose.once(Change::Shards(Arc::from(chunk)));
        }
    }
}

fn is_of_shards(change: &Change) -> bool {
    match change {
        Change::Declare(_) | Change::Host(..) | Change::EndHosting(..) | Change::Shards(_) => true,
        Change::Admit(_)
        | Change::Drain(_)
        | Change::Remove(..)
        | Change::Free(_)
        | Change::Forget(_)
        | Change::Close => false,
    }
}
