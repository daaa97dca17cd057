//! How long a node waits before it founds, and from when.

use super::*;

#[test]
fn a_node_that_stood_still_asks_again_before_it_founds() {
    let mut a = seeking("a", 1, &["a"], Flaws::default());
    a.wait = 2 * SECOND;
    assert!(matches!(wake_until(&mut a, at(1_900)), Outcome::Seeking));
    let stood_still = |late: u64| {
        let mut a = a.clone();
        matches!(a.on_deadline(at(2_000 + late), &mut Vec::new()), Outcome::Seeking)
    };
    let max_pause = u64::try_from(a.settings.max_pause.as_millis()).expect("short");
    assert!(!stood_still(max_pause) && stood_still(max_pause + 1));
}

#[test]
fn a_node_that_stood_still_until_just_before_it_asks_again_asks_at_once() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.wait = 2 * SECOND;
    // The wait ends long before the next round of questions, and the pause between the two.
    let settings = Settings { max_pause: a.settings.seed_ask_interval / 4, ..Settings::default() };
    a.settings = Checked::new(settings).expect("good");
    let max_pause = a.settings.max_pause;
    a.on_deadline(at(0), &mut Vec::new());
    assert!(!founds(&mut a, at(10), 2, 1, true));
    let wait_ends = at(10) + a.wait;
    assert!(matches!(promised_until(&mut a, wait_ends - Duration::from_millis(1)), Outcome::Seeking));
    assert_eq!(a.next_deadline(), wait_ends);
    let late = wait_ends + max_pause + Duration::from_millis(1);
    // Neither its own clock nor a promise that waited for it makes it a founder.
    assert!(!founds(&mut a.clone(), late, 2, 1, true));
    let mut say = Vec::new();
    assert!(matches!(a.on_deadline(late, &mut say), Outcome::Seeking));
    assert!(a.next_deadline() > late);
    assert!(matches!(&say[..], [Say::Knock(_, knock)] if knock.attempt == Some(2)));
}

#[test]
fn it_founds_once_nothing_was_missing_for_as_long_as_it_waits() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.wait = 2 * SECOND;
    a.on_deadline(at(0), &mut Vec::new());
    assert!(!founds(&mut a, at(10), 2, 1, true));
    assert_eq!(a.next_deadline(), at(200));
    assert!(matches!(promised_until(&mut a, at(2_009)), Outcome::Seeking));
    // Another life listens there by then, and has promised to another.
    let (mut late, uid) = (a.clone(), Uid::new(12).expect("not 0"));
    late.promised(at(2_009), uid, vow("b", 1, false), &mut Vec::new());
    assert!(matches!(late.on_deadline(at(2_010), &mut Vec::new()), Outcome::Seeking));
    assert_eq!(a.next_deadline(), at(2_010));
    assert!(matches!(a.on_deadline(at(2_010), &mut Vec::new()), Outcome::Founds));
}

#[test]
fn a_wait_that_something_new_ends_leaves_no_deadline_in_the_past() {
    let waits = || {
        let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
        a.wait = 2 * SECOND;
        a.on_deadline(at(0), &mut Vec::new());
        assert!(!founds(&mut a, at(10), 2, 1, true));
        assert!(matches!(promised_until(&mut a, at(2_009)), Outcome::Seeking));
        assert_eq!(a.next_deadline(), at(2_010));
        a
    };
    // Another node remembers a voter that was not asked yet.
    let mut learns = waits();
    learns.knocked(at(2_009), &Knock { memory: Some(memory(3)), ..knock_of("c", 3, None) }, &mut Vec::new());
    assert!(learns.next_deadline() > at(2_010));
    // It is welcomed to a cluster while another node has its promise, and asks for that back.
    let mut withdraws = waits();
    withdraws.withdraws_until = Some(at(9_000));
    assert!(matches!(withdraws.on_deadline(at(2_010), &mut Vec::new()), Outcome::Seeking));
    assert!(withdraws.next_deadline() > at(2_010));
}

#[test]
fn a_node_whose_address_nobody_knows_founds_at_once_if_it_is_alone() {
    let alone = |seeds: &[&str], unknown_to_others| {
        let mut a = seeking("a", 1, seeds, Flaws::default());
        a.wait = 2 * SECOND;
        a.founding.unknown_to_others = unknown_to_others;
        matches!(a.on_deadline(at(0), &mut Vec::new()), Outcome::Founds)
    };
    assert!(alone(&[], true) && alone(&["a"], true));
    assert!(!alone(&[], false), "those that list it may be about to greet it");
    assert!(!alone(&["b"], true));
}

#[test]
fn a_node_that_counted_for_leases_founds_once_they_are_over() {
    for is_alone in [true, false] {
        let mut a = seeking("a", 1, &[], Flaws::default());
        a.founding.unknown_to_others = is_alone;
        a.leases_until = Some(at(3_000));
        for early in [0, 2_999] {
            assert!(matches!(a.on_deadline(at(early), &mut Vec::new()), Outcome::Seeking), "{is_alone}");
        }
        assert_eq!(a.next_deadline(), at(3_000));
        assert!(matches!(a.on_deadline(at(3_000), &mut Vec::new()), Outcome::Founds), "{is_alone}");
    }
}
