//! What no correct peer says is refused and changes nothing; whatever a peer says, nothing panics.

use std::collections::BTreeSet;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::{Item, Message, Raft, Snapshot};
use borough_protocol::log::{Log, Malformed};
use borough_protocol::time::Timestamp;
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::{VoterId, Voters};
use proptest::prelude::*;

use crate::carrier::{Carrier, State, TIMING, uid};
use crate::group::{Group, uids};

type Node = Raft<u64, State>;
type Text = Message<u64, State>;

fn version(term: u64, index: u64) -> Version {
    Version { term: Term::new(term), index }
}

/// 1 is in office in term 1 and 2, 3 follow; ten payloads are committed, and one more stands at the coordinator alone.
fn live() -> Group<Node> {
    let mut group = Group::voting(3, Flaws::default());
    for payload in 0..10 {
        group.propose(1, payload);
        group.deliver_all();
    }
    group.propose(1, 99);
    group.lose_all();
    group
}

fn refused(group: &mut Group<Node>, to: u64, from: u64, message: &Text) -> &'static str {
    let before = format!("{:?}", group.log(to));
    let result = group.on(to, |log, now, out| {
        let result = log.handle(now, uid(from), message.clone(), out);
        assert!(out.is_empty(), "{message:?} was answered");
        result
    });
    assert_eq!(format!("{:?}", group.log(to)), before, "{message:?} changed something");
    let Malformed { from: blamed, what } = result.expect_err("malformed");
    assert_eq!(blamed, uid(from));
    what
}

fn append(term: u64, prev: Version, entries: Vec<Item<u64>>) -> Text {
    Message::Append { term: Term::new(term), prev, committed: 0, entries }
}

fn lists(now: &[u64], next: &[u64], learners: &[u64]) -> Item<u64> {
    let set = |numbers: &[u64]| uids(numbers.iter().copied());
    Item::Lists { now: set(now), next: set(next), learners: set(learners) }
}

fn snapshot(term: u64, version: Version, voters: Voters, learners: &[u64]) -> Text {
    let (term, learners, state) = (Term::new(term), uids(learners.iter().copied()), State::default());
    Message::Snapshot(Box::new(Snapshot { term, version, voters, learners, state }))
}

fn voters(now: &[u64], id: Version) -> Voters {
    Voters { id, now: uids(now.iter().copied()), next: BTreeSet::new() }
}

#[test]
fn what_is_impossible_in_itself_is_refused() {
    let mut group = live();
    let last = version(1, group.log(2).last_index());
    let far = version(1, u64::MAX);
    let term = Term::new(2);
    let cases: Vec<(Text, &str)> = vec![
        (Message::PreVoteReply { term: Term::ZERO }, "there is no such term"),
        (Message::StandNow { term: Term::new(u64::MAX) }, "there is no such term"),
        (Message::PreVote { term, last: version(0, 0) }, "a node with an empty log stands"),
        (Message::PreVote { term, last: version(1, 0) }, "there is no such place"),
        (Message::Vote { term, last: far, forced: true }, "there is no such place"),
        (
            Message::Vote { term, last: version(2, 40), forced: false },
            "the log of who stands is not older than the term",
        ),
        (append(2, far, vec![]), "there is no such place"),
        (append(2, version(0, 5), vec![]), "there is no such place"),
        (append(2, version(3, 40), vec![]), "an entry of a later term"),
        (append(2, last, vec![Item::Term(Term::new(3))]), "an entry of a later term"),
        (append(2, last, vec![Item::Term(Term::new(1))]), "terms do not rise"),
        (append(2, last, vec![lists(&[], &[], &[])]), "nobody votes"),
        (append(2, last, vec![lists(&[1], &[2], &[2])]), "a voter catches up"),
        (
            Message::Append { term, prev: last, committed: u64::MAX, entries: vec![] },
            "there is no such place",
        ),
        (Message::AppendReply { term, last: version(3, 9) }, "an entry of a later term"),
        (Message::AppendReply { term, last: version(2, 0) }, "there is no such place"),
        (snapshot(2, version(3, 50), voters(&[1], Version::ZERO), &[]), "there is no such place"),
        (snapshot(2, version(0, 0), voters(&[1], Version::ZERO), &[]), "there is no such place"),
        (snapshot(2, version(1, 50), voters(&[], Version::ZERO), &[]), "nobody votes"),
        (snapshot(2, version(1, 50), voters(&[1], Version::ZERO), &[1]), "a voter catches up"),
        (snapshot(2, version(1, 50), voters(&[1], version(1, 51)), &[]), "its lists are newer than itself"),
    ];
    for (message, what) in cases {
        for to in [1, 2] {
            assert_eq!(refused(&mut group, to, 3, &message), what, "{message:?} to {to}");
        }
    }
}

