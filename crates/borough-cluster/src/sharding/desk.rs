//! The desk of a node: drives the region's machine, and has done what it wants.
//!
//! ```text
//! table, drain (control thread) --+
//! lanes, senders, operators ------+--> machine --> ways published, orders to lanes, barriers, words, reports
//! words of other nodes -----------+
//! ```
//! It is no part of a message's way: what it publishes is. One machine for each life of the node; between lives everything is held.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::{Effect, Input, Patience, Region};
use borough_protocol::sharding::{KindId, ShardId};
use borough_protocol::table::Table;
use borough_protocol::time::Timestamp;
use borough_protocol::{Effects, Machine};
use tokio::sync::{mpsc, oneshot, watch};

use super::Sharding;
use super::host::Order;
use super::shell::{Closing, Opening, Shell};

/// How often it is looked whether the last sender by a closed way is done.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// So many errands are taken at once: what follows from all of them is looked at behind the last.
const ERRANDS_AT_ONCE: usize = 4096;

/// What the control thread shows of the present life.
#[derive(Clone, Debug)]
pub(crate) struct Sight {
    /// Which life it is.
    pub(crate) life: Uid,
    /// The committed table, as far as the node knows it; `None` before it takes part and after its life ended.
    pub(crate) table: Option<Arc<Table>>,
    /// Whether the node is to give away what lives here.
    pub(crate) drains: bool,
}

/// What somebody wants of the desk.
pub(super) enum Errand {
    /// A type is started here.
    Start(Arc<dyn Shell>),
    /// A type is hosted here no more; said once nothing of it is here.
    End(Arc<str>, oneshot::Sender<()>),
    /// A type could not be started after all.
    Forget(Arc<str>),
    /// Something for the machine of the present life.
    Tell(Input),
    /// The control thread asks whether it runs.
    Ping,
    /// The node is gone.
    Stop,
}

/// See the module.
pub(super) struct Desk {
    sharding: Arc<Sharding>,
    errands: mpsc::UnboundedReceiver<Errand>,
    sight: watch::Receiver<Sight>,
    shells: BTreeMap<Arc<str>, Arc<dyn Shell>>,
    life: Option<Life>,
    effects: Effects<Effect>,
    /// Types that are ending here, and who waits for it.
    ending: Vec<(Arc<str>, oneshot::Sender<()>)>,
}

/// One life of the node, as the desk lives it.
struct Life {
    uid: Uid,
    region: Region,
    kinds: BTreeMap<KindId, Arc<dyn Shell>>,
    /// The table that the types were shown last.
    shown: Option<Arc<Table>>,
    closing: Vec<(KindId, Closing)>,
    drains: bool,
    reported: u64,
}

impl Desk {
    pub(super) fn new(
        sharding: &Arc<Sharding>,
        errands: mpsc::UnboundedReceiver<Errand>,
        sight: watch::Receiver<Sight>,
    ) -> Self {
        Self {
            sharding: sharding.clone(),
            errands,
            sight,
            shells: BTreeMap::new(),
            life: None,
            effects: Effects::default(),
            ending: Vec::new(),
        }
    }

    /// Until nobody holds the node any more.
    pub(super) async fn run(mut self) {
        let mut errands = Vec::new();
        self.look().await;
        loop {
            // What was closed is quiet at once as a rule, and leads to more.
            while self.find_closed() {}
            let deadline = self.life.as_ref().map_or(Timestamp::NEVER, |life| life.region.next_deadline());
            let is_closing = self.life.as_ref().is_some_and(|life| !life.closing.is_empty());
            let clock = self.sharding.lease.clock().clone();
            tokio::select! {
                biased;
                seen = self.sight.changed() => {
                    if seen.is_err() {
                        return self.end_life();
                    }
                    self.look().await;
                }
                count = self.errands.recv_many(&mut errands, ERRANDS_AT_ONCE) => {
                    if count == 0 || errands.iter().any(|errand| matches!(errand, Errand::Stop)) {
                        return self.end_life();
                    }
                    self.run_errands(errands.drain(..));
                }
                () = tokio::time::sleep(LOOK_EVERY), if is_closing => {}
                () = clock.sleep_towards(deadline) => {
                    if clock.now() >= deadline {
                        self.tell(Input::Deadline);
                    }
                }
            }
        }
    }

