//! How long a promise counts, how it is given back, and what keeps a node from giving one: a cluster that greets or welcomes it.

use super::*;

#[test]
fn a_promise_ends_after_two_seed_timeouts_or_when_it_is_released() {
    let (a, c) = (knock_of("a", 1, Some(1)), knock_of("c", 3, Some(1)));
    let mut d = seeking("d", 4, LIST, Flaws::default());
    assert_eq!(says(&mut d, at(0), &c), [(3, true)]);
    assert_eq!(says(&mut d, at(9_999), &a), [(1, false)]);
    assert_eq!(says(&mut d, at(10_000), &a), [(1, true)]);
    d.released(Uid::new(3).expect("not 0"), 9, &mut Vec::new());
    assert_eq!(says(&mut d, at(10_010), &c), [(3, false)], "it was not to this one");
    d.released(Uid::new(1).expect("not 0"), 0, &mut Vec::new());
    assert_eq!(says(&mut d, at(10_010), &c), [(3, false)], "an older attempt's release is no news");
    d.released(Uid::new(1).expect("not 0"), 1, &mut Vec::new());
    assert_eq!(says(&mut d, at(10_010), &c), [(3, true)]);
}

/// Seed 6659 of the simulator: a seed promised to a node, joined a cluster, and the word of that was lost on its way to the node, which founded another one.
#[test]
fn a_node_that_is_welcomed_takes_its_promise_back_before_it_joins() {
    let cluster = |founder| Cluster { founder: Uid::new(founder).expect("not 0"), ..memory(1).cluster };
    let from = Uid::new(9).expect("not 0");
    let of_another = Table::new(cluster(9));
    let mut b = seeking("b", 2, &["b"], Flaws::default());
    b.on_deadline(at(0), &mut Vec::new());
    assert!(b.is_free_to_join(at(0), from, &of_another), "nobody has its promise");
    assert_eq!(says(&mut b, at(10), &knock_of("a", 1, Some(1))), [(1, true)]);
    assert!(
        b.is_free_to_join(at(20), from, &Table::new(cluster(1))),
        "the one that has its promise founded that cluster"
    );
    b.welcomed(at(20), &of_another);
    assert!(!b.is_free_to_join(at(20), from, &of_another));
    assert_eq!(says(&mut b, at(30), &knock_of("a", 1, Some(1))), [(1, false)]);
    assert_eq!(says(&mut b, at(30), &knock_of("a", 1, Some(2))), [(1, false)], "nor is anything promised");
    b.released(Uid::new(1).expect("not 0"), 2, &mut Vec::new());
    assert!(b.is_free_to_join(at(40), from, &of_another));

    let mut c = seeking("c", 3, &["c"], Flaws::default());
    c.on_deadline(at(0), &mut Vec::new());
    assert_eq!(says(&mut c, at(10), &knock_of("a", 1, Some(1))), [(1, true)]);
    assert!(!c.is_free_to_join(at(20), from, &of_another));
    assert!(c.is_free_to_join(at(10_010), from, &of_another), "the promise is over");
}

/// Seed 74949 of the simulator: the holder had no use for the promise any more when it came, joined a cluster, and did not give it back. Its giver waited until
/// the promise was over before it joined the same cluster.
#[test]
fn a_promise_that_is_not_needed_any_more_is_given_back_with_the_others() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    let c = Uid::new(3).expect("not 0");
    a.promised(at(10), c, vow("c", 1, true), &mut Vec::new());
    assert_eq!(awaited(&a), [("b".into(), Missing::Silent)]);
    let mut say = Vec::new();
    a.gives_up(&mut say);
    assert!(matches!(say[..], [Say::Release(to, 1)] if to == c), "{say:?}");
}

/// Seed 386366 of the simulator: members of a cluster greeted the one that had promised, and the way from it to the founder was cut meanwhile.
#[test]
fn a_promise_that_is_not_said_again_does_not_count() {
    let mut a = seeking("a", 1, &["a", "b"], Flaws::default());
    a.wait = Duration::from_secs(1);
    let b = Uid::new(2).expect("not 0");
    a.on_deadline(at(0), &mut Vec::new());
    a.promised(at(10), b, vow("b", 1, true), &mut Vec::new());
    while a.next_deadline() < at(4000) {
        let now = a.next_deadline();
        assert!(matches!(a.on_deadline(now, &mut Vec::new()), Outcome::Seeking), "{now:?}");
    }
    let promises = a.next_deadline();
    a.promised(promises, b, vow("b", a.attempt, true), &mut Vec::new());
    assert!(matches!(promised_until(&mut a, promises + Duration::from_secs(1)), Outcome::Founds));
}

