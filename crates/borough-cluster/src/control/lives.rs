//! The lives of a node, one after the other.
//!
//! ```text
//!    +------ gave up: a new uid, after a pause; recovers: one that founds <----+
//!    v                                                                         |
//! asks its discovery --seeds--> the machine, driven until its life ends -------+--> left, closed, refused: nothing more
//! ```
//! Promise: lives do not mix. Every connection of a life is closed before the next begins, and the next has another uid.

use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borough_protocol::Effects;
use borough_protocol::formation::{FoundingRule, Memory, Search};
use borough_protocol::incarnation::{Address, Facts};
use borough_protocol::node::{Command, End, GaveUp, Input, Node, Start};
use borough_protocol::settings::Checked;
use borough_protocol::table::Cluster;
use borough_protocol::time::Timestamp;
use borough_sqlite::REPLACE;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::addresses::Addresses;
use super::backoff::Backoff;
use super::disk::Disk;
use super::driver::{Driver, Heard, Inputs};
use super::gate::Guests;
use super::hands::Hands;
use super::outbound::Means;
use super::outlook::Outlook;
use super::peers::Peers;
use super::waiting::Waiting;
use crate::discovery::Discovery;
use crate::link::Hub;
use crate::myself::Myself;
use crate::sharding::{Sharding, Sight};
use crate::topology::{Failure, Publisher, Standing, TopologySnapshot};

/// How many members of its last life a node looks for besides the seeds.
const REMEMBERED: usize = 32;

/// A discovery is asked so many times less often than a peer is dialled: from 250 ms up to 5 s.
const SLOWLY: u32 = 5;

/// For so long one that recovers its cluster looks for seeds.
const RECOVERY_LOOK: Duration = Duration::from_secs(1);

/// The discovery of a node that runs is asked that often.
const SEEDS_EVERY: Duration = Duration::from_secs(1);

/// What all lives of a node have in common.
pub(crate) struct Plan {
    /// What it says of itself.
    pub(crate) facts: Facts,
    /// The settings.
    pub(crate) settings: Checked,
    /// Where it looks for others; `None` if it is to found a cluster by itself.
    pub(crate) discovery: Option<Arc<dyn Discovery>>,
    /// When it may found a cluster.
    pub(crate) founding: FoundingRule,
    /// Whether it comes back after it gave up.
    pub(crate) rejoin: bool,
}

/// Everything a node lives by.
pub(super) struct Lives {
    pub(super) plan: Plan,
    pub(super) myself: Myself,
    pub(super) means: Means,
    pub(super) hub: Arc<Hub>,
    pub(super) sharding: Arc<Sharding>,
    pub(super) guests: Arc<Guests>,
    pub(super) publisher: Publisher,
    pub(super) outlook: Arc<Outlook>,
    /// What the process around wants.
    pub(super) commands: mpsc::Receiver<Input>,
    /// The other end of it.
    pub(super) to_itself: mpsc::WeakSender<Input>,
    /// What others say.
    pub(super) words: mpsc::Receiver<Heard<Input>>,
    /// Its data directory, if it has one.
    pub(super) disk: Option<Disk>,
    /// What the disk says.
    pub(super) disk_inputs: mpsc::UnboundedReceiver<Input>,
    /// Somebody wants the node to leave: it does not come back.
    pub(super) is_leaving: Arc<AtomicBool>,
    /// The data directory does not say how the node ended.
    pub(super) is_unwritten: Arc<AtomicBool>,
}

