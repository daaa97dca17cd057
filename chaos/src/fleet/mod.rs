//! The processes of one cluster: started, ordered, harmed, heard.

mod aftermath;
mod agreement;
mod power;
mod process;
mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;

pub(crate) use self::aftermath::is_bad;
pub(crate) use self::power::{Disk, shuffled};
pub(crate) use self::process::Process;
pub(crate) use self::room::{Heard, Room};
use crate::ground::Ground;
use crate::history::EXTENSION;
use crate::janitor::Janitor;
use crate::words::{Answer, Status};

/// What all nodes know. Strangers that do not are refused.
pub(crate) const SECRET: &str = "chaos-is-no-secret-to-anybody";
/// The cluster that all nodes are of.
pub(crate) const CLUSTER: &str = "chaos";
/// How long a process may take until it listens.
const START_BOUND: Duration = Duration::from_secs(10);
/// How long a process that is not stuck takes to answer, at most.
pub(crate) const ANSWER_BOUND: Duration = Duration::from_secs(1);
/// How long a cluster may take to agree after something happened to it.
pub(crate) const SETTLE_BOUND: Duration = Duration::from_secs(40);

/// How the nodes of a fleet are set.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The program.
    pub(crate) program: PathBuf,
    /// Where logs go.
    pub(crate) folder: PathBuf,
    /// Other than the default.
    pub(crate) max_pause: Option<Duration>,
    /// Hosts of entities lose one tell in so many on purpose.
    pub(crate) lose_one_in: Option<u64>,
}

/// How the processes of a fleet are started, beyond the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Starts {
    /// Every process lists the addresses of these places as its seeds, and no other; all that began and all that live, if none.
    pub(crate) seeds: Vec<usize>,
    /// What a process that is started again at its place finds of the one before.
    pub(crate) disk: Disk,
    /// A node whose runtime stands still for so long gives up its lease; never, if none.
    pub(crate) wedged_after: Option<Duration>,
}

/// A cluster of processes. Places count from 1; a place has at most one process at a time.
pub(crate) struct Fleet {
    /// Before the ground: they are gone when it goes.
    nodes: BTreeMap<usize, Process>,
    pub(crate) ground: Ground,
    plan: Plan,
    room: Arc<Room>,
    seeds: Vec<String>,
    starts: usize,
    orders: u64,
    janitor: Option<Rc<Janitor>>,
    /// How long it took to form.
    pub(crate) formed: Duration,
    /// The logs of processes that are gone, with how long they ran.
    gone: Vec<(PathBuf, Duration)>,
    /// What processes at a place are to the entities.
    entities: BTreeMap<usize, Entities>,
    pub(crate) starts_with: Starts,
    /// Errors that processes may log, by what their lines contain.
    pub(crate) expected_errors: Vec<&'static str>,
}

/// What a process is to the entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entities {
    /// The word for it: `host` or `proxy`.
    pub(crate) part: &'static str,
    /// Whether it writes a history.
    pub(crate) is_written_down: bool,
}

impl Fleet {
    pub(crate) fn new(ground: Ground, plan: Plan, janitor: Option<Rc<Janitor>>) -> Self {
        Self {
            nodes: BTreeMap::new(),
            ground,
            plan,
            room: Arc::default(),
            seeds: Vec::new(),
            starts: 0,
            orders: 0,
            janitor,
            formed: Duration::ZERO,
            gone: Vec::new(),
            entities: BTreeMap::new(),
            starts_with: Starts::default(),
            expected_errors: Vec::new(),
        }
    }

    /// Processes started at a place from now on have something to do with entities.
    pub(crate) fn give_entities(&mut self, place: usize, entities: Entities) {
        self.entities.insert(place, entities);
    }

    /// The longest freeze that a healthy node may show, if it is not the default.
    pub(crate) fn max_pause(&self) -> Option<Duration> {
        self.plan.max_pause
    }

    /// Where logs and histories are.
    pub(crate) fn folder(&self) -> &Path {
        &self.plan.folder
    }

    /// What the process at a place is called, this start of it.
    pub(crate) fn process_name(&self, place: usize) -> Result<String, String> {
        Ok(started(place, self.process(place)?.start))
    }

    /// The first sender of the process at a place.
    pub(crate) fn first_sender(&self, place: usize) -> Result<u32, String> {
        Ok(first_sender(self.process(place)?.start))
    }

    /// The logs of all processes that were ever started, with how long each ran.
    pub(crate) fn logs(&self) -> Vec<(PathBuf, Duration)> {
        let running = self.nodes.values().map(|process| (process.log.clone(), process.since.elapsed()));
        running.chain(self.gone.iter().cloned()).collect()
    }

