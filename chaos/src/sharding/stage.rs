//! Hosts and clients under load: set, harmed, checked.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::layout::Layout;
use super::verdict::{Gap, Played};
use crate::fleet::{Entities, Fleet, Heard, SETTLE_BOUND, name};
use crate::history::{self, Expected, History, Lives, now};
use crate::words::{Answer, LEDGER, LoadCounts, ShardsOf, View};

/// How many entities there are.
pub(super) const IDS: u32 = 10_000;
/// Where the client is: after all hosts, also those to come.
pub(super) const CLIENT: usize = 7;
/// Where the second is.
pub(super) const SECOND_CLIENT: usize = 8;
/// The longest freeze that a healthy process may show, by default.
const MAX_PAUSE: Duration = Duration::from_millis(400);
/// How long shards may take to be balanced.
pub(super) const BALANCE_BOUND: Duration = Duration::from_secs(40);
/// How long the end of a load may take: until the last ask has timed out.
const STOP_BOUND: Duration = Duration::from_secs(60);
/// How long a node may take to say what all nodes host.
const SHARDS_BOUND: Duration = Duration::from_secs(8);
/// What a process logs at ERROR that something was done to, when it hears that the others went on without it.
const REMOVED: &str = "the cluster removed this node and goes on without it";
/// How often it is asked.
const LOOK: Duration = Duration::from_millis(100);

/// Hosts and clients, and what is to be expected of their history.
pub(super) struct Stage<'a> {
    pub(super) fleet: &'a mut Fleet,
    pub(super) expected: Expected,
    /// When the last harm was done.
    harmed_at: Option<u64>,
    /// Until when it lasted: what was sent later waits for other reasons.
    harmed_until: u64,
    /// Processes that may have no turn between two moments.
    quiet: Vec<(String, u64, u64)>,
    /// Between which moments there was no coordinator.
    gap: Option<(u64, u64)>,
    clients: Vec<usize>,
    rate: u64,
}

impl<'a> Stage<'a> {
    /// Starts hosts, clients and their load, and waits until every entity lives and shards are balanced.
    pub(super) fn set(
        fleet: &'a mut Fleet,
        hosts: usize,
        clients: usize,
        rate: u64,
        is_written_down: bool,
    ) -> Result<Self, String> {
        let mut stage = Self::without_load(fleet, hosts, clients, rate, is_written_down)?;
        stage.raise_load()?;
        Ok(stage)
    }

    /// Starts hosts and clients.
    pub(super) fn without_load(
        fleet: &'a mut Fleet,
        hosts: usize,
        clients: usize,
        rate: u64,
        is_written_down: bool,
    ) -> Result<Self, String> {
        for place in 1..CLIENT {
            fleet.give_entities(place, Entities { part: "host", is_written_down });
        }
        fleet.form(hosts)?;
        let clients: Vec<_> = [CLIENT, SECOND_CLIENT].into_iter().take(clients).collect();
        let stage = Self {
            fleet,
            expected: Expected::default(),
            harmed_at: None,
            harmed_until: u64::MAX,
            quiet: Vec::new(),
            gap: None,
            clients,
            rate,
        };
        for client in stage.clients.clone() {
            stage.fleet.give_entities(client, Entities { part: "proxy", is_written_down });
            stage.fleet.start(client)?;
            // One after the other: who came first votes first.
            stage.fleet.settled(SETTLE_BOUND)?;
        }
        Ok(stage)
    }

    /// Begins the load of all clients, and waits until every entity lives and shards are balanced.
    pub(super) fn raise_load(&mut self) -> Result<(), String> {
        for client in self.clients.clone() {
            self.begin_load(client)?;
        }
        self.every_entity_has_had_a_turn()?;
        self.balanced()?;
        self.tolerates()
    }

    pub(super) fn begin_load(&mut self, client: usize) -> Result<(), String> {
        let rate = self.rate;
        self.fleet.ask(client, &format!("load start {rate}"), Duration::from_secs(2)).map(drop)
    }