impl Lives {
    /// Until the last life ends, or nobody holds the node any more.
    pub(super) async fn run(&mut self) {
        let mut backoff = Backoff::new(self.means.chance.clone());
        let mut known = Vec::new();
        let mut past = Past { process_since: self.means.clock.now(), ..Past::default() };
        loop {
            let seeds = match self.prepare(past.recovers || !known.is_empty()).await {
                Found::Seeds(seeds) => Some(seeds),
                Found::NoList => None,
                Found::ToLeave => {
                    self.close().await;
                    return self.publisher.end(Standing::Left);
                }
                Found::NobodyHolds => return,
            };
            let search = Search {
                is_unlisted: seeds.is_none(),
                seeds: seeds.unwrap_or_default(),
                known: known.clone(),
                founding: self.plan.founding,
                memory: past.memory.clone(),
                bond: None,
                pledges: None,
                prefers: past.prefers,
                leases_until: None,
            };
            let Some(Over { end, last, shards, memory }) = self.live(search, &past).await else { return };
            past.note(&end, &last, memory);
            if last.standing == Standing::Member || last.standing == Standing::Suspended {
                backoff.reset();
            }
            let standing = self.standing_after(end);
            tracing::info!(life = %self.myself.incarnation(), %standing, "this incarnation of the node has ended");
            if standing.is_final() {
                self.outlook.end(&last, shards);
                self.guests.send_away();
                self.sharding.end();
                self.hub.end();
                // Before anybody hears of the end: the disk says the same by then, and others may use it.
                self.close().await;
                if standing == Standing::Left {
                    self.say_if_it_votes();
                }
                return self.publisher.end(standing);
            }
            self.publisher.end(standing);
            self.outlook.end(&last, shards);
            self.guests.send_away();
            self.hub.end_life();
            let met = addresses(&last);
            // A life that met nobody must not make the node forget whom the one before knew.
            if met.iter().any(|address| *address != last.incarnation.address) {
                known = met;
            }
            if !past.recovers {
                sleep(backoff.pause()).await;
            }
            self.myself.begin(self.means.chance.uid());
            self.hub.begin_life();
            // Whoever came in between spoke to the life before.
            self.guests.send_away();
            while self.words.try_recv().is_ok() {}
            self.publisher.begin(self.myself.incarnation());
            self.outlook.begin();
        }
    }

    /// Gives the data directory free, once all is written or the disk does not answer.
    pub(super) async fn close(&mut self) {
        if let Some(disk) = &mut self.disk
            && !disk.close().await
        {
            self.is_unwritten.store(true, Ordering::Release);
        }
    }

    /// A node that left may still be a voter by its directory: nobody had taken its place when the last ones went together.
    fn say_if_it_votes(&mut self) {
        if let Some(disk) = &mut self.disk
            && disk.votes()
        {
            tracing::warn!(
                path = %disk.path().display(),
                "node left, but its data directory still counts as a voter, because no other node could take its place: keep the directory; without it the voters may lack their majority when the nodes start again"
            );
        }
    }

    /// What comes before a life: the disk has what the life before gave out, and the discovery has found somebody.
    async fn prepare(&mut self, is_once: bool) -> Found {
        if let Some(disk) = &mut self.disk {
            tokio::select! {
                biased;
                () = disk.settled() => {}
                goes = told_to_go(&mut self.commands) => return goes,
            }
        }
        // A node that belongs to a cluster finds it by the addresses on its disk, and need not wait for a discovery that fails.
        let has_record = self.disk.as_ref().is_some_and(Disk::has_record);
        self.look_around(is_once || has_record).await
    }

    /// How the node stands after a life that ended so.
    fn standing_after(&self, end: End) -> Standing {
        if let (End::GaveUp(GaveUp::Copy), Some(disk)) = (&end, &self.disk) {
            tracing::error!(
                path = %disk.path().display(),
                "the data directory is an older copy: the cluster knows a later state of it. Node gives up the vote of that directory and joins as a new voter; do not restore data directories from backups, and do not start a copy beside its original"
            );
        }
        match end {
            End::Left => Standing::Left,
            End::Closed => Standing::Closed,
            End::GaveUp(why) if self.is_leaving.load(Ordering::Relaxed) => {
                tracing::warn!(?why, "node stopped without having left: no majority of the voters answered");
                Standing::Left
            }
            End::GaveUp(why) if self.plan.rejoin || why == GaveUp::Recovers => Standing::Returning(why),
            End::GaveUp(why) => Standing::GaveUp(why),
            End::Unreadable(why) => {
                let path = self.disk.as_ref().map(|disk| disk.path().to_owned()).unwrap_or_default();
                tracing::error!(
                    path = %path.display(),
                    %why,
                    "the data directory does not hold the log of a voter. Do not restore an older copy of it, which would forget votes: {REPLACE}"
                );
                Standing::Failed(Failure::DataDirectory)
            }
            End::Refused(refusal) => {
                tracing::error!(%refusal, "node cannot join the cluster: a setting differs");
                Standing::Refused(refusal)
            }
        }
    }