    /// Which places have a process.
    pub(crate) fn places(&self) -> Vec<usize> {
        self.nodes.keys().copied().collect()
    }

    /// Starts nodes at the first places, all at once, and waits until they agree: how long that took. All of them are seeds, unless
    /// `starts_with` says otherwise.
    pub(crate) fn form(&mut self, nodes: usize) -> Result<Duration, String> {
        let began = self.launch_all(nodes)?;
        for place in 1..=nodes {
            self.listening(place)?;
        }
        self.settled(SETTLE_BOUND)?;
        self.formed = began.elapsed();
        Ok(self.formed)
    }

    /// The same, and waits for nothing: when it began.
    pub(crate) fn launch_all(&mut self, nodes: usize) -> Result<Instant, String> {
        self.ground.prepare(nodes)?;
        let seeds = match self.starts_with.seeds.as_slice() {
            [] => (1..=nodes).collect(),
            listed => listed.to_vec(),
        };
        self.seeds = seeds.into_iter().map(|place| self.ground.advertised(place)).collect();
        let began = Instant::now();
        for place in 1..=nodes {
            self.launch(place)?;
        }
        Ok(began)
    }

    /// Starts a node at a place, and waits until it listens.
    pub(crate) fn start(&mut self, place: usize) -> Result<(), String> {
        self.ground.prepare(place)?;
        self.launch(place)?;
        self.listening(place)
    }

    fn launch(&mut self, place: usize) -> Result<(), String> {
        assert!(!self.nodes.contains_key(&place), "there is a process at {place}");
        self.starts += 1;
        let start = self.starts;
        let mut command = self.ground.command(place, &self.plan.program);
        command.args(["--cluster", CLUSTER, "--secret", SECRET, "--id", &name(place)]);
        command.args(["--listen", &self.ground.listens(place)]);
        command.args(["--advertise", &self.ground.advertised(place)]);
        for seed in self.seeds_now() {
            command.args(["--seed", &seed]);
        }
        if let Some(pause) = self.plan.max_pause {
            command.args(["--max-pause-ms", &pause.as_millis().to_string()]);
        }
        if let Some(time) = self.starts_with.wedged_after {
            command.args(["--wedged-after-ms", &time.as_millis().to_string()]);
        }
        if let Some(folder) = self.data_folder(place) {
            command.arg("--data-dir").arg(folder);
        }
        let name = started(place, start);
        if let Some(entities) = self.entities.get(&place) {
            command.args(["--entities", entities.part, "--first-sender", &first_sender(start).to_string()]);
            if entities.is_written_down {
                command.arg("--history").arg(self.plan.folder.join(&name).with_extension(EXTENSION));
            }
            if let Some(one_in) = self.plan.lose_one_in.filter(|_| entities.part == "host") {
                command.args(["--lose-one-in", &one_in.to_string()]);
            }
        }
        let process = Process::start(command, start, &self.room, &self.plan.folder, &name)?;
        if let Some(janitor) = &self.janitor {
            janitor.note_process(process.id());
        }
        self.nodes.insert(place, process);
        Ok(())
    }

    /// What a process that is started now is told to look for.
    fn seeds_now(&self) -> BTreeSet<String> {
        let mut seeds: BTreeSet<_> = self.seeds.iter().cloned().collect();
        if self.starts_with.seeds.is_empty() {
            // Those who live now, too: of those who began, none may be left.
            seeds.extend(self.nodes.keys().map(|place| self.ground.advertised(*place)));
        }
        seeds
    }

    /// Waits until the process at a place listens.
    pub(crate) fn listening(&self, place: usize) -> Result<(), String> {
        let start = self.process(place)?.start;
        let listens = self.room.wait(START_BOUND, |heard| match heard.get(&start) {
            Some(of_it) if of_it.is_listening => Ok(true),
            Some(of_it) if of_it.is_over => Ok(false),
            _ => Err(format!("{} does not listen", name(place))),
        })?;
        if listens { Ok(()) } else { Err(format!("{} ended before it listened; see its log", name(place))) }
    }

    /// Kills a process, as the power cut does.
    pub(crate) fn kill(&mut self, place: usize) -> Result<Instant, String> {
        let process = self.take(place)?;
        drop(process);
        Ok(Instant::now())
    }

    /// Stops a process as it stands.
    pub(crate) fn freeze(&self, place: usize) -> Result<(), String> {
        self.process(place)?.signal(Signal::STOP)
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self, place: usize) -> Result<(), String> {
        self.process(place)?.signal(Signal::CONT)
    }

