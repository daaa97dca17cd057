//! The nodes, what strikes them, and the last looks after everything has healed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{Address, Standing, TopologySnapshot};
use borough_protocol::random::Random;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::books::Books;
use super::fault::{Fault, Way};
use super::house::{Ground, House};
use super::plan::Plan;
use super::sender::WATCHES;
use super::words::{How, Mark, Words};
use crate::sim::Violation;

/// The counter, whoever watches, and the node's own registrar can be reached from other nodes.
const EXPORTS: usize = 3;

/// Senders go on so long after everything has healed.
const AFTERMATH: Duration = Duration::from_secs(3);
/// After so long all nodes that live are in one cluster.
const WHOLE_WITHIN: Duration = Duration::from_secs(90);
/// After so long every actor is reached from everywhere.
const REACHED_WITHIN: Duration = Duration::from_secs(40);
/// Longer than an ask or a tell takes.
const ASKS_END: Duration = Duration::from_secs(10);
/// Longer than the patience of a lane, and what a watch takes.
const QUIET: Duration = Duration::from_secs(75);
/// How often is looked whether something has come true.
const LOOK: Duration = Duration::from_millis(100);

/// See the module.
pub(super) struct World {
    plan: Plan,
    ground: Ground,
    random: Random,
    houses: Vec<Option<House>>,
    /// How many nodes were started at each place.
    starts: Vec<u32>,
}

impl World {
    pub(super) fn new(plan: &Plan, books: Books) -> Self {
        let mut random = Random::seeded(plan.seed).fork();
        let names: Arc<[String]> = (0..plan.places).map(|place| format!("n{place}")).collect();
        let ground = Ground {
            network: MemoryNetwork::new(random.next_u64()),
            books,
            addresses: names.iter().map(|name| format!("{name}:1")).collect(),
            names,
            quiet: Arc::new(AtomicBool::new(false)),
            began: Instant::now(),
        };
        let houses = (0..plan.places).map(|_| None).collect();
        let starts = vec![0; plan.places];
        Self { plan: plan.clone(), ground, random, houses, starts }
    }

    /// The whole run; how long healing took.
    pub(super) async fn run(&mut self) -> Result<Duration, Violation> {
        let own_tasks = Handle::current().metrics().num_alive_tasks();
        self.weather();
        for strike in self.plan.strikes.clone() {
            sleep_until(self.ground.began + strike.at).await;
            self.note(format_args!("{}", strike.fault));
            self.strike(strike.fault).await?;
            self.check()?;
        }
        sleep_until(self.ground.began + self.plan.length).await;
        self.heal().await?;
        let healed = Instant::now();
        let is_one = self.whole().await?;
        let took = healed.elapsed();
        self.note(format_args!("whole after {took:?}"));
        if is_one {
            self.reach_all().await?;
        }
        self.check()?;
        sleep(AFTERMATH).await;
        self.ground.quiet.store(true, Ordering::Relaxed);
        self.settle().await?;
        if is_one {
            self.whole().await?;
        }
        self.bounded().await?;
        self.end(own_tasks).await?;
        Ok(took)
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        self.ground.books.open().trace.note(what);
    }

    fn check(&self) -> Result<(), Violation> {
        self.ground.books.open().violation().map_or(Ok(()), Err)
    }

    fn address(&self, place: usize) -> Address {
        Address::new(self.ground.addresses[place].as_str())
    }

    /// What is always wrong with the network of this run.
    fn weather(&self) {
        for from in 0..self.plan.places {
            for to in 0..self.plan.places {
                self.calm(Way { from, to });
            }
        }
    }

    /// Ends what is wrong from one to the other, but for the weather.
    fn calm(&self, way: Way) {
        let (from, to) = (self.address(way.from), self.address(way.to));
        self.ground.network.heal(&from, &to);
        if !self.plan.weather.is_zero() {
            self.ground.network.delay(&from, &to, Duration::ZERO..=self.plan.weather);
        }
    }

    /// All ways into the group and out of it.
    fn around(&self, group: &[usize]) -> Vec<Way> {
        let places = 0..self.plan.places;
        let ways = places.clone().flat_map(|from| places.clone().map(move |to| Way { from, to }));
        ways.filter(|way| group.contains(&way.from) != group.contains(&way.to)).collect()
    }