    /// Ends the load of a client, and waits until its last ask has ended.
    pub(super) fn end_load(&mut self, client: usize) -> Result<LoadCounts, String> {
        match self.fleet.ask(client, "load stop", STOP_BOUND)? {
            Answer::Load(counts) => Ok(counts),
            other => Err(format!("{other:?} to load stop")),
        }
    }

    /// Nothing happens for a time, and nobody sends; then the load of all clients goes on.
    pub(super) fn rest(&mut self, time: Duration) -> Result<(), String> {
        for client in self.clients.clone() {
            self.end_load(client)?;
        }
        // How long it lasts is what is tested.
        std::thread::sleep(time);
        for client in self.clients.clone() {
            self.begin_load(client)?;
        }
        self.every_entity_has_had_a_turn()
    }

    /// What the first client's load has done so far.
    pub(super) fn counts(&mut self) -> Result<LoadCounts, String> {
        match self.fleet.ask(CLIENT, "load look", Duration::from_secs(5))? {
            Answer::Load(counts) => Ok(counts),
            other => Err(format!("{other:?} to load look")),
        }
    }

    /// Where hosts run.
    pub(super) fn hosts(&self) -> Vec<usize> {
        self.fleet.places().into_iter().filter(|place| *place < CLIENT).collect()
    }

