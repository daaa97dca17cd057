//! One run: a small net, and bytes that are read and told to its nodes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::log::raft::{self, Snapshot};
use borough_protocol::log::{Entry, Log};
use borough_protocol::node::{Feed, Message, Word};
use borough_protocol::random::Random;
use borough_protocol::version::Version;

use crate::codec::encode;
use crate::net::{Net, SECOND, uid};
use crate::{body, files, mutate};

pub(crate) const FIRST: &str = "BOROUGH_WIRE_SEED";
pub(crate) const COUNT: &str = "BOROUGH_WIRE_SEEDS";
/// How many pieces of bytes a run has.
const PIECES: u32 = 1500;
const PLACES: u64 = 3;

/// If it panics, it says how to see that again.
pub(crate) struct Trial {
    seed: u64,
    random: Random,
    net: Net,
    lives: u64,
    pub(crate) read: u32,
    pub(crate) told: u32,
    last: Vec<u8>,
}

impl Trial {
    /// Every fourth cluster has the store as its voter.
    pub(crate) fn new(seed: u64) -> Self {
        let net = if seed.is_multiple_of(4) { Net::of_store() } else { Net::of_voters() };
        let (random, last) = (Random::seeded(seed), Vec::new());
        let mut trial = Self { seed, random, net, lives: 0, read: 0, told: 0, last };
        trial.replace_the_ended();
        trial.net.pass(10 * SECOND);
        trial
    }

    pub(crate) fn run(&mut self) {
        let pieces = self.pieces();
        while self.read < PIECES {
            self.last = mutate::bytes(&mut self.random, &pieces);
            self.read += 1;
            let Some(message) = body::read(&self.last) else { continue };
            self.told += 1;
            let nodes: Vec<Uid> = self.net.nodes.keys().copied().collect();
            let to = *self.random.pick(&nodes).expect("there are nodes");
            let from = self.random.pick(&nodes).copied().filter(|from| *from != to).unwrap_or(uid(777));
            body::tell(&mut self.net, from, to, message);
            self.replace_the_ended();
            let millis = if self.random.below(60) == 0 { 2000 } else { 20 };
            self.net.pass(Duration::from_millis(self.random.below(millis)));
            self.replace_the_ended();
        }
        self.net.pass(5 * SECOND);
    }

    /// What is in the files, what these very nodes said, the largest of it too, and tables of theirs that are newer than theirs.
    fn pieces(&self) -> Vec<Vec<u8>> {
        let mut pieces: Vec<Vec<u8>> = files::files().into_iter().map(|(_, bytes)| bytes).collect();
        let mut said: Vec<Vec<u8>> = self.net.overheard.iter().map(encode).collect();
        pieces.extend(said.iter().rev().take(50).cloned());
        said.sort_by_key(Vec::len);
        pieces.extend(said.into_iter().rev().take(50));
        for node in self.net.nodes.values() {
            let (Some(table), Some(log)) = (node.table(), node.log()) else { continue };
            for ahead in [1, 5, 200] {
                let mut table = table.clone();
                let term = log.term();
                for index in (table.version().index + 1..).take(ahead) {
                    table.apply(Version { term, index }, &Entry::Nothing);
                }
                let (version, voters) = (table.version(), table.voters().clone());
                let snapshot = Snapshot {
                    term,
                    version,
                    voters,
                    learners: BTreeSet::new(),
                    state: Arc::new(table.clone()),
                };
                let words = [
                    Word::Feed(Feed::Whole(Arc::new(table))),
                    Word::Log(raft::Message::Snapshot(Box::new(snapshot))),
                ];
                pieces.extend(words.map(|word| encode(&Message::Word { cluster: 0, word })));
            }
        }
        pieces
    }

    fn replace_the_ended(&mut self) {
        for place in 1..=PLACES {
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
            let Self { seed, read, last, .. } = self;
            eprintln!("seed {seed} failed at piece {read}; to repeat it:");
            eprintln!(
                "  {FIRST}={seed} {COUNT}=1 cargo test -p borough-protocol --features serde --test wire_fuzz"
            );
            eprintln!("the last bytes: {last:?}");
            eprintln!("the last input: {:?}", self.net.last);
        }
    }
}
