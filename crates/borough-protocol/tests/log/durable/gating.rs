//! What leaves, and when: exact writes, and exact messages held back and released.

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::{Item, Message, Write};
use borough_protocol::log::{Committed, Entry, Log, NotTaken, VotersChange};
use borough_protocol::time::Timestamp;
use borough_protocol::version::{Term, Version};

use super::voter::{Copy, Voter};
use crate::carrier::{State, TIMING, uid};
use crate::group::uids;

const NOW: Timestamp = Timestamp::from_millis(1000);

fn lists(now: impl IntoIterator<Item = u64>) -> Item<u64> {
    Item::Lists { now: uids(now), next: uids([]), learners: uids([]) }
}

fn version(term: u64, index: u64) -> Version {
    Version { term: Term::new(term), index }
}

/// 1, 2 and 3 vote; the log ends at 1.2, and the term is 1.
fn copy() -> Copy {
    Copy {
        term: Term::new(1),
        vote: None,
        snapshot: None,
        entries: vec![lists(1..=3), Item::Term(Term::new(1))],
    }
}

fn follower() -> Voter {
    Voter::of(1, Flaws::default(), copy())
}

/// 1 in office in term 2, with the vote of 2; what it had to write is written, and its appends have left.
fn coordinator() -> Voter {
    let mut voter = follower();
    let mut out = Vec::new();
    voter.log.stand(NOW, &mut out);
    assert_eq!(out.len(), 2, "a question changes nothing and waits for nothing");
    let term = Term::new(2);
    assert_eq!(voter.hear(NOW, 2, Message::PreVoteReply { term }), []);
    let last = version(1, 2);
    let vote = Message::Vote { term, last, forced: false };
    assert_eq!(voter.write_all(NOW), [(uid(2), vote.clone()), (uid(3), vote)]);
    assert_eq!(voter.hear(NOW, 2, Message::VoteReply { term, granted: true }), []);
    assert!(voter.log.in_office());
    assert_eq!(voter.write_all(NOW).len(), 2);
    voter
}

fn append(prev: Version, committed: u64, entries: Vec<Item<u64>>) -> Message<u64, State> {
    Message::Append { term: Term::new(2), prev, committed, entries }
}

fn reply(last: Version) -> Message<u64, State> {
    Message::AppendReply { term: Term::new(2), last }
}

#[test]
fn a_founder_may_act_when_its_founding_is_written() {
    let mut voter = Voter::founder(1, Flaws::default(), NOW);
    let writes: Vec<_> = voter.queue.iter().cloned().collect();
    let entries = Write::Entries { prev: Version::ZERO, items: vec![lists([1]), Item::Term(Term::new(1))] };
    assert_eq!(writes, [(1, Write::Vote { term: Term::new(1), vote: Some(uid(1)) }), (2, entries)]);
    assert!(voter.log.in_office() && !voter.log.may_act());
    voter.write_and_report(NOW, 1);
    assert!(!voter.log.may_act());
    assert_eq!(voter.told(), []);
    voter.write_and_report(NOW, 1);
    assert!(voter.log.may_act());
    assert_eq!(voter.told().len(), 2);
}

#[test]
fn the_only_voter_commits_nothing_and_changes_no_list_before_its_write() {
    let mut voter = Voter::founder(1, Flaws::default(), NOW);
    voter.write_all(NOW);
    voter.told();
    voter.log.propose(NOW, 7, &mut Vec::new()).expect("in office");
    voter.log.change_voters(NOW, VotersChange::AddLearner(uid(2)), &mut Vec::new()).expect("in office");
    let again = voter.log.change_voters(NOW, VotersChange::AddLearner(uid(3)), &mut Vec::new());
    assert_eq!(again, Err(NotTaken::ChangeUnderWay));
    voter.queue_writes();
    assert_eq!(voter.told(), []);
    assert_eq!(voter.log.tail().copied().collect::<Vec<_>>(), [7]);
    voter.write_and_report(NOW, 1);
    assert_eq!(voter.told(), [Committed::Entry(version(1, 3), Entry::Payload(7))]);
    let out = voter.write_all(NOW);
    assert_eq!(voter.told(), [Committed::Entry(version(1, 4), Entry::Nothing)]);
    let committed = out.iter().map(|(_, message)| match message {
        Message::Append { committed, .. } => *committed,
        other => panic!("{other:?}"),
    });
    assert_eq!(committed.collect::<Vec<_>>(), [2, 3, 4], "each as it was known to be when it was written");
}

#[test]
fn a_vote_leaves_when_it_is_written() {
    let mut voter = follower();
    let vote = Message::Vote { term: Term::new(2), last: version(1, 2), forced: false };
    assert_eq!(voter.hear(NOW, 2, vote), []);
    assert_eq!(voter.queue, [(1, Write::Vote { term: Term::new(2), vote: Some(uid(2)) })]);
    let granted = Message::VoteReply { term: Term::new(2), granted: true };
    assert_eq!(voter.write_all(NOW), [(uid(2), granted)]);
}