#[test]
fn what_contradicts_this_node_is_refused() {
    let mut group = live();
    let (term, committed) = (Term::new(1), group.applied(2).version.index);
    let own = group.log(1).last_index();
    let cases: Vec<(u64, u64, Text, &str)> = vec![
        (1, 1, Message::StandNow { term }, "it comes from this node itself"),
        (1, 2, append(1, version(1, own), vec![]), "the term has another coordinator"),
        (2, 3, append(1, version(1, own), vec![]), "the term has another coordinator"),
        (2, 3, Message::StandNow { term }, "the term has another coordinator"),
        (
            2,
            3,
            snapshot(1, version(1, 50), voters(&[1], Version::ZERO), &[]),
            "the term has another coordinator",
        ),
        (
            2,
            1,
            Message::StandNow { term: Term::new(2) },
            "asked to stand by a coordinator this node never heard",
        ),
        (
            2,
            3,
            Message::VoteReply { term: Term::new(2), granted: true },
            "a vote in a term this node never stood in",
        ),
        (2, 3, append(3, version(2, committed), vec![]), "it contradicts what is committed"),
        (
            2,
            3,
            append(3, version(1, committed - 1), vec![Item::Term(Term::new(2)), Item::Payload(5)]),
            "it contradicts what is committed",
        ),
        (
            2,
            3,
            snapshot(3, version(2, committed), voters(&[1], Version::ZERO), &[]),
            "it contradicts what is committed",
        ),
        (
            1,
            2,
            Message::AppendReply { term, last: version(1, own + 1) },
            "an entry of this node's term that it never made",
        ),
    ];
    for (to, from, message, what) in cases {
        assert_eq!(refused(&mut group, to, from, &message), what, "{message:?} to {to}");
    }
}

#[test]
fn an_old_answer_from_below_the_compaction_is_no_offence() {
    let mut group = live();
    let state = group.applied(1);
    group.on(1, |log, _, _| log.compact(state.version, state));
    group.send(3, 1, Message::AppendReply { term: Term::new(1), last: version(1, 3) });
    group.deliver_once(|_, _, _| true);
}

fn any_term() -> impl Strategy<Value = Term> {
    prop_oneof![20 => 0_u64..6, 1 => Just(u64::MAX), 1 => Just((1 << 62) - 1)].prop_map(Term::new)
}

fn any_index() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0_u64..24, 1 => Just(u64::MAX), 1 => Just((1 << 62) - 1)]
}

fn any_version() -> impl Strategy<Value = Version> {
    (any_term(), any_index()).prop_map(|(term, index)| Version { term, index })
}

fn any_uids() -> impl Strategy<Value = BTreeSet<VoterId>> {
    prop::collection::btree_set((1_u64..6).prop_map(uid), 0..4)
}

fn any_item() -> impl Strategy<Value = Item<u64>> {
    prop_oneof![
        any_term().prop_map(Item::Term),
        (any_uids(), any_uids(), any_uids()).prop_map(|(now, next, learners)| Item::Lists {
            now,
            next,
            learners
        }),
        (0_u64..9).prop_map(Item::Payload),
        (0_u64..9).prop_map(Item::Payload),
    ]
}

fn any_message() -> impl Strategy<Value = Text> {
    let append = (any_term(), any_version(), any_index(), prop::collection::vec(any_item(), 0..5));
    let snapshot = (any_term(), any_version(), any_version(), any_uids(), any_uids(), any_uids());
    prop_oneof![
        (any_term(), any_version()).prop_map(|(term, last)| Message::PreVote { term, last }),
        any_term().prop_map(|term| Message::PreVoteReply { term }),
        (any_term(), any_version(), any::<bool>()).prop_map(|(term, last, forced)| Message::Vote {
            term,
            last,
            forced
        }),
        (any_term(), any::<bool>()).prop_map(|(term, granted)| Message::VoteReply { term, granted }),
        append.prop_map(|(term, prev, committed, entries)| Message::Append {
            term,
            prev,
            committed,
            entries
        }),
        (any_term(), any_version()).prop_map(|(term, last)| Message::AppendReply { term, last }),
        any_term().prop_map(|term| Message::StandNow { term }),
        snapshot.prop_map(|(term, version, id, now, next, learners)| {
            let voters = Voters { id, now, next };
            Message::Snapshot(Box::new(Snapshot { term, version, voters, learners, state: State::default() }))
        }),
    ]
}

/// What else happens to a node meanwhile.
#[derive(Clone, Debug)]
enum Happening {
    Message(u64, Text),
    Stand,
    Pass(u64),
    Propose,
    Compact,
}

fn any_happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        12 => (1_u64..6, any_message()).prop_map(|(from, message)| Happening::Message(from, message)),
        1 => Just(Happening::Stand),
        1 => (0_u64..900).prop_map(Happening::Pass),
        1 => Just(Happening::Propose),
        1 => Just(Happening::Compact),
    ]
}

fn happen(node: &mut Node, now: &mut Timestamp, happening: Happening) {
    let mut out = Vec::new();
    match happening {
        Happening::Message(from, message) => {
            let before = format!("{node:?}");
            if node.handle(*now, uid(from), message, &mut out).is_err() {
                assert_eq!(format!("{node:?}"), before);
                assert!(out.is_empty());
            }
        }
        Happening::Stand => node.stand(*now, &mut out),
        Happening::Pass(millis) => {
            *now = *now + std::time::Duration::from_millis(millis);
            node.on_deadline(*now, &mut out);
        }
        Happening::Propose => drop(node.propose(*now, 5, &mut out)),
        Happening::Compact => {
            let newest = node.last_index();
            for index in 0..=newest.min(30) {
                for term in 0..6 {
                    node.compact(version(term, index), State::default());
                }
            }
        }
    }
    node.assert_invariants();
    drop(node.take_committed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was believed before may have been a lie; the node must stay in one piece all the same.
    #[test]
    fn nothing_a_peer_says_makes_a_node_panic(
        founder in any::<bool>(),
        happenings in prop::collection::vec(any_happening(), 1..60),
    ) {
        let mut now = Timestamp::from_millis(1000);
        let mut node = if founder {
            <Node as Carrier>::found(uid(1), Flaws::default(), now)
        } else {
            Node::new(uid(1), TIMING, Flaws::default())
        };
        for happening in happenings {
            happen(&mut node, &mut now, happening);
        }
    }
}