    /// Sees what the control thread shows.
    ///
    /// A table that shows somebody removed is followed only when nothing of that one can come any more: barriers are answered by what the
    /// table says.
    async fn look(&mut self) {
        let Sight { life, table, drains } = self.sight.borrow_and_update().clone();
        while !self.sharding.hub().is_rid_of_the_closed() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        if self.life.as_ref().is_some_and(|known| known.uid != life || table.is_none()) {
            self.end_life();
        }
        let Some(table) = table else { return };
        if self.life.is_none() {
            self.begin_life(life, &table);
        }
        self.follow(&table);
        if let Some(known) = &mut self.life
            && drains
            && !known.drains
        {
            known.drains = true;
            self.tell(Input::Drain);
        }
        self.find_ended(&table);
    }

    fn begin_life(&mut self, uid: Uid, table: &Arc<Table>) {
        self.life = Some(Life {
            uid,
            // It begins with nothing, so that the table it is shown next is news to it: ways that were closed with the last life open again.
            region: Region::new(
                uid,
                Arc::new(Table::new(table.cluster())),
                Patience { drain: self.sharding.hindrances.bound(), ..Patience::default() },
                Flaws::default(),
            ),
            kinds: BTreeMap::new(),
            shown: None,
            closing: Vec::new(),
            drains: false,
            reported: 0,
        });
        self.sharding.repeat_strategies();
        let starts = self.shells.values().map(|shell| start(&**shell)).collect();
        self.tell_all(starts);
    }

    /// Nothing that lived here goes on, and nobody has a way. So what was ending here has ended, and the next life does not host it.
    fn end_life(&mut self) {
        if self.life.take().is_some() {
            for shell in self.shells.values() {
                shell.reset();
            }
        }
        for (name, done) in std::mem::take(&mut self.ending) {
            self.stop_hosting(&name, done);
        }
    }

    /// Shows the types started here what the table says of them.
    fn follow(&mut self, table: &Arc<Table>) {
        let Some(life) = &mut self.life else { return };
        let before = life.shown.replace(table.clone());
        let before = before.filter(|before| has_same_nodes(before, table));
        let known: Vec<KindId> = life.kinds.keys().copied().collect();
        for shell in self.shells.values() {
            life.introduce(shell, table, before.as_deref());
        }
        let news: Vec<KindId> = life.kinds.keys().filter(|kind| !known.contains(kind)).copied().collect();
        self.tell(Input::Table(table.clone()));
        // Only now: what came before this node knew of its shard is refused if it is looked at before the shard has begun.
        for shell in self.shells.values() {
            shell.look();
        }
        self.announce_wanted(&news);
    }

    /// A type is started here.
    fn start(&mut self, shell: &Arc<dyn Shell>) {
        self.shells.insert(shell.kind().name.clone(), shell.clone());
        // First what it is to its cluster, as far as the machine knows: that opens its ways at once.
        let known = self.life.as_mut().and_then(|life| {
            let table = life.shown.clone()?;
            life.introduce(shell, &table, None)
        });
        self.tell(start(&**shell));
        if self.life.as_ref().is_some_and(|life| life.shown.is_some()) {
            shell.look();
        }
        self.announce_wanted(known.as_slice());
    }

    /// Senders may have waited for shards of these types before they were known. From then on each says itself what it waits for.
    fn announce_wanted(&mut self, kinds: &[KindId]) {
        let Some(life) = &self.life else { return };
        let shells = kinds.iter().filter_map(|kind| Some((*kind, life.kinds.get(kind)?)));
        let wanted = shells.flat_map(|(kind, shell)| {
            shell.take_wanted().into_iter().map(move |number| Input::Want(ShardId { kind, number }))
        });
        let wanted = wanted.collect();
        self.tell_all(wanted);
    }

