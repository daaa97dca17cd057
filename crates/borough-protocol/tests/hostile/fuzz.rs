//! Whatever is said, from whomever, to nodes in the middle of their work: no node panics, and what must always hold does.
//!
//! A run is made by its seed alone. `BOROUGH_HOSTILE_SEED` says with which seed to begin, `BOROUGH_HOSTILE_SEEDS` how many to run.

use std::collections::BTreeSet;
use std::env;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Command, Input, Message};
use borough_protocol::random::Random;

use crate::net::{Net, SECOND};
use crate::pieces::Liar;
use crate::words::kind;

const FIRST: &str = "BOROUGH_HOSTILE_SEED";
const COUNT: &str = "BOROUGH_HOSTILE_SEEDS";
/// How many lies are told in a run.
const LIES: u32 = 400;

/// One run; if it panics, it says how to see that again.
struct Trial {
    seed: u64,
    random: Random,
    net: Net,
    /// How many lives there were.
    lives: u64,
    places: u64,
    lies: u32,
    kinds: BTreeSet<&'static str>,
    /// The last lie: who told it, whom.
    told: Option<(Uid, Uid, Message)>,
}

impl Trial {
    /// Every fourth cluster has the store as its voter; every fifth is lied to from its first moment on.
    fn new(seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let net = if seed.is_multiple_of(4) { Net::of_store() } else { Net::of_voters() };
        let places = random.between(3, 5);
        let (kinds, told) = (BTreeSet::new(), None);
        let mut trial = Self { seed, random, net, lives: 0, places, lies: 0, kinds, told };
        trial.replace_the_ended();
        if !seed.is_multiple_of(5) {
            trial.net.pass(15 * SECOND);
        }
        trial
    }

    fn run(&mut self) {
        while self.lies < LIES {
            for _ in 0..self.random.between(1, 4) {
                self.lie();
            }
            self.replace_the_ended();
            let millis = if self.random.below(60) == 0 { 3000 } else { 60 };
            self.net.pass(Duration::from_millis(self.random.below(millis)));
        }
        self.net.pass(10 * SECOND);
    }

    fn lie(&mut self) {
        let nodes: Vec<Uid> = self.net.nodes.keys().copied().collect();
        let Some(&to) = self.random.pick(&nodes) else { return };
        let mut liar = Liar { random: &mut self.random, net: &self.net };
        let from = if liar.one_in(10) { to } else { liar.uid() };
        self.lies += 1;
        if liar.one_in(100) {
            let about = liar.uid();
            let command = liar.one_of(&[Command::Refused(about), Command::Down(about), Command::Drained]);
            return self.net.input(to, Input::Command(command));
        }
        let message = liar.message();
        self.kinds.insert(kind(&message));
        self.told = Some((from, to, message.clone()));
        match message {
            // A node has nothing to do with it, and the store must bear it too.
            Message::ToStore(ask) if liar.one_in(2) => drop(self.net.register.handle(from, ask)),
            // Nobody but the store is heard as the store.
            Message::FromStore(_) if !liar.one_in(4) => {
                self.net.input(to, Input::Message { from: Uid::STORE, message });
            }
            message => self.net.input(to, Input::Message { from, message }),
        }
    }

    /// Lies may well end a life, as the truth may; then another begins in its place.
    fn replace_the_ended(&mut self) {
        for place in 1..=self.places {
            if !self.net.is_taken(place) {
                self.lives += 1;
                self.net.start(self.lives, place);
            }
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {} failed at lie {}; to repeat it:", self.seed, self.lies);
            eprintln!("  {FIRST}={} {COUNT}=1 cargo test -p borough-protocol --test hostile fuzz", self.seed);
            eprintln!("the last lie: {:?}", self.told);
            eprintln!("the last input: {:?}", self.net.last);
        }
    }
}

fn number(name: &str, ordinary: u64) -> u64 {
    env::var(name).ok().map_or(ordinary, |text| text.parse().expect("a number"))
}

#[test]
fn whatever_is_said_no_node_panics() {
    let (first, count) = (number(FIRST, 1), number(COUNT, 150));
    let (mut kinds, mut lives) = (BTreeSet::new(), 0);
    for seed in first..first + count {
        let mut trial = Trial::new(seed);
        trial.run();
        kinds.append(&mut trial.kinds);
        lives += trial.lives;
    }
    println!("{count} runs of {LIES} lies to {lives} lives, of {} kinds", kinds.len());
    assert!(count < 10 || kinds.len() == 21, "not every kind of message was said: {kinds:?}");
}