#[test]
fn answers_leave_in_order_each_when_its_entries_are_written() {
    let mut voter = follower();
    voter.hear(NOW, 2, append(version(1, 2), 0, Vec::new()));
    assert_eq!(voter.write_all(NOW), [(uid(2), reply(version(1, 2)))]);
    // Nothing to write, nothing to wait for.
    let beat = voter.hear(NOW, 2, append(version(1, 2), 0, Vec::new()));
    assert_eq!(beat, [(uid(2), reply(version(1, 2)))]);
    let first = vec![Item::Term(Term::new(2)), Item::Payload(7)];
    assert_eq!(voter.hear(NOW, 2, append(version(1, 2), 0, first)), []);
    assert_eq!(voter.hear(NOW, 2, append(version(2, 4), 0, vec![Item::Payload(8)])), []);
    // It is not known to be written yet, so it waits behind the others.
    assert_eq!(voter.hear(NOW, 2, append(version(2, 5), 4, Vec::new())), []);
    assert_eq!(voter.told().len(), 2, "all four are committed, and two of them written here");
    assert_eq!(voter.write_and_report(NOW, 1), [(uid(2), reply(version(2, 4)))]);
    assert_eq!(voter.told().len(), 2);
    let rest = [(uid(2), reply(version(2, 5))), (uid(2), reply(version(2, 5)))];
    assert_eq!(voter.write_all(NOW), rest);
}

#[test]
fn a_coordinator_sends_no_entry_that_it_has_not_written() {
    let mut voter = coordinator();
    let mut out = Vec::new();
    voter.log.propose(NOW, 7, &mut out).expect("in office");
    voter.queue_writes();
    voter.log.on_deadline(NOW + TIMING.append_every, &mut out);
    assert_eq!(out, []);
    let sent = voter.write_all(NOW);
    let entry = append(version(2, 3), 0, vec![Item::Payload(7)]);
    let beat = append(version(2, 4), 0, Vec::new());
    let expected = [(uid(3), entry.clone()), (uid(2), entry), (uid(3), beat.clone()), (uid(2), beat)];
    assert_eq!(sent, expected);
    assert_eq!(voter.told(), []);
    voter.hear(NOW, 2, reply(version(2, 4)));
    assert_eq!(voter.told().len(), 4);
    assert!(voter.log.may_act());
}

#[test]
fn a_coordinator_whose_disk_is_stuck_falls_silent_and_leaves_office() {
    let mut voter = coordinator();
    voter.hear(NOW, 2, reply(version(2, 3)));
    assert!(voter.log.may_act());
    let mut out = Vec::new();
    voter.log.propose(NOW, 7, &mut out).expect("in office");
    while voter.log.in_office() {
        let now = voter.log.next_deadline();
        assert!(now <= NOW + TIMING.suspect_after);
        voter.log.on_deadline(now, &mut out);
    }
    voter.log.stand(NOW + TIMING.suspect_after, &mut out);
    assert_eq!(out, []);
}

#[test]
fn no_message_waits_for_a_compaction() {
    let mut voter = follower();
    let entries = vec![Item::Term(Term::new(2)), Item::Payload(7)];
    voter.hear(NOW, 2, append(version(1, 2), 4, entries));
    voter.write_all(NOW);
    voter.told();
    voter.log.compact(version(2, 4), State::default());
    voter.queue_writes();
    assert_eq!(voter.queue.len(), 1);
    let beat = voter.hear(NOW, 2, append(version(2, 4), 4, Vec::new()));
    assert_eq!(beat, [(uid(2), reply(version(2, 4)))]);
    voter.write_all(NOW);
    assert_eq!((voter.disk.base(), voter.disk.entries.len()), (version(2, 4), 0));
}

#[test]
fn a_tail_is_replaced_in_one_write() {
    let mut disk = copy();
    disk.entries.extend([Item::Payload(5), Item::Payload(6)]);
    let mut voter = Voter::of(1, Flaws::default(), disk);
    let entries = vec![Item::Term(Term::new(2)), Item::Payload(7)];
    voter.hear(NOW, 2, append(version(1, 2), 0, entries.clone()));
    let writes: Vec<_> = voter.queue.iter().map(|(_, write)| write.clone()).collect();
    let vote = Write::Vote { term: Term::new(2), vote: Some(uid(2)) };
    assert_eq!(writes, [vote, Write::Entries { prev: version(1, 2), items: entries }]);
}

#[test]
fn a_state_from_elsewhere_is_told_and_answered_when_it_is_written() {
    let mut voter = Voter::fresh(4, Flaws::default());
    let voters = borough_protocol::voters::Voters { id: version(0, 1), now: uids(1..=3), next: uids([]) };
    let (state, learners) = (State { version: version(2, 9), hash: 1 }, uids([4]));
    let snapshot = borough_protocol::log::raft::Snapshot {
        term: Term::new(2),
        version: version(2, 9),
        voters: voters.clone(),
        learners,
        state,
    };
    assert_eq!(voter.hear(NOW, 2, Message::Snapshot(Box::new(snapshot))), []);
    assert_eq!(voter.hear(NOW, 2, append(version(2, 9), 10, vec![Item::Payload(7)])), []);
    voter.write_and_report(NOW, 1);
    assert_eq!(voter.told(), []);
    assert_eq!(voter.write_and_report(NOW, 1), [(uid(2), reply(version(2, 9)))]);
    assert_eq!(voter.told(), [Committed::Snapshot { version: version(2, 9), voters, state }]);
    assert_eq!(voter.write_all(NOW), [(uid(2), reply(version(2, 10)))]);
    assert_eq!(voter.told(), [Committed::Entry(version(2, 10), Entry::Payload(7))]);
    assert_eq!(voter.disk.last_index(), 10);
}

#[test]
fn a_report_of_writes_that_were_never_given_out_counts_for_nothing() {
    let mut voter = follower();
    let mut out = Vec::new();
    let vote = Message::Vote { term: Term::new(2), last: version(1, 2), forced: false };
    voter.log.handle(NOW, uid(2), vote, &mut out).expect("well formed");
    voter.log.written(NOW, 9, &mut out);
    assert_eq!(out, []);
}