    fn run_errands(&mut self, errands: impl Iterator<Item = Errand>) {
        let mut inputs = Vec::new();
        for errand in errands {
            match errand {
                Errand::Tell(input) => inputs.push(input),
                errand => {
                    self.tell_all(std::mem::take(&mut inputs));
                    self.run_errand(errand);
                }
            }
        }
        self.tell_all(inputs);
    }

    fn run_errand(&mut self, errand: Errand) {
        match errand {
            Errand::Start(shell) => self.start(&shell),
            // In no cluster nothing of it lives here; once there is one it is not to be hosted either.
            Errand::End(name, done) if self.life.is_none() => self.stop_hosting(&name, done),
            Errand::End(name, done) => {
                self.tell(Input::End { kind: name.clone() });
                self.ending.push((name, done));
                let table = self.sight.borrow().table.clone();
                // Without one this life is over, and about to be ended here too.
                if let Some(table) = table {
                    self.find_ended(&table);
                }
            }
            Errand::Forget(name) => {
                self.tell(Input::End { kind: name.clone() });
                if let Some(gone) = self.shells.remove(&name)
                    && let Some(life) = &mut self.life
                {
                    life.kinds.retain(|_, shell| !Arc::ptr_eq(shell, &gone));
                }
            }
            Errand::Tell(input) => self.tell(input),
            Errand::Ping => self.sharding.watchdog.answer(),
            Errand::Stop => {}
        }
    }

    /// Types that are ending here and are hosted here no more.
    fn find_ended(&mut self, table: &Table) {
        let Some(life) = &self.life else { return };
        let uid = life.uid;
        let is_over =
            |name: &str| table.kind_named(name).is_none_or(|(_, kind)| !kind.hosts().contains(&uid));
        for (name, done) in std::mem::take(&mut self.ending) {
            if is_over(&name) {
                self.stop_hosting(&name, done);
            } else {
                self.ending.push((name, done));
            }
        }
    }

    /// Nothing of that type lives here any more: in this life and in the next it is a proxy.
    fn stop_hosting(&self, name: &str, done: oneshot::Sender<()>) {
        if let Some(shell) = self.shells.get(name) {
            shell.stop_hosting();
        }
        // Whoever asked for it may be gone.
        let _ = done.send(());
    }

    /// Ways by which nobody sends any more; says whether there were any.
    fn find_closed(&mut self) -> bool {
        let Some(life) = &mut self.life else { return false };
        let mut closed = Vec::new();
        let kinds = &life.kinds;
        life.closing.retain_mut(|(kind, closing)| {
            let is_over = kinds.get(kind).is_none_or(|shell| shell.is_quiet(closing));
            if is_over {
                closed.extend(
                    closing
                        .shards()
                        .map(|(number, used)| Input::Closed { shard: ShardId { kind: *kind, number }, used }),
                );
            }
            !is_over
        });
        let any = !closed.is_empty();
        self.tell_all(closed);
        any
    }

    /// Tells the machine all of these; what it has to report of them it says once.
    fn tell_all(&mut self, mut inputs: Vec<Input>) {
        match inputs.len() {
            0 => {}
            1 => inputs.drain(..).for_each(|input| self.tell(input)),
            _ => self.tell(Input::Many(inputs)),
        }
    }