    async fn strike(&mut self, fault: Fault) -> Result<(), Violation> {
        let network = self.ground.network.clone();
        match fault {
            Fault::Cut(way) => network.cut(&self.address(way.from), &self.address(way.to)),
            Fault::Isolate(group) => {
                for way in self.around(&group) {
                    network.cut(&self.address(way.from), &self.address(way.to));
                }
            }
            Fault::Refuse(way) => network.refuse(&self.address(way.from), &self.address(way.to)),
            Fault::Delay(way, least, most) => {
                network.delay(&self.address(way.from), &self.address(way.to), least..=most);
            }
            Fault::Slow(way, rate) => network.slow(&self.address(way.from), &self.address(way.to), rate),
            Fault::Heal(way) => self.calm(way),
            Fault::Rejoin(group) => self.around(&group).into_iter().for_each(|way| self.calm(way)),
            Fault::Reset(way) => network.reset(&self.address(way.from), &self.address(way.to)),
            Fault::ResetAll => {
                for one in 0..self.plan.places {
                    for other in 0..one {
                        network.reset(&self.address(one), &self.address(other));
                    }
                }
            }
            Fault::Crash(place) => {
                if let Some(house) = self.houses[place].take() {
                    house.crash().await;
                }
            }
            Fault::Start(place) => self.start(place).await?,
            Fault::Leave(place) => {
                if let Some(house) = &mut self.houses[place] {
                    house.leave();
                }
            }
            Fault::StopActor(place) => {
                if let Some(house) = &mut self.houses[place] {
                    house.stop_actor().await.map_err(|error| Violation::Safety("respawn", error))?;
                }
            }
        }
        Ok(())
    }

    async fn start(&mut self, place: usize) -> Result<(), Violation> {
        if self.houses[place].is_some() {
            return Ok(());
        }
        // Whoever was there before has let go of the address once its tasks had their turn.
        sleep(Duration::from_millis(1)).await;
        self.starts[place] += 1;
        let seed = self.random.next_u64();
        let house = House::open(&self.plan, &self.ground, place, seed).await;
        self.houses[place] = Some(house.map_err(|error| Violation::Safety("starts", error))?);
        Ok(())
    }

    /// Ends all that is wrong, and starts most of those again that are missing: so many that they can found a cluster.
    async fn heal(&mut self) -> Result<(), Violation> {
        self.note(format_args!("everything heals"));
        self.weather();
        for place in 0..self.plan.places {
            let is_missing = self.starts[place] > 0 && self.houses[place].is_none();
            if is_missing && self.random.per_mille(800) {
                self.start(place).await?;
            }
        }
        // The first nodes are everybody's seeds: if their cluster is gone, another is founded when all of them are there.
        for place in 0..self.plan.nodes {
            if self.houses[place].as_ref().is_none_or(|house| house.is_leaving) {
                self.strike(Fault::Crash(place)).await?;
                self.start(place).await?;
            }
        }
        Ok(())
    }

    fn standing(&self) -> Vec<(&House, Arc<TopologySnapshot>)> {
        let houses = self.houses.iter().flatten();
        houses.map(|house| (house, house.node.topology().current())).collect()
    }

    /// Waits until all who live are members of one cluster and agree on who is there. False if there are two clusters, which
    /// is no broken promise if a majority of those who found one began anew.
    async fn whole(&mut self) -> Result<bool, Violation> {
        let until = Instant::now() + WHOLE_WITHIN;
        loop {
            let Some(why) = self.not_whole() else { return Ok(true) };
            self.check()?;
            if Instant::now() >= until {
                if self.are_two() {
                    self.note(format_args!("two clusters"));
                    self.ground.books.open().tally.two_clusters = 1;
                    return Ok(false);
                }
                return Err(Violation::Liveness("whole", why));
            }
            sleep(LOOK).await;
        }
    }

    /// Why not all who live are members of one cluster and agree on who is there.
    fn not_whole(&self) -> Option<String> {
        let (leaving, staying): (Vec<_>, Vec<_>) =
            self.standing().into_iter().partition(|(house, _)| house.is_leaving);
        if let Some((house, topology)) = leaving.iter().find(|(_, topology)| !topology.standing.is_final()) {
            return Some(format!("h{} should have left and is {}", house.number, topology.standing));
        }
        let mut living: Vec<_> = staying.iter().map(|(house, _)| house.node.uid()).collect();
        living.sort_unstable();
        for (house, topology) in &staying {
            let mut up: Vec<_> = topology.up().map(borough_cluster::Member::uid).collect();
            up.sort_unstable();
            let is_alone = topology.members.len() == up.len();
            if topology.standing != Standing::Member || up != living || !is_alone {
                let number = house.number;
                let standing = &topology.standing;
                return Some(format!("h{number} is {standing} and sees {up:x?} of {living:x?}"));
            }
            if topology.cluster != staying[0].1.cluster {
                return Some(format!("h{} is of another cluster", house.number));
            }
        }
        None
    }

    /// Whether there are two clusters, and a majority of the seeds have begun anew since the first was founded.
    fn are_two(&self) -> bool {
        let has_begun_anew = |place: &usize| {
            let house = self.houses[*place].as_ref().map(|house| house.number);
            self.starts[*place] > 1
                || house.is_some_and(|house| self.ground.books.open().has_begun_anew(house))
        };
        let anew = (0..self.plan.nodes).filter(has_begun_anew).count();
        if anew <= self.plan.nodes / 2 {
            return false;
        }
        let standing = self.standing();
        let mut clusters: Vec<_> = standing.iter().filter_map(|(_, topology)| topology.cluster).collect();
        clusters.sort_unstable();
        clusters.dedup();
        clusters.len() > 1
    }