    /// One life, from its beginning to its end, with what was last known in it; `None` if nobody holds the node any more.
    async fn live(&mut self, search: Search, past: &Past) -> Option<Over> {
        let me = self.myself.incarnation();
        self.sharding.lease.begin(me.uid);
        self.sharding.show(|sight| {
            *sight = Sight { life: me.uid, table: None, drains: false };
            true
        });
        tracing::info!(life = %me, seeds = ?search.seeds, "node looks for its cluster");
        let listed = search.seeds.clone();
        let (clock, chance) = (&self.means.clock, &self.means.chance);
        let mut facts = self.plan.facts.clone();
        let disk = match &mut self.disk {
            Some(disk) => {
                let (image, identity) = disk.begin_life(&mut self.disk_inputs);
                facts.disk = Some(identity);
                Some(image)
            }
            None => None,
        };
        let start = Start {
            me,
            facts,
            search,
            settings: self.plan.settings.clone(),
            era: clock.era().max(past.era),
            seed: chance.number(),
            recovers: past.recovers,
            disk,
            process_since: past.process_since,
        };
        let mut effects = Effects::default();
        let machine = Node::new(clock.now(), start, &mut effects);
        let performer = Hands {
            peers: Peers::new(self.means.clone()),
            hub: self.hub.clone(),
            sharding: self.sharding.clone(),
            outlook: self.outlook.clone(),
            publisher: &mut self.publisher,
            waiting: Waiting::new(clock.now(), self.means.addresses.clone()),
            disk: self.disk.as_mut(),
        };
        let mut driver = Driver { machine, performer, clock: clock.clone(), deadline: || Input::Deadline };
        let inputs =
            Inputs { commands: &mut self.commands, heard: &mut self.words, disk: &mut self.disk_inputs };
        let end = tokio::select! {
            biased;
            end = driver.run(effects, inputs) => end,
            never = watch_seeds(self.plan.discovery.as_ref(), listed, &self.to_itself, &self.means.addresses) => match never {},
        };
        let memory = driver.machine.memory();
        drop(driver);
        // Whatever lived here ends with this life.
        self.sharding.lease.renew(Timestamp::ZERO);
        if let Some(End::GaveUp(why)) = &end {
            self.sharding.lose(*why).await;
        }
        let mut shards = 0;
        self.sharding.show(|sight| {
            let table = sight.table.take();
            let kinds = table.iter().flat_map(|table| table.kinds());
            shards = kinds.map(|kind| kind.shards().len()).sum();
            table.is_some()
        });
        Some(Over { end: end?, last: self.publisher.current(), shards, memory })
    }

    /// Asks the discovery until it finds somebody, or the node is to go before; once, if the node need not wait for it.
    async fn look_around(&mut self, is_once: bool) -> Found {
        let Some(discovery) = self.plan.discovery.clone() else { return Found::Seeds(Vec::new()) };
        let mut backoff = Backoff::new(self.means.chance.clone());
        loop {
            let found = tokio::select! {
                biased;
                goes = told_to_go(&mut self.commands) => return goes,
                found = discovery.seeds() => found,
                // What it asks may have died with the others.
                () = sleep(RECOVERY_LOOK), if is_once => return Found::NoList,
            };
            self.means.addresses.lock().unwrap_or_else(PoisonError::into_inner).note_discovery(&found);
            match found {
                Ok(seeds) if !seeds.is_empty() => return Found::Seeds(seeds),
                Ok(_) | Err(_) if is_once => return Found::NoList,
                Ok(_) => tracing::warn!("seed discovery found no seeds and is retried"),
                Err(error) => tracing::warn!(%error, "seed discovery failed and is retried"),
            }
            tokio::select! {
                biased;
                goes = told_to_go(&mut self.commands) => return goes,
                () = sleep(backoff.pause() * SLOWLY) => {}
            }
        }
    }
}

