//! Whole lies: every message there is, made of pieces, and real ones said again in the wrong place.

use std::sync::Arc;

use borough_protocol::disk::Pledge;
use borough_protocol::formation::{Knock, LogEnd, Memory, Over, Past, Vow, Welcome};
use borough_protocol::gossip::{self, Delta, Document};
use borough_protocol::heartbeat;
use borough_protocol::lease::{Renew, Renewed, Verdict};
use borough_protocol::log::raft::{self, Snapshot};
use borough_protocol::log::register::{self, News, Swap};
use borough_protocol::node::{Feed, Greeting, Life, Message, Node, QuietReport, Report, Word};
use borough_protocol::settings::{Checked, Refusal, Settings};
use borough_protocol::store::{Answer, Ask};
use borough_protocol::table::{Ancestors, Change, Table};

use crate::net::facts;
use crate::pieces::Liar;
use borough_protocol::voters::VoterId;

impl Liar<'_> {
    pub(crate) fn message(&mut self) -> Message {
        match self.random.below(20) {
            0 | 1 => self.overheard(),
            2 => Message::Knock(Arc::new(self.knock())),
            3 => self.said_while_seeking(),
            4 => Message::Hello(self.greeting()),
            5 => Message::Welcome(Arc::new(Welcome { table: self.table(), gossip: self.delta() })),
            6 => Message::ToStore(self.ask()),
            7 | 8 => Message::FromStore(self.answer()),
            _ => {
                let tag = self.somebody().and_then(Node::tag).unwrap_or_default();
                let cluster = if self.one_in(8) { self.number() } else { tag };
                Message::Word { cluster, word: self.word() }
            }
        }
    }

    fn greeting(&mut self) -> Greeting {
        let settings = Checked::new(Settings::default()).expect("the defaults are sound").tag();
        let lives = [Life::Forming, Life::Suspended, Life::Working];
        let life = self.random.pick(&lives).copied().unwrap_or(Life::Forming);
        let ancestors = Ancestors::of((0..self.random.below(3)).map(|_| self.cluster()).collect::<Vec<_>>());
        Greeting {
            settings: if self.one_in(4) { self.number() } else { settings },
            life,
            cluster: self.cluster(),
            ancestors,
            nonce: self.one_in(2).then(|| self.random.next_u64()),
            answers: self.one_in(2).then(|| self.random.next_u64()),
        }
    }

    fn memory(&mut self) -> Arc<Memory> {
        let voters = self.voters();
        let places = self.list(4, |liar| (VoterId::of_life(liar.uid()), liar.address())).into();
        let (cluster, durable) = (self.cluster(), self.one_in(2));
        Arc::new(Memory { cluster, ancestors: Ancestors::default(), voters, places, durable })
    }

    fn log_end(&mut self) -> Option<Arc<LogEnd>> {
        let places = self.list(4, |liar| (VoterId::of_life(liar.uid()), liar.address())).into();
        let (last, voters) = (self.version(), self.voters());
        self.one_in(2).then(|| Arc::new(LogEnd { last, voters, places }))
    }

    fn overheard(&mut self) -> Message {
        self.random.pick(&self.net.overheard).cloned().unwrap_or(Message::Gone)
    }

    fn knock(&mut self) -> Knock {
        let me = self.incarnation();
        Knock {
            facts: Arc::new(facts(&me.address)),
            me,
            settings: self.settings(),
            seeds: self.list(4, Self::address).into(),
            attempt: (!self.one_in(3)).then(|| self.short_number()),
            memory: self.one_in(2).then(|| self.memory()),
            over: self.list(2, |liar| Over { cluster: liar.cluster(), voters: liar.version() }).into(),
            ended: self.list(2, Self::cluster).into(),
            rests: self.one_in(4),
        }
    }

    fn said_while_seeking(&mut self) -> Message {
        let (attempt, granted) = (self.short_number(), self.one_in(2));
        let refusal = || Refusal { setting: String::new(), ours: String::new(), theirs: String::new() };
        match self.random.below(4) {
            0 => {
                let past = match self.random.below(5) {
                    0 => Past::Fresh,
                    1 => Past::GaveUp(self.memory()),
                    2 => Past::Left(self.memory()),
                    3 => Past::Ended(self.memory()),
                    _ => Past::Suspended(self.memory(), self.log_end()),
                };
                let pledged = (0..self.random.below(3))
                    .map(|_| Pledge {
                        voter: VoterId::of_life(self.uid()),
                        address: self.address(),
                        uid: self.uid(),
                        attempt,
                    })
                    .collect();
                let heard_of = (0..self.random.below(3)).map(|_| self.memory()).collect();
                Message::Promise(Vow {
                    seed: self.address(),
                    attempt,
                    granted,
                    withdrawn: self.one_in(4),
                    holder: self.address(),
                    past,
                    voter: VoterId::of_life(self.uid()),
                    pledged,
                    heard_of,
                })
            }
            1 => Message::Release { attempt },
            2 => Message::Refused(refusal()),
            _ if self.one_in(2) => Message::Copy,
            _ => Message::Gone,
        }
    }

    fn word(&mut self) -> Word {
        match self.random.below(12) {
            0 | 1 => Word::Gossip(self.gossip()),
            2 => Word::Heartbeat(self.heartbeat()),
            3..6 => Word::Log(self.log()),
            6 => Word::Renew(self.renew()),
            7 => Word::Renewed(self.renewed()),
            8 if self.one_in(3) => Word::Feed(Feed::Whole(self.table())),
            8 => Word::Feed(Feed::Entries(self.entries().into())),
            9 => Word::Quiet(QuietReport { seq: self.number(), quiet: self.list(5, Self::uid).into() }),
            10 if self.one_in(10) => Word::Gone,
            10 if self.one_in(10) => Word::LogLost(self.number()),
            10 => Word::Shards(Arc::new(self.shard_report())),
            _ => Word::Report(match self.random.below(30) {
                0 => Report::Close,
                1..4 => Report::Leave,
                4..8 => Report::Goodbye,
                _ => Report::Down(self.uid()),
            }),
        }
    }

    fn gossip(&mut self) -> gossip::Message {
        let version = self.somebody().and_then(Node::document).map_or(0, Document::version_hash);
        let version = if self.one_in(3) { self.number() } else { version };
        match self.random.below(6) {
            0 => gossip::Message::Digest { version, seen: self.short_number() },
            1 => gossip::Message::Pull { clock: self.clock() },
            2 => gossip::Message::Seen { version, bits: self.bits() },
            _ => gossip::Message::Delta(self.delta()),
        }
    }

    /// Made of lies alone, or a real one with lies between.
    fn delta(&mut self) -> Arc<Delta> {
        let now = self.net.now;
        let real = self.somebody().and_then(Node::document).map(|it| it.everything(now, false));
        let mut delta = real.filter(|_| !self.one_in(3)).unwrap_or_else(|| Delta {
            members: vec![],
            reachability: vec![],
            tombstones: vec![],
            clock: self.clock(),
            content: self.number(),
            seen: self.bits(),
            reply: self.one_in(2),
        });
        for _ in 0..self.random.below(4) {
            match self.random.below(10) {
                0 => delta.members.reverse(),
                1 => delta.members.extend_from_within(..),
                2 => delta.members.extend(self.list(3, Self::member)),
                3 | 4 => delta.reachability.extend(self.list(3, |liar| (liar.uid(), liar.report()))),
                5 => delta.tombstones.extend(self.list(2, Self::obituary)),
                6 => delta.clock = self.clock(),
                7 => delta.content = self.number(),
                8 => delta.seen = self.bits(),
                _ => delta.reply = !delta.reply,
            }
        }
        Arc::new(delta)
    }

    fn heartbeat(&mut self) -> heartbeat::Message {
        let seq = self.short_number();
        if self.one_in(2) { heartbeat::Message::Beat { seq } } else { heartbeat::Message::Echo { seq } }
    }

    fn log(&mut self) -> raft::Message<Change, Arc<Table>> {
        let term = self.term();
        match self.random.below(10) {
            0 => raft::Message::PreVote { term, last: self.version() },
            1 => raft::Message::PreVoteReply { term },
            2 => raft::Message::Vote { term, last: self.version(), forced: self.one_in(2) },
            3 => raft::Message::VoteReply { term, granted: self.one_in(2) },
            4 => raft::Message::AppendReply { term, last: self.version() },
            5 => raft::Message::StandNow { term },
            6 | 7 => {
                let (state, learners) = (self.table(), self.voter_ids());
                let version = if self.one_in(3) { self.version() } else { state.version() };
                let voters = if self.one_in(2) { self.voters() } else { state.voters().clone() };
                raft::Message::Snapshot(Box::new(Snapshot { term, version, voters, learners, state }))
            }
            _ => raft::Message::Append {
                term,
                prev: self.version(),
                committed: self.number(),
                entries: self.list(5, Self::item),
            },
        }
    }

    fn renew(&mut self) -> Renew {
        Renew {
            admission: (!self.one_in(3)).then(|| self.version()),
            voters: self.version(),
            seq: self.number(),
            answered: self.number(),
            version: self.version(),
            feed: self.one_in(2),
        }
    }

    fn renewed(&mut self) -> Renewed {
        let verdict = match self.random.below(10) {
            0..4 => Verdict::Acked,
            4..8 => Verdict::NewVoters(Arc::new(self.voters())),
            8 => Verdict::NotYet,
            _ => Verdict::NotAdmitted,
        };
        let coordinator = (!self.one_in(4)).then(|| self.uid());
        Renewed { seq: self.number(), coordinator, verdict }
    }

    pub(crate) fn ask(&mut self) -> Ask {
        let cluster = self.cluster();
        match self.random.below(8) {
            0 => Ask::Look,
            1 => {
                let instead_of = (!self.one_in(3)).then(|| self.cluster());
                Ask::Found { cluster, settings: self.settings(), instead_of }
            }
            2 | 3 => Ask::Renew { cluster, renew: self.renew() },
            _ => {
                let swap = match self.random.below(3) {
                    0 => Swap::None,
                    1 => Swap::Stand { term: self.term() },
                    _ => Swap::Append {
                        term: self.term(),
                        last: self.version(),
                        payloads: self.list(4, Self::change).into(),
                    },
                };
                let (number, known, of_all) = (self.number(), self.version(), self.one_in(2));
                Ask::Log { cluster, ask: register::Ask { number, known, of_all, swap } }
            }
        }
    }

    fn answer(&mut self) -> Answer {
        match self.random.below(8) {
            0 => Answer::Empty,
            1 => {
                let (cluster, settings, closed) = (self.cluster(), self.settings(), self.one_in(2));
                Answer::Holds { cluster, settings, closed }
            }
            2 => Answer::Renewed(self.renewed()),
            _ => Answer::Log(register::Answer {
                number: self.number(),
                term: self.term(),
                holder: (!self.one_in(4)).then(|| self.uid()),
                news: self.news(),
                renewals: self.list(4, |liar| (liar.uid(), liar.number())),
            }),
        }
    }

    fn news(&mut self) -> News<Change, Arc<Table>> {
        if self.one_in(2) {
            return News::Entries(self.entries());
        }
        let state = self.table();
        let version = if self.one_in(3) { self.version() } else { state.version() };
        let voters = if self.one_in(2) { self.voters() } else { state.voters().clone() };
        News::Whole { version, voters, state }
    }
}

/// What kind of message it is.
pub(crate) fn kind(message: &Message) -> &'static str {
    match message {
        Message::Knock(_) => "knock",
        Message::Promise(_) => "promise",
        Message::Release { .. } => "release",
        Message::Welcome(_) => "welcome",
        Message::Refused(_) => "refused",
        Message::Gone => "gone",
        Message::Copy => "copy",
        Message::Hello(_) => "hello",
        Message::ToStore(_) => "to the store",
        Message::FromStore(_) => "from the store",
        Message::Word { word, .. } => match word {
            Word::Gossip(_) => "gossip",
            Word::Heartbeat(_) => "heartbeat",
            Word::Log(_) => "log",
            Word::Renew(_) => "renew",
            Word::Renewed(_) => "renewed",
            Word::Feed(_) => "feed",
            Word::Quiet(_) => "quiet",
            Word::Report(_) => "report",
            Word::Shards(_) => "shards",
            Word::Gone => "removed",
            Word::LogLost(_) => "log lost",
        },
    }
}