    /// Waits until the first client has sent to every entity once more.
    pub(super) fn every_entity_has_had_a_turn(&mut self) -> Result<(), String> {
        let sent = |counts: LoadCounts| counts.tells + counts.asks;
        // The senders are not in step: a quarter of a round more.
        let enough = sent(self.counts()?) + u64::from(IDS) * 5 / 4;
        let until = Instant::now() + SETTLE_BOUND;
        loop {
            let now = sent(self.counts()?);
            if now >= enough {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("the load stands still: {now} of {enough} messages were sent"));
            }
            // Nobody says when: it has to be asked for.
            std::thread::sleep(LOOK);
        }
    }

    /// How many messages the entities of a type have had, and how many of them were out of order.
    pub(super) fn received(&mut self, kind: &str) -> Result<(u64, u64), String> {
        match self.fleet.ask(CLIENT, &format!("received {kind}"), STOP_BOUND)? {
            Answer::Received { received, misplaced, .. } => Ok((received, misplaced)),
            other => Err(format!("{other:?} to received")),
        }
    }

    /// What lives where of a type, as the client hears it.
    pub(super) fn shards(&mut self, kind: &str) -> Result<Vec<ShardsOf>, String> {
        match self.fleet.ask(CLIENT, &format!("shards {kind}"), SHARDS_BOUND)? {
            Answer::Shards { nodes } => Ok(nodes),
            other => Err(format!("{other:?} to shards")),
        }
    }

    /// Waits until the shards of `ledger` are balanced over the hosts that run.
    pub(super) fn balanced(&mut self) -> Result<Layout, String> {
        let hosts = self.hosts();
        self.balanced_over(LEDGER, &hosts)
    }

    /// Waits until the shards of a type are balanced over these places.
    pub(super) fn balanced_over(&mut self, kind: &str, places: &[usize]) -> Result<Layout, String> {
        let hosts: BTreeSet<_> = places.iter().map(|place| name(*place)).collect();
        let until = Instant::now() + BALANCE_BOUND;
        loop {
            let nodes = self.shards(kind)?;
            match Layout::balanced(&nodes, &hosts) {
                Ok(layout) => return Ok(layout),
                Err(why) if Instant::now() > until => {
                    return Err(format!("not within {BALANCE_BOUND:?}: {why}"));
                }
                // Nobody says when: it has to be asked for.
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    /// Waits until every node says that one more may be lost.
    pub(super) fn tolerates(&mut self) -> Result<(), String> {
        for place in self.fleet.places() {
            self.fleet.hear(place, SETTLE_BOUND, |heard| match heard.view() {
                Some(view) if view.tolerates > 0 && view.standing == "member" => Ok(()),
                view => Err(format!(
                    "it tolerates no loss: {:?}",
                    view.map(|view| (&view.standing, &view.voters))
                )),
            })?;
        }
        Ok(())
    }

    /// Where the coordinator is, as those know who vote; waits until there is one other than that life.
    pub(super) fn coordinator_after(&mut self, before: Option<u64>) -> Result<usize, String> {
        let until = Instant::now() + SETTLE_BOUND;
        while Instant::now() < until {
            for place in self.hosts() {
                let known = self.fleet.hear(place, Duration::ZERO, |heard| {
                    Ok(heard.view().and_then(|view| view.coordinator))
                })?;
                let Some(uid) = known.filter(|uid| Some(*uid) != before) else { continue };
                for place in self.fleet.places() {
                    if self.fleet.uid(place)? == uid {
                        return Ok(place);
                    }
                }
            }
            // Any of them may be the first to know.
            std::thread::sleep(LOOK);
        }
        Err(format!("there is no coordinator within {SETTLE_BOUND:?}"))
    }

    /// Waits until somebody follows another coordinator than that life, which was lost after `since`: when the first said so.
    pub(super) fn followed_after(&mut self, lost: u64, since: Instant) -> Result<u64, String> {
        self.coordinator_after(Some(lost))?;
        let follows = |(when, view): &&(Instant, View)| {
            *when > since && view.coordinator.is_some_and(|coordinator| coordinator != lost)
        };
        let mut first: Option<Instant> = None;
        for place in self.fleet.places() {
            let said = self.fleet.hear(place, Duration::ZERO, |heard| {
                Ok(heard.views.iter().find(follows).map(|(when, _)| *when))
            })?;
            first = first.into_iter().chain(said).min();
        }
        first.map(history::moment).ok_or_else(|| "nobody follows another coordinator any more".to_owned())
    }

    /// Where the coordinator is.
    pub(super) fn coordinator(&mut self) -> Result<usize, String> {
        self.coordinator_after(None)
    }

    /// Something happens to these places now: what lived there may begin anew elsewhere.
    pub(super) fn harm(&mut self, places: &[usize]) -> Result<u64, String> {
        let mut harmed = match std::mem::take(&mut self.expected.lives) {
            Lives::Last => BTreeSet::new(),
            Lives::EndIn(harmed) => harmed,
            Lives::EndAnywhere => {
                self.expected.lives = Lives::EndAnywhere;
                self.harmed_at = Some(now());
                return Ok(now());
            }
        };
        for place in places {
            harmed.insert(self.fleet.process_name(*place)?);
        }
        self.expected.lives = Lives::EndIn(harmed);
        let at = now();
        self.harmed_at = Some(at);
        Ok(at)
    }

    /// The harm begins to show now: how soon all answer again is measured from here.
    pub(super) fn harm_shows(&mut self) {
        self.harmed_at = Some(now());
    }

    /// The harm is over: what is sent from now on waits for planned moves at most.
    pub(super) fn harm_is_over(&mut self) {
        self.harmed_until = now();
    }

    /// Waits until a life is up in the eyes of none of these places. The harm shows once one of them has removed it.
    pub(super) fn removed(&mut self, uid: u64, places: &[usize], bound: Duration) -> Result<(), String> {
        let until = Instant::now() + bound;
        loop {
            let (looked, mut seen) = (now(), 0);
            for place in places {
                let is_up = |heard: &Heard| Ok(heard.view().is_some_and(|view| view.up().contains(&uid)));
                seen += usize::from(self.fleet.hear(*place, Duration::ZERO, is_up)?);
            }
            if seen == 0 {
                return Ok(());
            }
            if seen == places.len() {
                self.harmed_at = Some(looked);
            }
            if Instant::now() > until {
                return Err(format!("{uid} is still up in the eyes of {seen} after {bound:?}"));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until the process at a place has logged something.
    pub(super) fn logged(&self, place: usize, text: &str, bound: Duration) -> Result<(), String> {
        let log = self.fleet.process(place)?.log.clone();
        let until = Instant::now() + bound;
        loop {
            let lines = std::fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
            if String::from_utf8_lossy(&lines).contains(text) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("{} has not logged {text:?} within {bound:?}", name(place)));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Kills a host, as the power cut does.
    pub(super) fn kill(&mut self, place: usize) -> Result<u64, String> {
        let at = self.harm(&[place])?;
        self.fleet.kill(place)?;
        Ok(at)
    }

    /// The senders of the client at a place are cut off until that moment.
    pub(super) fn set_apart(&mut self, client: usize, until: u64) -> Result<(), String> {
        let first = self.fleet.first_sender(client)?;
        self.expected.apart.extend((first..first + 10).map(|sender| (sender, until)));
        Ok(())
    }

    /// The client at a place is about to be killed: what it has just sent nobody will have written down.
    pub(super) fn cut_short(&mut self, client: usize) -> Result<(), String> {
        let first = self.fleet.first_sender(client)?;
        self.expected.cut_short.extend(first..first + 10);
        Ok(())
    }

    /// There was no coordinator between two moments: what lives on others answers all the same.
    pub(super) fn expect_answers(&mut self, from: u64, to: u64) {
        self.gap = Some((from, to));
    }

    /// The longest freeze that a healthy process may show.
    pub(super) fn max_pause(&self) -> Duration {
        self.fleet.max_pause().unwrap_or(MAX_PAUSE)
    }

    /// The process at a place may have no turn between two moments.
    pub(super) fn expect_quiet(&mut self, place: usize, from: u64, to: u64) -> Result<(), String> {
        let process = self.fleet.process_name(place)?;
        self.quiet.push((process, from, to));
        Ok(())
    }

    /// Ends the load of all clients, for good: what went wrong.
    pub(super) fn end_all_load(&mut self) -> Vec<String> {
        let clients = std::mem::take(&mut self.clients);
        clients.into_iter().filter_map(|client| self.end_load(client).err()).collect()
    }

    /// Ends the load, has every entity read, and checks the history.
    pub(super) fn finish(self) -> Result<Played, String> {
        self.close().map(|(played, _)| played)
    }

    /// As [`finish`](Self::finish), with the history itself.
    pub(super) fn close(mut self) -> Result<(Played, History), String> {
        let mut faults = self.end_all_load();
        faults.extend(self.fleet.ask(CLIENT, "read", STOP_BOUND).err());
        for place in self.fleet.places() {
            faults.extend(self.fleet.status(place).err());
        }
        let history = History::read(self.fleet.folder())?;
        let findings = history::check(&history, &self.expected, IDS);
        let again =
            self.harmed_at.map(|harmed| history::again(&history, &self.expected, harmed, self.harmed_until));
        let mut played = Played::new(findings, again);
        for fault in faults {
            played.fault(fault);
        }
        played.gap = self.gap.map(|(from, to)| Gap {
            time: Duration::from_nanos(to.saturating_sub(from)),
            meanwhile: history::meanwhile(&history, &self.expected, from, to),
        });
        for (process, from, to) in &self.quiet {
            let place = history.processes.iter().position(|name| name == process);
            let is_loud = |(of, at): (usize, u64)| Some(of) == place && at > *from && at < *to;
            let turns = history.turns.iter().map(|(of, turn)| (*of, turn.signed.at));
            let loud = turns.filter(|turn| is_loud(*turn)).count();
            if loud > 0 {
                played.fault(format!("{process} had {loud} turns though its lease was over"));
            }
        }
        for (log, _) in self.fleet.logs() {
            let mut errors = self.fleet.expected_errors.clone();
            let process = log.file_stem().unwrap_or_default().to_string_lossy();
            if matches!(&self.expected.lives, Lives::EndIn(harmed) if harmed.contains(process.as_ref())) {
                errors.push(REMOVED);
            }
            played.look_at_log(&log, &errors)?;
        }
        Ok((played, history))
    }
}