    /// Ends a process in order, as an operator does, and waits until it is gone.
    pub(crate) fn terminate(&mut self, place: usize, bound: Duration) -> Result<ExitStatus, String> {
        let mut process = self.take(place)?;
        process.signal(Signal::TERM)?;
        process.wait(bound).map_err(|why| format!("{} after SIGTERM: {why}", name(place)))
    }

    fn take(&mut self, place: usize) -> Result<Process, String> {
        let process = self.nodes.remove(&place).ok_or_else(|| format!("nothing runs at {place}"))?;
        self.gone.push((process.log.clone(), process.since.elapsed()));
        Ok(process)
    }

    pub(crate) fn process(&self, place: usize) -> Result<&Process, String> {
        self.nodes.get(&place).ok_or_else(|| format!("nothing runs at {place}"))
    }

    /// Gives an order without waiting for what comes of it: its number.
    pub(crate) fn order(&mut self, place: usize, words: &str) -> Result<u64, String> {
        self.orders += 1;
        let id = self.orders;
        let process = self.nodes.get_mut(&place).ok_or_else(|| format!("nothing runs at {place}"))?;
        process.order(&format!("{id} {words}")).map_err(|why| format!("{}: {why}", name(place)))?;
        Ok(id)
    }

    /// Waits for what came of an order.
    pub(crate) fn answer(&self, place: usize, id: u64, bound: Duration) -> Result<Answer, String> {
        let start = self.process(place)?.start;
        self.room.wait(bound, |heard| {
            let of_it = heard.get_mut(&start).ok_or("it was never started")?;
            of_it.answers.remove(&id).ok_or_else(|| format!("{} has not answered order {id}", name(place)))
        })
    }

    /// Whether there is an answer already.
    pub(crate) fn is_answered(&self, place: usize, id: u64) -> Result<bool, String> {
        let start = self.process(place)?.start;
        self.room.wait(Duration::ZERO, |heard| {
            Ok(heard.get(&start).is_some_and(|of_it| of_it.answers.contains_key(&id)))
        })
    }

    /// An order and what came of it; one that did not work is an error.
    pub(crate) fn ask(&mut self, place: usize, words: &str, bound: Duration) -> Result<Answer, String> {
        let id = self.order(place, words)?;
        match self.answer(place, id, bound)? {
            Answer::Failed { why } => Err(format!("{}: {words}: {why}", name(place))),
            answer => Ok(answer),
        }
    }

    /// How a process is; one that is stuck is an error.
    pub(crate) fn status(&mut self, place: usize) -> Result<Status, String> {
        match self.ask(place, "status", ANSWER_BOUND)? {
            Answer::Status(status) => Ok(*status),
            other => Err(format!("{} answered {other:?} to status", name(place))),
        }
    }

    /// Waits until the status of a process is as wanted.
    pub(crate) fn status_until(
        &mut self,
        place: usize,
        bound: Duration,
        mut wanted: impl FnMut(&Status) -> Result<(), String>,
    ) -> Result<Status, String> {
        let until = Instant::now() + bound;
        loop {
            let status = self.status(place)?;
            match wanted(&status) {
                Ok(()) => return Ok(status),
                Err(why) if Instant::now() >= until => {
                    return Err(format!("{} not within {bound:?}: {why}", name(place)));
                }
                // What is counted there is told nobody: it has to be asked for.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Waits until what was heard of one process is as wanted.
    pub(crate) fn hear<T>(
        &self,
        place: usize,
        bound: Duration,
        mut wanted: impl FnMut(&Heard) -> Result<T, String>,
    ) -> Result<T, String> {
        let start = self.process(place)?.start;
        let heard = self.room.wait(bound, |heard| wanted(heard.get(&start).ok_or("it was never started")?));
        heard.map_err(|why| format!("{}: {why}", name(place)))
    }

    /// Which life a process lives.
    pub(crate) fn uid(&self, place: usize) -> Result<u64, String> {
        self.hear(place, ANSWER_BOUND, |heard| Ok(heard.view().ok_or("it has said nothing")?.uid))
    }
}

/// What a process is called.
fn started(place: usize, start: usize) -> String {
    format!("{}-start{start}", name(place))
}

/// Each process has room for ten senders.
fn first_sender(start: usize) -> u32 {
    u32::try_from(start * 10).unwrap_or(u32::MAX)
}

/// What the node at a place is called.
pub(crate) fn name(place: usize) -> String {
    format!("n{place}")
}
