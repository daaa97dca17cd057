//! Disks that came back shorter than what their voter had confirmed.

use std::time::Duration;

use borough_protocol::log::Log;
use borough_protocol::log::raft::Message;

use super::cluster::Cluster;
use super::voter::Copy;
use crate::carrier::{TIMING, uid};

/// The disk of that node when its log ended at that place.
fn copy_at(cluster: &Cluster, number: u64, index: u64) -> Copy {
    cluster.copies[&number].iter().rfind(|copy| copy.last_index() == index).expect("it was there").clone()
}

fn with_payloads() -> Cluster {
    let mut cluster = Cluster::voting(3);
    for payload in 0..5 {
        cluster.propose(1, payload);
        cluster.deliver(|_, _| true);
    }
    cluster
}

fn beats(cluster: &mut Cluster, number: u64, duration: Duration) {
    let end = cluster.now + duration;
    while cluster.now < end {
        cluster.beat(number);
        cluster.deliver(|_, _| true);
    }
}

#[test]
fn a_voter_that_answers_with_less_than_it_had_confirmed_is_named_and_catches_up() {
    let mut cluster = with_payloads();
    let last = cluster.nodes[&1].log.last_index();
    let older = copy_at(&cluster, 3, last - 3);
    cluster.restart(3, Some(older));
    beats(&mut cluster, 1, TIMING.suspect_after);
    assert_eq!(cluster.nodes[&1].log.lost(), []);
    beats(&mut cluster, 1, TIMING.append_every);
    assert_eq!(cluster.nodes[&1].log.lost(), [uid(3)]);
    assert!(cluster.nodes[&1].log.in_office());
    beats(&mut cluster, 1, TIMING.append_every);
    assert_eq!(cluster.states[&3], cluster.states[&1]);
    assert_eq!(cluster.nodes[&1].log.matched(uid(3)), last);
}

#[test]
fn a_restart_with_everything_is_no_loss() {
    let mut cluster = with_payloads();
    cluster.restart(3, None);
    beats(&mut cluster, 1, TIMING.suspect_after * 3);
    assert_eq!(cluster.nodes[&1].log.lost(), []);
    assert_eq!(cluster.states[&3], cluster.states[&1]);
}

#[test]
fn an_answer_that_was_overtaken_is_no_loss() {
    let mut cluster = with_payloads();
    let log = &cluster.nodes[&1].log;
    let (term, last) = (log.term(), cluster.states[&1].version);
    let old = borough_protocol::version::Version { term: last.term, index: last.index - 2 };
    for _ in 0..6 {
        let reply = Message::AppendReply { term, last: old };
        cluster.on(1, |log, now, out| log.handle(now, uid(3), reply, out)).expect("well formed");
        beats(&mut cluster, 1, TIMING.append_every);
    }
    assert_eq!(cluster.nodes[&1].log.lost(), []);
}

#[test]
fn a_coordinator_that_counted_on_what_is_lost_leaves_office() {
    let mut cluster = Cluster::voting(5);
    cluster.propose(1, 1);
    cluster.deliver(|_, _| true);
    let last = cluster.nodes[&1].log.last_index();
    let older = copy_at(&cluster, 3, last);
    // 1 and 3 have it: not a quorum.
    cluster.propose(1, 2);
    cluster.deliver(|from, to| [from, to] == [1, 3] || [from, to] == [3, 1]);
    assert_eq!(cluster.nodes[&1].log.matched(uid(3)), last + 1);
    cluster.restart(3, Some(older));
    let end = cluster.now + TIMING.suspect_after + TIMING.append_every;
    while cluster.now < end && cluster.nodes[&1].log.in_office() {
        // Answers of 2, 4 and 5 are lost until then, or they would be counted with it.
        cluster.beat(1);
        cluster.deliver(|from, to| [from, to] == [1, 3] || [from, to] == [3, 1]);
        if cluster.nodes[&1].log.lost().is_empty() {
            let log = &cluster.nodes[&1].log;
            let (term, index) = (log.term(), last);
            let last = borough_protocol::version::Version { term, index };
            for other in [2, 4] {
                let reply = Message::AppendReply { term, last };
                cluster.on(1, |log, now, out| log.handle(now, uid(other), reply, out)).expect("well formed");
            }
        }
    }
    assert_eq!(cluster.nodes[&1].log.lost(), [uid(3)]);
    assert!(!cluster.nodes[&1].log.in_office());
}

#[test]
fn a_loss_is_noticed_over_a_change_of_coordinator_by_a_node_that_knew() {
    let mut cluster = with_payloads();
    let last = cluster.nodes[&1].log.last_index();
    let older = copy_at(&cluster, 3, last - 3);
    cluster.now = cluster.now + TIMING.suspect_after;
    cluster.restart(3, Some(older));
    // 1 knows what 3 had. In a later term it is a single answer that shows the loss.
    cluster.stand(2);
    cluster.deliver(|from, to| from.max(to) < 3);
    assert!(cluster.nodes[&2].log.may_act());
    cluster.now = cluster.now + TIMING.suspect_after;
    cluster.stand(1);
    cluster.deliver(|from, to| from.max(to) < 3);
    assert!(cluster.nodes[&1].log.may_act());
    assert_eq!(cluster.nodes[&1].log.lost(), []);
    cluster.beat(1);
    cluster.deliver(|_, _| true);
    assert_eq!(cluster.nodes[&1].log.lost(), [uid(3)]);
}

#[test]
fn a_voter_that_was_told_of_its_loss_does_not_vote_before_it_has_caught_up() {
    let mut cluster = with_payloads();
    let last = cluster.nodes[&1].log.last_index();
    let older = copy_at(&cluster, 3, last - 3);
    cluster.restart(3, Some(older));
    cluster.on(3, |log, _, _| log.stop_voting(last));
    cluster.stand(3);
    // 2 lacks nothing, so 3 would vote for it.
    cluster.now = cluster.now + TIMING.suspect_after;
    cluster.stand(2);
    cluster.deliver(|from, to| from.min(to) > 1);
    assert!(!cluster.nodes[&2].log.in_office() && !cluster.nodes[&3].log.in_office());
    cluster.beat(1);
    cluster.now = cluster.now + TIMING.suspect_after;
    cluster.stand(1);
    cluster.deliver(|from, to| from.max(to) < 3);
    beats(&mut cluster, 1, TIMING.suspect_after * 2);
    assert!(cluster.nodes[&1].log.in_office());
    assert_eq!(cluster.states[&3], cluster.states[&1]);
    cluster.now = cluster.now + TIMING.suspect_after;
    cluster.stand(2);
    cluster.deliver(|from, to| from.min(to) > 1);
    assert!(cluster.nodes[&2].log.in_office());
}
