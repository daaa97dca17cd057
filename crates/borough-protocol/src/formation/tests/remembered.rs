//! What a node waits for if itself or others remember a cluster.

use super::*;

/// What others remember counts: every voter of that cluster must be heard.
#[test]
fn a_fresh_node_waits_for_the_voters_that_others_remember() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    answers(&mut a, 2, Past::GaveUp(memory(3)));
    assert!(!a.founds(at(100)));
    assert_eq!(awaited(&a), [("c".into(), Missing::SilentVoter)]);
    answers(&mut a, 3, Past::Fresh);
    assert!(a.founds(at(100)), "{:?}", a.awaited());
    assert!(a.ancestors().has(memory(3).cluster));
}

/// One that lists nobody but `b` never hears the suspended voters that `b` hears.
#[test]
fn a_node_is_told_of_the_clusters_that_others_were_told_of() {
    let [mut a, mut b] = [("a", 1), ("b", 2)].map(|(name, life)| {
        let mut node = seeking(name, life, &["b"], Flaws::default());
        node.on_deadline(at(0), &mut Vec::new());
        node
    });
    // What it knew before it yields is asked for once more.
    assert!(vow_to(&mut b, &a).granted);
    b.promised(
        at(50),
        Uid::new(14).expect("not 0"),
        Vow { past: Past::Suspended(memory(4), None), ..vow("d", 1, false) },
        &mut Vec::new(),
    );
    let answer = vow_to(&mut b, &a);
    assert!(answer.granted && answer.heard_of[..] == [memory(4)]);
    assert!(matches!(
        a.promised(at(100), Uid::new(2).expect("not 0"), answer, &mut Vec::new()),
        Outcome::Seeking
    ));
    let silent = ["c", "d"].map(|name| (name.into(), Missing::SilentVoter));
    assert_eq!(awaited(&a), silent);
    // It tells nobody: it was not told by one that remembers.
    let mut other = seeking("z", 9, &["a"], Flaws::default());
    other.on_deadline(at(0), &mut Vec::new());
    assert_eq!(vow_to(&mut a, &other).heard_of[..], []);
    // In the next attempt it has to be told again.
    a.begin_attempt(at(20_000));
    assert_eq!(awaited(&a), [("b".into(), Missing::Silent)]);
}

/// It was asked because `b` had promised to it, which is over by the time it answers. Still its promise is taken, and with it what it says of its own.
#[test]
fn whom_a_node_that_promises_had_promised_to_is_heard_whatever_it_was_asked_for() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.pledges = Some(Pledges::on_disk([].into()));
    a.on_deadline(at(0), &mut Vec::new());
    let pledged = |seed: &str, to: &[&str]| {
        let pledge = |address: &&str| Pledge {
            voter: directory(address),
            address: Address::new(*address),
            uid: Uid::new(9).expect("not 0"),
            attempt: 1,
        };
        let pledged = to.iter().map(pledge).collect();
        Vow { pledged, ..vow(seed, 1, true) }
    };
    let mut hears = |life: u64, vow| {
        a.promised(at(100), Uid::new(life).expect("not 0"), vow, &mut Vec::new());
        awaited(&a)
    };
    assert_eq!(hears(2, pledged("b", &["c"])), [("c".into(), Missing::MayHaveFounded)]);
    assert_eq!(hears(2, pledged("b", &[])), []);
    assert_eq!(hears(3, pledged("c", &["d"])), [("d".into(), Missing::MayHaveFounded)]);
    assert_eq!(hears(4, pledged("d", &[])), []);
}

/// A seed that left its cluster waits for those that may have stayed, and is not about to found anything.
#[test]
fn a_seed_that_left_a_cluster_is_told_apart_from_one_that_promised_to_another() {
    let mut a = seeking("a", 1, &["a", "b", "c"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    let left = |seed: &str| Vow { past: Past::Left(memory(4)), ..vow(seed, 1, false) };
    a.promised(at(10), Uid::new(12).expect("not 0"), left("b"), &mut Vec::new());
    a.promised(at(10), Uid::new(13).expect("not 0"), vow("c", 1, false), &mut Vec::new());
    let expected = [
        ("b".into(), Missing::Left),
        ("c".into(), Missing::PromisedToAnother),
        ("d".into(), Missing::SilentVoter),
    ];
    assert_eq!(awaited(&a), expected);
    // It has heard that the cluster has ended.
    let ended = Vow { past: Past::Ended(memory(4)), ..vow("b", 1, true) };
    a.promised(at(20), Uid::new(12).expect("not 0"), ended, &mut Vec::new());
    assert_eq!(awaited(&a), [("c".into(), Missing::PromisedToAnother)]);
}

#[test]
fn a_node_with_a_record_waits_for_the_voters_of_its_cluster_and_not_for_its_list() {
    let mut d = seeking("d", 4, &["d", "e"], Flaws::default());
    (d.bond, d.memory) = (Some(Bond::Member), Some(memory(3)));
    d.remembered = of_itself(d.memory.as_ref());
    d.on_deadline(at(0), &mut Vec::new());
    let silent = |name: &str| (String::from(name), Missing::Silent);
    assert_eq!(awaited(&d), [silent("a"), silent("b"), silent("c")]);
    answers(&mut d, 12, Past::Suspended(memory(3), None));
    answers(&mut d, 3, Past::Fresh);
    assert_eq!(awaited(&d), [silent("a"), ("b".into(), Missing::Suspended), ("c".into(), Missing::Forgot)]);
}

#[test]
fn those_that_are_suspended_are_asked_to_give_up_once_they_are_too_few_to_go_on() {
    let mut a = seeking("a", 1, &["a", "b", "c"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    answers(&mut a, 13, Past::Suspended(memory(3), None));
    assert!(a.knock().over.is_empty(), "b has not answered");
    assert_eq!(awaited(&a), [("b".into(), Missing::SilentVoter), ("c".into(), Missing::Suspended)]);
    let mut two_left = a.clone();
    answers(&mut two_left, 12, Past::Suspended(memory(3), None));
    assert!(two_left.knock().over.is_empty(), "b and c are two of three voters");
    answers(&mut a, 2, Past::Fresh);
    let over = Over { cluster: memory(3).cluster, voters: memory(3).voters.id };
    assert_eq!(*a.knock().over, [over]);
    assert!(!a.founds(at(100)));
    answers(&mut a, 3, Past::GaveUp(memory(3)));
    assert!(a.founds(at(100)) && a.knock().over.is_empty());
}

#[test]
fn a_greeting_holds_the_founding_up_until_its_cluster_is_known() {
    let mut a = seeking("a", 1, &["a"], Flaws::default());
    a.wait = SECOND;
    a.on_deadline(at(0), &mut Vec::new());
    a.greeted(memory(1).cluster);
    assert!(matches!(wake_until(&mut a, at(1_000)), Outcome::Seeking));
    // Its only voter was this very address, and is gone.
    answers(&mut a, 2, Past::GaveUp(memory(1)));
    assert!(matches!(wake_until(&mut a, at(1_100)), Outcome::Founds));
}

#[test]
fn nodes_that_all_gave_up_found_once_all_voters_they_remember_answer() {
    let mut a = seeking("a", 1, &["a"], Flaws::default());
    a.memory = Some(memory(2));
    a.remembered = of_itself(a.memory.as_ref());
    a.on_deadline(at(0), &mut Vec::new());
    assert!(!a.founds(at(0)));
    answers(&mut a, 2, Past::GaveUp(memory(2)));
    assert!(a.founds(at(100)));
}
