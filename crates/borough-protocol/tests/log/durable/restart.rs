//! The same voter again.

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::{Item, Message, Raft, Stored, StoredSnapshot};
use borough_protocol::log::{Committed, Log};
use borough_protocol::time::Timestamp;
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::Voters;

use super::cluster::Cluster;
use super::voter::{Copy, Voter};
use crate::carrier::{State, TIMING, uid};
use crate::group::uids;

const NOW: Timestamp = Timestamp::from_millis(1000);

/// Three voters, two terms, a tail that is replaced, a compaction, a state handed over.
fn eventful() -> Cluster {
    let mut cluster = Cluster::voting(3);
    cluster.propose(1, 1);
    cluster.deliver(|_, _| true);
    cluster.propose(1, 2);
    cluster.deliver(|_, to| to == 9);
    cluster.now = cluster.now + TIMING.suspect_after;
    cluster.stand(2);
    cluster.deliver(|from, to| from.min(to) > 1);
    for payload in 3..7 {
        cluster.propose(2, payload);
        cluster.deliver(|from, to| from.min(to) > 1);
    }
    cluster.compact(2);
    for _ in 0..4 {
        cluster.now = cluster.now + TIMING.repair_every;
        cluster.beat(2);
        cluster.deliver(|_, _| true);
    }
    assert_eq!(cluster.states[&1], cluster.states[&2]);
    assert!(cluster.judge.snapshots > 0);
    cluster
}

#[test]
fn a_voter_resumes_from_every_write_that_it_ever_made() {
    let cluster = eventful();
    let mut resumed = 0;
    for (&number, copies) in &cluster.copies {
        for copy in copies {
            let mut voter = Voter::of(number, Flaws::default(), copy.clone());
            voter.log.assert_invariants();
            assert_eq!((voter.log.term(), voter.log.last_index()), (copy.term, copy.last_index()));
            assert!(!voter.log.in_office());
            voter.queue_writes();
            assert!(voter.queue.is_empty(), "it has written everything already");
            resumed += 1;
        }
    }
    assert!(resumed > 30, "{resumed}");
}

#[test]
fn a_cluster_goes_on_after_all_were_restarted_after_any_call() {
    for stop in 0..12 {
        let mut cluster = Cluster::voting(3);
        for payload in 0..stop {
            cluster.propose(1, payload);
            match payload % 3 {
                0 => cluster.deliver(|_, _| true),
                1 => cluster.deliver(|_, to| to == 2),
                _ => cluster.compact(1),
            }
        }
        let committed = cluster.judge.last();
        for number in 1..=3 {
            cluster.restart(number, None);
        }
        // What was sent before arrives all the same.
        cluster.deliver(|_, _| true);
        cluster.now = cluster.now + TIMING.suspect_after;
        cluster.stand(1);
        cluster.deliver(|_, _| true);
        assert!(cluster.nodes[&1].log.may_act(), "after {stop}");
        cluster.now = cluster.now + TIMING.repair_every;
        cluster.beat(1);
        cluster.deliver(|_, _| true);
        assert!(cluster.judge.last() > committed);
        for number in 1..=3 {
            assert_eq!(cluster.states[&number].version.index, cluster.judge.last(), "{number} after {stop}");
        }
    }
}

#[test]
fn the_only_voter_is_in_office_again_by_itself_and_knows_everything() {
    let mut cluster = Cluster::voting(1);
    cluster.propose(1, 7);
    let before = cluster.states[&1];
    cluster.restart(1, None);
    assert_eq!(cluster.states[&1], State::default());
    assert!(!cluster.nodes[&1].log.in_office());
    cluster.stand(1);
    assert!(cluster.nodes[&1].log.may_act());
    assert_eq!(cluster.nodes[&1].log.term(), Term::new(2));
    assert_eq!(cluster.states[&1].version.index, before.version.index + 1);
}

