//! Examples that start their nodes themselves and end by themselves.

use crate::program::output;

#[test]
fn account_prints_the_balance() {
    assert_eq!(output("account"), "Alice's balance: 150\n");
}

#[test]
fn a_bank_of_two_branches_keeps_the_balance_when_the_one_that_has_it_closes() {
    let expected = "\
100 paid in at north: 100
50 paid in at south: 150
the branch that kept the account is closed
Alice's balance: 150
";
    assert_eq!(output("bank"), expected);
}

#[test]
fn counters_say_the_same_at_either_node_and_after_one_has_left() {
    let expected = "\
2 nodes are up
east says: apples 7, pears 7, plums 7, quinces 7
west says: apples 7, pears 7, plums 7, quinces 7
east has left
west says: apples 7, pears 7, plums 7, quinces 7
";
    assert_eq!(output("counters"), expected);
}

#[test]
fn carts_are_let_go_when_they_idle_or_are_too_many_and_lose_nothing() {
    let printed = output("cart");
    let mut lines: Vec<_> = printed.lines().collect();
    let (live, shelved) = lines.remove(1).split_once(" carts live, ").unwrap();
    // On a machine of more than fifty cores each lane has one at least.
    let most = std::thread::available_parallelism().map_or(0, |cores| cores.get() * 2).max(100);
    assert!((1..=most).contains(&live.parse::<usize>().unwrap()), "{printed}");
    let shelved: usize = shelved.strip_suffix(" are on the shelf").unwrap().parse().unwrap();
    assert!(shelved + most >= 1001, "{printed}");
    let expected = [
        "alice has bread and jam",
        "nobody shops: no cart lives, 1001 are on the shelf",
        "alice comes back: bread and jam",
        "the first node has left; alice has bread and jam",
        "a cart without a name: the message cannot travel to the actor's node: it names no entity: its route gave none; it was not handled",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_hundred_thousand_sensors_are_spread_over_eight_nodes_and_keep_their_readings_when_one_leaves() {
    let printed = output("sensors");
    assert!(printed.contains("8 nodes are up\n100000 readings taken"), "{printed}");
    let hosts: Vec<u32> = printed
        .lines()
        .filter_map(|line| line.strip_suffix(" sensors")?.split_once(" hosts ")?.1.parse().ok())
        .collect();
    assert_eq!(hosts.len(), 8, "{printed}");
    // 32 shards each, of about 390 sensors.
    assert!(hosts.iter().all(|sensors| (10_000..=15_000).contains(sensors)), "{printed}");
    assert!(printed.contains("100000 sensors in all\nnode-4 has left"), "{printed}");
    assert!(printed.ends_with("\n100000 readings\n"), "{printed}");
}

#[test]
fn messages_in_envelopes_find_their_counter_and_faults_are_answered_by_kind() {
    let expected = "\
counter 123: 2
counter 7: 0
divided by 0: counters dropped the reply without answering; the message may have been handled
it went on as it was; divided by 2: 1
hello: the message cannot travel to the actor's node: it names no entity: its route gave none; it was not handled
";
    let printed = output("counter_extractor");
    let (told, ended) = printed.split_at(expected.len());
    assert_eq!(told, expected);
    let mut ended: Vec<_> = ended.lines().collect();
    assert_eq!(ended.pop(), Some("all have ended"), "{printed}");
    ended.sort_unstable();
    assert_eq!(ended, ["/counters/123 ends at 1", "/counters/7 ends at 0"]);
}

#[test]
fn a_front_end_that_hosts_nothing_finds_all_sessions() {
    let printed = output("proxy");
    let mut lines: Vec<_> = printed.lines().collect();
    // The oldest first, and the two that joined did so at the same time.
    lines[1..4].sort_unstable();
    let expected = [
        "100 visitors, 2 pages each",
        "back-1 hosts sessions",
        "back-2 hosts sessions",
        "front hosts nothing",
        "100 sessions in all",
        "back-1 has left; visitor-7 has seen 3 pages",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_broadcast_tells_each_node_and_names_the_one_that_has_no_such_actor() {
    let printed = output("broadcast");
    let mut lines: Vec<_> = printed.lines().collect();
    lines.sort_unstable();
    let expected = [
        "north says: market on Friday",
        "north was told",
        "south says: market on Friday",
        "south was told",
        "west was not: there is no living actor named /board; only what its node has exposed can be found",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn odometers_that_move_while_they_are_driven_count_every_kilometre_in_order() {
    let expected = "\
1000 cars are on the road, all on the first node
50 shards have moved to the second node, while they drive
the first node has left, while they drive
0 cars have a kilometre too few, too many or out of order
";
    assert_eq!(output("migrate"), expected);
}
