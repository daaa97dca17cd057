//! When those that are suspended are shown that their cluster can never go on.

use super::*;
use crate::version::{Term, Version};
use crate::voters::Voters;

fn voter(life: u64) -> VoterId {
    VoterId::of_life(Uid::new(life).expect("not 0"))
}

/// The lists that came with that entry of the first term; life 10 + place is the voter at that place of the list of addresses.
fn voters(index: u64, now: &[u64], next: &[u64]) -> Voters {
    let lives = |lives: &[u64]| lives.iter().map(|life| voter(*life)).collect();
    Voters { id: version(index), now: lives(now), next: lives(next) }
}

fn version(index: u64) -> Version {
    Version { term: Term::new(1), index }
}

fn places(voters: &Voters) -> Arc<[(VoterId, Address)]> {
    let place =
        |voter: VoterId| (voter, Address::new(LIST[usize::try_from(voter.get() - 11).expect("small")]));
    voters.all().map(place).collect()
}

/// Of one that waits, whose log ends at that place and has these lists last.
fn waits(memory: &Arc<Memory>, last: u64, voters: &Voters) -> Past {
    let log = LogEnd { last: version(last), voters: voters.clone(), places: places(voters) };
    Past::Suspended(memory.clone(), Some(Arc::new(log)))
}

fn remembers(voters: &Voters) -> Arc<Memory> {
    Arc::new(Memory { voters: voters.clone(), places: places(voters), ..(*memory(1)).clone() })
}

/// `a`, which asks everybody and was the voter 11 of that cluster before it gave up.
fn founder(memory: &Arc<Memory>, seeds: &[&str]) -> Seeking {
    let mut a = seeking("a", 1, seeds, Flaws::default());
    a.memory = Some(memory.clone());
    a.on_deadline(at(0), &mut Vec::new());
    a
}

/// The only voter wrote the last list of a change, which nobody else has, and gave up. It remembers that list, of which the others would be a quorum.
#[test]
fn a_list_that_nobody_has_in_its_log_keeps_nobody_waiting() {
    let first = voters(1, &[11], &[]);
    let joint = voters(12, &[11], &[11, 12, 13]);
    let last = voters(13, &[11, 12, 13], &[]);
    let mut a = founder(&remembers(&last), &["a", "b", "c"]);
    answers(&mut a, 12, waits(&remembers(&joint), 12, &joint));
    answers(&mut a, 13, waits(&remembers(&first), 11, &first));
    assert_eq!(*a.knock().over, [Over { cluster: memory(1).cluster, voters: last.id }]);
    // Had one of them the list, that one could be elected.
    answers(&mut a, 12, waits(&remembers(&last), 13, &last));
    assert!(a.knock().over.is_empty());
    // But not by one whose log goes further.
    answers(&mut a, 13, waits(&remembers(&joint), 14, &joint));
    assert!(!a.knock().over.is_empty());
}

/// Both voters would vote for it if it voted, and it does not by its own log.
#[test]
fn one_that_its_own_log_does_not_name_is_not_elected() {
    let (first, last) = (voters(1, &[12, 13], &[]), voters(13, &[12, 13], &[]));
    let mut a = founder(&remembers(&last), &["a", "b", "c", "d"]);
    let elsewhere = voters(2, &[11], &[]);
    answers(&mut a, 12, waits(&remembers(&last), 2, &elsewhere));
    answers(&mut a, 13, waits(&remembers(&last), 2, &elsewhere));
    answers(&mut a, 14, waits(&remembers(&first), 9, &first));
    assert!(!a.knock().over.is_empty());
}

/// It may still be in office, or elected by those that wait.
#[test]
fn a_voter_by_the_log_of_one_that_waits_has_to_answer() {
    let (joint, last) = (voters(12, &[14], &[12, 13]), voters(13, &[12, 13], &[]));
    let mut a = founder(&remembers(&last), &["a", "b", "c"]);
    answers(&mut a, 12, waits(&remembers(&joint), 12, &joint));
    answers(&mut a, 13, waits(&remembers(&joint), 12, &joint));
    assert!(a.knock().over.is_empty(), "d has not answered");
    assert!(a.asked().contains(&Address::new("d")), "it is asked");
    answers(&mut a, 4, Past::Fresh);
    assert!(!a.knock().over.is_empty());
    // Where one of them listens is not known.
    let log = LogEnd { last: version(12), voters: joint, places: [].into() };
    answers(&mut a, 13, Past::Suspended(remembers(&last), Some(Arc::new(log))));
    assert!(a.knock().over.is_empty());
}

/// Those whose logs are on disks, and those that do not say how theirs ends, may be elected.
#[test]
fn one_that_does_not_say_how_its_log_ends_may_be_elected() {
    let (joint, last) = (voters(12, &[11], &[11, 12, 13]), voters(13, &[11, 12, 13], &[]));
    let mut a = founder(&remembers(&last), &["a", "b", "c"]);
    answers(&mut a, 12, waits(&remembers(&joint), 12, &joint));
    answers(&mut a, 13, Past::Suspended(remembers(&joint), None));
    assert!(a.knock().over.is_empty());
}