#[test]
fn a_compacted_state_is_told_first() {
    let mut cluster = Cluster::voting(1);
    cluster.propose(1, 7);
    cluster.compact(1);
    let state = cluster.states[&1];
    let voter = cluster.nodes.get_mut(&1).expect("it");
    let voters = voter.log.voters().clone();
    voter.restart();
    let version = state.version;
    assert_eq!(voter.told(), [Committed::Snapshot { version, voters: voters.clone(), state }]);
    assert_eq!(*voter.log.voters(), voters);
}

#[test]
fn a_vote_is_remembered() {
    let entries =
        vec![Item::Lists { now: uids(1..=3), next: uids([]), learners: uids([]) }, Item::Term(Term::new(1))];
    let disk = Copy { term: Term::new(1), vote: None, snapshot: None, entries };
    let mut voter = Voter::of(1, Flaws::default(), disk);
    let last = Version { term: Term::new(1), index: 2 };
    let vote = Message::Vote { term: Term::new(5), last, forced: false };
    voter.hear(NOW, 2, vote.clone());
    assert_eq!(voter.write_all(NOW).len(), 1);
    voter.restart();
    assert_eq!(voter.hear(NOW, 3, vote.clone()), []);
    let granted = Message::VoteReply { term: Term::new(5), granted: true };
    assert_eq!(voter.hear(NOW, 2, vote), [(uid(2), granted)]);
}

#[test]
fn what_no_voter_can_have_written_is_refused() {
    let lists =
        |now: &[u64]| Item::Lists { now: uids(now.iter().copied()), next: uids([]), learners: uids([]) };
    let term = |number| Item::Term(Term::new(number));
    let of = |number, entries| Copy { term: Term::new(number), entries, ..Copy::default() };
    let nobody = StoredSnapshot {
        version: Version { term: Term::new(1), index: 3 },
        voters: Voters::default(),
        learners: uids([]),
        state: State::default(),
    };
    let cases = [
        (of(1, vec![lists(&[])]), 1),
        (of(3, vec![lists(&[1]), term(3), term(2)]), 3),
        (of(1, vec![lists(&[1]), term(2)]), 2),
        (of(1, vec![lists(&[1]), Item::Payload(1)]), 2),
        (of(1 << 63, vec![]), 0),
        (Copy { vote: Some(uid(1)), ..Copy::default() }, 0),
        (Copy { term: Term::new(1), snapshot: Some(nobody), ..Copy::default() }, 3),
    ];
    for (copy, index) in cases {
        let refused = Raft::restore(uid(1), TIMING, Flaws::default(), copy.clone()).map(|_| ());
        assert_eq!(refused.map_err(|error| error.index), Err(index), "{copy:?}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn what_is_stored_can_be_read_again() {
    let cluster = eventful();
    let (mut items, mut snapshots) = (0, 0);
    for copy in cluster.copies.values().flatten() {
        for item in &copy.entries {
            let bytes = postcard::to_stdvec(item).expect("plain data");
            assert_eq!(&postcard::from_bytes::<Item<u64>>(&bytes).expect("as written"), item);
            items += 1;
        }
        if let Some(StoredSnapshot { version, voters, learners, state }) = copy.snapshot.clone() {
            let snapshot = StoredSnapshot { version, voters, learners, state: state.hash };
            let bytes = postcard::to_stdvec(&snapshot).expect("plain data");
            assert_eq!(postcard::from_bytes::<StoredSnapshot<u64>>(&bytes).expect("as written"), snapshot);
            snapshots += 1;
        }
    }
    assert!(items > 0 && snapshots > 0);
}

/// A store may keep the parts of it in any form: nothing else is needed to resume.
#[test]
fn nothing_on_the_disk_is_a_durable_node_that_is_nobody_yet() {
    let log = Raft::<u64, State>::restore(uid(1), TIMING, Flaws::default(), Stored::default());
    let log = log.expect("nothing is wrong with nothing");
    assert_eq!((log.term(), log.last_index(), log.voters()), (Term::ZERO, 0, &Voters::default()));
}