/// Its word that gives the promise back may be lost.
#[test]
fn the_holder_of_a_promise_that_welcomes_founds_nothing_by_it() {
    let mut b = seeking("b", 2, &["b"], Flaws::default());
    b.on_deadline(at(0), &mut Vec::new());
    let (holder, other) = (Uid::new(1).expect("not 0"), Uid::new(9).expect("not 0"));
    let table = Table::new(Cluster { founder: other, ..memory(1).cluster });
    assert_eq!(says(&mut b, at(10), &knock_of("a", 1, Some(1))), [(1, true)]);
    assert!(!b.is_free_to_join(at(20), other, &table));
    assert!(b.is_free_to_join(at(30), holder, &table), "it takes part there, so it seeks no more");
}

/// The way to a cluster that works is open in one direction only: its members greet this node, and cannot be asked.
#[test]
fn a_node_that_is_greeted_lets_nobody_found() {
    let mut b = seeking("b", 2, &["b"], Flaws::default());
    b.on_deadline(at(0), &mut Vec::new());
    assert_eq!(says(&mut b, at(10), &knock_of("a", 1, Some(1))), [(1, true)]);
    b.greeted(memory(1).cluster);
    let mut say = Vec::new();
    b.knocked(at(20), &knock_of("a", 1, Some(1)), &mut say);
    let [Say::Promise(_, vow)] = &say[..] else { panic!("{say:?}") };
    assert!(!vow.granted && vow.withdrawn, "{vow:?}");
    let mut fresh = seeking("c", 3, &["c"], Flaws::default());
    fresh.on_deadline(at(0), &mut Vec::new());
    fresh.greeted(memory(1).cluster);
    assert_eq!(says(&mut fresh, at(10), &knock_of("a", 1, Some(1))), [(1, false)]);
}

/// Whatever keeps it from joining, and however long that lasts.
#[test]
fn a_node_that_was_welcomed_is_not_fresh_any_more() {
    let cluster = memory(1).cluster;
    let mut b = seeking("b", 2, &["b"], Flaws::default());
    b.on_deadline(at(0), &mut Vec::new());
    b.welcomed(at(10), &Table::new(Cluster { name: cluster.name ^ 1, ..cluster }));
    assert_eq!(says(&mut b, at(10), &knock_of("a", 1, Some(1))), [(1, true)], "another name");
    b.welcomed(at(20), &Table::new(cluster));
    assert_eq!(says(&mut b, at(30), &knock_of("a", 1, Some(1))), [(1, false)]);
    let at_last = at(30_000);
    wake_until(&mut b, at_last);
    let mut say = Vec::new();
    b.knocked(at_last, &knock_of("a", 1, Some(9)), &mut say);
    let heard_of: Vec<Cluster> = say
        .iter()
        .flat_map(|said| match said {
            Say::Promise(_, vow) => vow.heard_of.iter().map(|memory| memory.cluster).collect(),
            Say::Release(..) | Say::Knock(..) | Say::Keep(_) => Vec::new(),
        })
        .collect();
    assert_eq!(heard_of, [cluster], "it was not welcomed for long, and promises; it tells of the cluster");
}

#[test]
fn a_promise_that_is_taken_back_counts_no_more_in_that_attempt() {
    let mut a = seeking("a", 1, &["a", "b", "c"], Flaws::default());
    a.on_deadline(at(0), &mut Vec::new());
    assert!(!founds(&mut a, at(10), 2, 1, true));
    let mut say = Vec::new();
    let b = Uid::new(2).expect("not 0");
    a.promised(at(20), b, Vow { withdrawn: true, ..vow("b", 1, false) }, &mut say);
    assert!(matches!(say[..], [Say::Release(to, 1)] if to == b), "{say:?}");
    assert!(!founds(&mut a, at(30), 2, 1, true), "said before, and late");
    assert!(!founds(&mut a, at(30), 3, 1, true));
}

/// Seed 197396 of the simulator: the first release was lost, and each later one named no attempt. The one that asked for its promise could not join for as long as
/// the promise lasted, was cut off from the cluster that welcomed it, and founded another one.
#[test]
fn a_promise_is_given_back_though_the_first_release_is_lost() {
    let [mut a, mut b] = [("a", 1), ("b", 2)].map(|(name, life)| {
        let mut node = seeking(name, life, &["b"], Flaws::default());
        node.on_deadline(at(0), &mut Vec::new());
        node
    });
    let of_another = Table::new(Cluster { founder: Uid::new(9).expect("not 0"), ..memory(1).cluster });
    let is_free = |b: &mut Seeking| b.is_free_to_join(at(100), Uid::new(9).expect("not 0"), &of_another);
    assert!(vow_to(&mut b, &a).granted);
    b.welcomed(at(100), &of_another);
    assert!(!is_free(&mut b));
    let mut release = || {
        let (vow, mut say) = (vow_to(&mut b, &a), Vec::new());
        assert!(vow.withdrawn);
        a.promised(at(100), Uid::new(2).expect("not 0"), vow, &mut say);
        match say[..] {
            [Say::Release(_, attempt)] => attempt,
            _ => panic!("{say:?}"),
        }
    };
    let (_lost, second) = (release(), release());
    b.released(Uid::new(1).expect("not 0"), second, &mut Vec::new());
    assert!(is_free(&mut b));
}
