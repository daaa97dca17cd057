//! What a snapshot says of itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::{VoterId, Voters};

use super::snapshot::{Member, MemberState, TopologySnapshot};

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

fn incarnation(number: u64) -> Incarnation {
    Incarnation { address: Address::new(format!("node:{number}")), uid: uid(number) }
}

fn member(number: u64, id: &str, state: MemberState, is_reachable: bool) -> Member {
    let (roles, empty) = (Arc::from([]), Arc::from(""));
    let facts =
        Facts { id: NodeId::new(id), roles, app_version: Arc::clone(&empty), zone: empty, disk: None };
    let admission = Some(Version { term: Term::new(1), index: number });
    Member { incarnation: incarnation(number), state, is_reachable, admission, facts: Arc::new(facts) }
}

fn list(numbers: &[u64]) -> BTreeSet<VoterId> {
    numbers.iter().filter_map(|number| VoterId::new(*number)).collect()
}

#[test]
fn it_tolerates_as_many_losses_as_leave_a_majority_of_each_list() {
    // The voters now, those to come, the reachable members: how many more may go.
    type Case = (&'static [u64], &'static [u64], &'static [u64], usize);
    let cases: &[Case] = &[
        (&[], &[], &[], 0),
        (&[1], &[], &[1], 0),
        (&[1, 2], &[], &[1, 2], 0),
        (&[1, 2, 3], &[], &[1, 2, 3], 1),
        (&[1, 2, 3], &[], &[1, 2], 0),
        (&[1, 2, 3], &[], &[1], 0),
        (&[1, 2, 3, 4, 5], &[], &[1, 2, 3, 4, 5], 2),
        (&[1, 2, 3, 4, 5], &[], &[1, 2, 3, 4], 1),
        (&[1, 2, 3, 4, 5], &[1], &[1, 2, 3, 4, 5], 0),
        (&[1, 2, 3], &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], 1),
    ];
    for (now, next, reachable, expected) in cases {
        let mut snapshot = TopologySnapshot::alone(NodeId::new("a"), incarnation(1));
        snapshot.voters = Voters { id: Version::ZERO, now: list(now), next: list(next) };
        let up = (1..=5).map(|number| member(number, "x", MemberState::Up, reachable.contains(&number)));
        snapshot.members = up.collect();
        assert_eq!(snapshot.tolerates(), *expected, "{now:?} {next:?} {reachable:?}");
    }
}

#[test]
fn a_voter_that_is_down_is_lost_already() {
    let mut snapshot = TopologySnapshot::alone(NodeId::new("a"), incarnation(1));
    snapshot.voters = Voters { id: Version::ZERO, now: list(&[1, 2, 3]), next: BTreeSet::new() };
    let state = |number| if number == 3 { MemberState::Down } else { MemberState::Up };
    snapshot.members = (1..=3).map(|number| member(number, "x", state(number), true)).collect();
    assert_eq!(snapshot.tolerates(), 0);
}

#[test]
fn a_name_is_free_again_once_the_member_that_had_it_is_down() {
    let mut snapshot = TopologySnapshot::alone(NodeId::new("a"), incarnation(1));
    snapshot.members =
        vec![member(1, "same", MemberState::Down, false), member(2, "same", MemberState::Joining, true)];
    let named: Vec<_> = snapshot.named("same").map(Member::uid).collect();
    assert_eq!(named, [uid(2)]);
}