    fn tell(&mut self, input: Input) {
        let Some(life) = &mut self.life else { return };
        life.region.handle(self.sharding.lease.clock().now(), input, &mut self.effects);
        if !self.effects.is_empty() {
            let effects: Vec<Effect> = self.effects.drain().collect();
            self.perform(effects);
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let Some(life) = &mut self.life else { return };
        let mut closes: BTreeMap<KindId, Vec<u32>> = BTreeMap::new();
        let mut opens: BTreeMap<KindId, Vec<Opening>> = BTreeMap::new();
        for effect in effects {
            match effect {
                Effect::Close { shard } => closes.entry(shard.kind).or_default().push(shard.number),
                Effect::Open { shard, to, tag } => {
                    opens.entry(shard.kind).or_default().push(Opening { shard: shard.number, to, tag });
                }
                Effect::Barrier { shard, to, tag, nonce, min_version } => {
                    if let Some(shell) = life.kinds.get(&shard.kind) {
                        shell.barrier(shard.number, to, tag, nonce, min_version);
                    }
                }
                Effect::Send { to, word } => self.sharding.say(to, &word),
                Effect::Report(mut report) => {
                    life.reported += 1;
                    report.seq = life.reported;
                    self.sharding.report(report);
                }
                Effect::Publish(event) => self.sharding.publish(event),
                Effect::Drained => self.sharding.drained(),
                Effect::Start { shard, epoch } => life.order(shard, |shard| Order::Start { shard, epoch }),
                Effect::Freeze { shard, epoch, to, next } => {
                    life.order(shard, |shard| Order::Freeze { shard, epoch, to, next });
                }
                Effect::Transfer { shard, epoch, to, next } => {
                    life.order(shard, |shard| Order::Transfer { shard, epoch, to, next });
                }
                Effect::Resume { shard, epoch } => life.order(shard, |shard| Order::Resume { shard, epoch }),
                Effect::Run { shard, epoch } => life.order(shard, |shard| Order::Run { shard, epoch }),
                Effect::Raise { shard, epoch, next } => {
                    life.order(shard, |shard| Order::Raise { shard, epoch, next });
                }
                Effect::Discard { shard, epoch } => {
                    life.order(shard, |shard| Order::Discard { shard, epoch });
                }
                Effect::Release { shard, epoch, to, next } => {
                    life.order(shard, |shard| Order::Release { shard, epoch, to, next });
                }
                Effect::Drop { shard, epoch, why } => {
                    life.order(shard, |shard| Order::Drop { shard, epoch, why });
                }
                Effect::Force { kind } => {
                    if let Some(shell) = life.kinds.get(&kind) {
                        shell.force();
                    }
                }
                Effect::Forget { shard, epoch } => life.order(shard, |shard| Order::Forget { shard, epoch }),
            }
        }
        for (kind, shards) in closes {
            if let Some(shell) = life.kinds.get(&kind) {
                life.closing.push((kind, shell.close(&shards)));
            }
        }
        for (kind, openings) in opens {
            if let Some(shell) = life.kinds.get(&kind) {
                shell.open(&openings);
            }
        }
    }
}

fn start(shell: &dyn Shell) -> Input {
    Input::Start { kind: shell.kind().clone(), hosts: shell.hosts(), pace: shell.pace() }
}

/// Whether both tables name the same members and the same removed nodes.
fn has_same_nodes(one: &Table, other: &Table) -> bool {
    one.members() == other.members() && one.removed() == other.removed()
}

impl Life {
    /// Shows a type what the table says of it; gives its id, if the cluster knows it. `before` is the table that it was shown last, if that has the same nodes.
    fn introduce(
        &mut self,
        shell: &Arc<dyn Shell>,
        table: &Arc<Table>,
        before: Option<&Table>,
    ) -> Option<KindId> {
        let id = table.kind_named(&shell.kind().name).map(|(id, _)| id);
        if let Some(id) = id {
            self.kinds.insert(id, shell.clone());
        }
        let place = |table: &Table| table.kinds().get(usize::from(id?.0)).cloned();
        let is_same = |before: &Table| match (place(before), place(table)) {
            (Some(before), Some(now)) => Arc::ptr_eq(&before, &now),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        shell.follow(self.uid, id, table, !before.is_some_and(is_same));
        id
    }

    fn order(&self, shard: ShardId, order: impl FnOnce(u32) -> Order) {
        if let Some(shell) = self.kinds.get(&shard.kind) {
            shell.order(order(shard.number));
        }
    }
}