/// Asks the discovery again every second, as long as the life lasts: seeds come, go and change their addresses.
async fn watch_seeds(
    discovery: Option<&Arc<dyn Discovery>>,
    mut listed: Vec<Address>,
    to_itself: &mpsc::WeakSender<Input>,
    addresses: &Mutex<Addresses>,
) -> Infallible {
    let Some(discovery) = discovery else { return pending().await };
    loop {
        sleep(SEEDS_EVERY).await;
        let found = discovery.seeds().await;
        addresses.lock().unwrap_or_else(PoisonError::into_inner).note_discovery(&found);
        let Ok(seeds) = found else { continue };
        if seeds.is_empty() || seeds == listed {
            continue;
        }
        let Some(sender) = to_itself.upgrade() else { return pending().await };
        if sender.try_send(Input::Command(Command::Seeds(seeds.clone().into()))).is_ok() {
            tracing::info!(?seeds, "the list of seeds changed");
            listed = seeds;
        }
    }
}

/// A life that is over.
struct Over {
    end: End,
    /// What was known last.
    last: Arc<TopologySnapshot>,
    /// How many shards had an owner then.
    shards: usize,
    /// What the process remembers of its cluster.
    memory: Option<Arc<Memory>>,
}

/// What a life has from those before it.
#[derive(Clone, Debug, Default)]
struct Past {
    /// When the process began, or later: an earlier one had the data directory before.
    process_since: Timestamp,
    /// Whether an operator ended the last one, for this one to recover the cluster.
    recovers: bool,
    /// A founding has at least this era: no cluster that the node was in, or gave way to, had it.
    era: u32,
    /// What the process remembers of its cluster.
    memory: Option<Arc<Memory>>,
    /// The cluster that the last one yielded to.
    prefers: Option<Cluster>,
}

impl Past {
    fn note(&mut self, end: &End, last: &TopologySnapshot, memory: Option<Arc<Memory>>) {
        self.memory = memory;
        self.recovers = *end == End::GaveUp(GaveUp::Recovers);
        let met = match end {
            End::GaveUp(GaveUp::Overtaken(cluster)) => Some(*cluster),
            _ => None,
        };
        self.prefers = met;
        for cluster in last.cluster.into_iter().chain(met) {
            self.era = self.era.max(cluster.era.saturating_add(1));
        }
    }
}

/// What came of looking around.
enum Found {
    Seeds(Vec<Address>),
    /// The discovery fails. The node has addresses to look for its cluster at, and founds none before there is a list.
    NoList,
    ToLeave,
    NobodyHolds,
}

/// Ready once the node is to go.
async fn told_to_go(commands: &mut mpsc::Receiver<Input>) -> Found {
    loop {
        match commands.recv().await {
            None => return Found::NobodyHolds,
            Some(Input::Command(Command::Leave | Command::CloseCluster)) => return Found::ToLeave,
            Some(_) => {}
        }
    }
}

/// Where those listen whom a node knew last: those who vote first, because they know best.
fn addresses(last: &TopologySnapshot) -> Vec<Address> {
    let (voters, others): (Vec<_>, Vec<_>) =
        last.members.iter().partition(|member| last.voters.names(member.voter()));
    let all = voters.into_iter().chain(others);
    all.map(|member| member.address().clone()).take(REMEMBERED).collect()
}