    /// Asks each counter from each node.
    async fn reach_all(&mut self) -> Result<(), Violation> {
        let until = Instant::now() + REACHED_WITHIN;
        for (from, _) in self.standing().iter().filter(|(house, _)| !house.is_leaving) {
            for (to, _) in self.standing().iter().filter(|(house, _)| !house.is_leaving) {
                while let Err(why) = self.reach(from, to).await {
                    if Instant::now() >= until {
                        let text = format!("h{} does not reach h{}: {why}", from.number, to.number);
                        return Err(Violation::Liveness("reach", text));
                    }
                    sleep(LOOK).await;
                }
            }
            let members = from.node.topology().current().up().count();
            if timeout(LOOK, from.node.wait_for(members)).await.is_err() {
                let text = format!("h{} waits for {members} members that it sees", from.number);
                return Err(Violation::Liveness("wait_for", text));
            }
        }
        Ok(())
    }

    async fn reach(&self, from: &House, to: &House) -> Result<(), String> {
        let books = &self.ground.books;
        let (name, life) = (to.node.node_id().as_str(), to.node.uid().get());
        books.open().looks_up(life);
        let found = from.node.lookup::<Words>("/counter").on(name).await;
        let counter = found.map_err(|error| error.to_string())?;
        let mark = {
            let mut books = books.open();
            let stream = books.stream(from.number, life, false);
            books.telling(stream)
        };
        let words = |reply| Words::Say { mark, answer: mark, how: How::Answer, reply };
        let (begun, time) = (Instant::now(), Duration::from_secs(5));
        let answer: Result<Mark, _> = counter.ask(words).timeout(time).await;
        let outcome = answer.as_ref().map(|_| ()).map_err(ToString::to_string);
        books.open().asked(mark, answer, begun.elapsed(), time);
        outcome
    }

    /// Waits until everything that was sent is accounted for and every watch on who is gone has fired.
    async fn settle(&self) -> Result<(), Violation> {
        sleep(ASKS_END).await;
        let until = Instant::now() + QUIET;
        loop {
            self.check()?;
            match self.ground.books.open().audit() {
                None => return Ok(()),
                Some(violation) if Instant::now() >= until => return Err(violation),
                Some(_) => {}
            }
            sleep(LOOK * 10).await;
        }
    }

    /// Waits until no more is held than the nodes that live need, whatever has happened before.
    async fn bounded(&self) -> Result<(), Violation> {
        let until = Instant::now() + QUIET;
        while let Some(text) = self.too_much() {
            if Instant::now() >= until {
                return Err(Violation::Safety("held", text));
            }
            sleep(LOOK * 10).await;
        }
        Ok(())
    }

    /// What is held beyond what is needed.
    fn too_much(&self) -> Option<String> {
        let nodes = self.houses.iter().flatten().count();
        let others = nodes.saturating_sub(1);
        for house in self.houses.iter().flatten() {
            let (links, sessions, exports) = house.node.held();
            // A link to each other node, two lanes from each.
            if links > others || sessions > 2 * others || exports > EXPORTS {
                let number = house.number;
                return Some(format!(
                    "h{number} of {nodes} holds {links} links, {sessions} sessions, {exports} exports"
                ));
            }
        }
        let (connections, tasks) = self.alive();
        // To each other node: control to its life and to its address, messages, answers.
        let connections_most = nodes * others * 4;
        // Both ends of a connection have a task, and a writer one for acknowledgements; the rest is each node's own, and its senders'.
        let tasks_most = nodes * (20 + self.plan.senders * (WATCHES + 1)) + connections_most * 3;
        (connections > connections_most || tasks > tasks_most)
            .then(|| format!("{nodes} nodes hold {connections} connections and {tasks} tasks"))
    }

    /// How many connections and tasks there are.
    fn alive(&self) -> (usize, usize) {
        (self.ground.network.connections(), Handle::current().metrics().num_alive_tasks())
    }

    /// Drops all nodes: nothing is left of them.
    async fn end(&mut self, own_tasks: usize) -> Result<(), Violation> {
        for house in self.houses.iter_mut().filter_map(Option::take) {
            house.crash().await;
        }
        let until = Instant::now() + QUIET;
        loop {
            let (connections, tasks) = self.alive();
            if connections == 0 && tasks <= own_tasks {
                return Ok(());
            }
            if Instant::now() >= until {
                let text =
                    format!("{connections} connections and {tasks} tasks are left of nodes that are gone");
                return Err(Violation::Safety("left_over", text));
            }
            sleep(LOOK).await;
        }
    }
}
