//! How moves end.

use borough_protocol::node::{Command, Event};
use borough_protocol::sharding::{Entry, Epoch};

use super::town::{FIVE, THREE, Town, counts, entry, moving, owners, shard, still, table};
use crate::rig::{MILLI, Rig, SECOND};

#[test]
fn a_move_is_settled_once_the_receiver_has_everything() {
    let mut town = Town::full(THREE, &still());
    let before = entry(&town.rig, 0);
    let (number, epoch) = town.begin_move("c");
    assert_eq!(epoch, before.epoch.next());
    town.say("a", |report| report.frozen = vec![(shard(number), epoch)]);
    town.rig.always("frozen is not enough", 2 * SECOND, |rig| entry(rig, number).moving.is_some());
    town.say("c", |report| report.installed = vec![(shard(number), epoch)]);
    let to = town.rig.uid("c");
    town.rig.wait_until("settled", 100 * MILLI, |rig| entry(rig, number).owner == to);
    let expected = Entry { owner: to, epoch, issued: epoch, lineage: before.lineage, moving: None };
    assert_eq!(entry(&town.rig, number), expected);
}

#[test]
fn only_the_receiver_can_say_that_it_has_everything() {
    let mut town = Town::full(THREE, &still());
    let (number, epoch) = town.begin_move("c");
    town.say("b", |report| report.installed = vec![(shard(number), epoch)]);
    town.say("c", |report| report.installed = vec![(shard(number), Epoch::new(epoch.get() - 1))]);
    town.rig.always("not settled", 2 * SECOND, |rig| entry(rig, number).moving.is_some());
}

#[test]
fn an_owner_that_is_removed_in_the_move_has_an_heir_if_that_one_has_everything() {
    let mut town = Town::full(FIVE, &still());
    // The owner is not the coordinator here: a move from e to d.
    let (owner, to) = (town.rig.uid("e"), town.rig.uid("d"));
    let all = owners(&town.rig, "a");
    let of_e: Vec<u32> =
        all.iter().filter(|(_, of)| **of == owner).map(|(number, _)| *number).take(2).collect();
    town.say("b", |report| report.places = of_e.iter().map(|number| (shard(*number), to)).collect());
    town.rig.wait_until("moving", SECOND, |rig| moving(rig) == 2);
    let lineage = entry(&town.rig, of_e[0]).lineage;
    let epoch = entry(&town.rig, of_e[0]).issued;
    town.rig.crash("e");
    town.rig.wait_until("removed", 3 * SECOND, |rig| table(rig).is_removed(owner));
    // What was sent last is there only now; of the other shard it is not.
    town.say("d", |report| report.installed = vec![(shard(of_e[0]), epoch)]);
    town.rig.wait_until("settled", 100 * MILLI, |rig| entry(rig, of_e[0]).owner == to);
    assert!(!table(&town.rig).removed()[&owner].freed, "nobody had to wait");
    assert_eq!(entry(&town.rig, of_e[0]).lineage, lineage);
    town.rig.wait_until("the other begins anew", 3 * SECOND, |rig| entry(rig, of_e[1]).lineage > lineage);
    assert_eq!(entry(&town.rig, of_e[1]).moving, None);
}

#[test]
fn what_cannot_be_is_called_off_and_rests() {
    for who in ["a", "c"] {
        let mut town = Town::full(THREE, &still());
        let (number, epoch) = town.begin_move("c");
        town.say("b", |report| report.impossible = vec![(shard(number), epoch)]);
        town.rig.always("it is not b's to say", SECOND, |rig| entry(rig, number).moving.is_some());
        town.say(who, |report| report.impossible = vec![(shard(number), epoch)]);
        town.rig.wait_until("called off", 100 * MILLI, |rig| entry(rig, number).moving.is_none());
        let Entry { owner, issued, .. } = entry(&town.rig, number);
        assert_eq!((owner, issued), (town.rig.uid("a"), epoch), "the epoch is burnt");
        // The same wish again: not before it has rested.
        let to = town.rig.uid("c");
        town.say("b", |report| report.places = vec![(shard(number), to)]);
        town.rig.always("it rests", 4 * SECOND, |rig| entry(rig, number).moving.is_none());
        let again = |rig: &Rig| entry(rig, number).moving == Some((to, epoch.next()));
        town.rig.wait_until("another try", 2 * SECOND, again);
    }
}

#[test]
fn a_move_lasts_as_long_as_its_owner_does_not_say_that_it_is_late() {
    let mut town = Town::full(THREE, &still());
    let (number, epoch) = town.begin_move("c");
    town.rig.always("turns may take long", 80 * SECOND, |rig| entry(rig, number).moving.is_some());
    town.say("a", |report| report.frozen = vec![(shard(number), epoch)]);
    town.rig.always("it may still arrive", 80 * SECOND, |rig| entry(rig, number).moving.is_some());
}

#[test]
fn the_rests_between_tries_double_up_to_five_minutes_and_end_once_its_owner_can_wait_no_longer() {
    let mut town = Town::full(THREE, &still());
    let (number, mut epoch) = town.begin_move("c");
    let to = town.rig.uid("c");
    town.say("b", |report| report.places = vec![(shard(number), to)]);
    let next_try = |epoch: Epoch| move |rig: &Rig| entry(rig, number).moving == Some((to, epoch.next()));
    for rest in [5, 10, 20, 40, 80, 160, 300, 300] {
        town.say("a", |report| report.impossible = vec![(shard(number), epoch)]);
        town.rig.wait_until("called off", 100 * MILLI, |rig| entry(rig, number).moving.is_none());
        town.rig.always("it rests", (rest - 1) * SECOND, |rig| entry(rig, number).moving.is_none());
        town.rig.wait_until("another try", 2 * SECOND, next_try(epoch));
        epoch = epoch.next();
    }
    town.say("a", |report| report.impossible = vec![(shard(number), epoch)]);
    town.rig.wait_until("called off", 100 * MILLI, |rig| entry(rig, number).moving.is_none());
    town.say("a", |report| report.is_forcing = true);
    town.rig.wait_until("another try at once", SECOND, next_try(epoch));
    epoch = epoch.next();
    town.say("a", |report| report.impossible = vec![(shard(number), epoch)]);
    town.rig.wait_until("called off", 100 * MILLI, |rig| entry(rig, number).moving.is_none());
    town.rig.always("but not again and again", 5 * SECOND, |rig| entry(rig, number).moving.is_none());
}

#[test]
fn a_move_to_one_that_leaves_is_called_off() {
    let mut town = Town::full(THREE, &still());
    let (number, _) = town.begin_move("c");
    town.rig.command("c", Command::Leave);
    town.rig.wait_until("called off", SECOND, |rig| entry(rig, number).moving.is_none());
    assert!(town.rig.heard(&Event::Drain));
    assert_eq!(entry(&town.rig, number).owner, town.rig.uid("a"));
}

#[test]
fn a_move_to_one_that_stops_hosting_is_called_off() {
    let mut town = Town::full(THREE, &still());
    let (number, _) = town.begin_move("c");
    town.say("c", |report| report.ended = vec![super::town::KIND]);
    town.rig.wait_until("called off", SECOND, |rig| entry(rig, number).moving.is_none());
}

#[test]
fn a_wish_is_fulfilled_once() {
    let mut town = Town::full(THREE, &still());
    let (to, other) = (town.rig.uid("c"), town.rig.uid("b"));
    let number = *owners(&town.rig, "a").iter().find(|(_, owner)| **owner != to).expect("there are").0;
    // Its region does not hear that the wish is fulfilled, and goes on wishing.
    town.say("b", |report| report.places = vec![(shard(number), to)]);
    town.obey_until("there", 3, |rig| entry(rig, number).owner == to);
    town.say("a", |report| report.places = vec![(shard(number), other)]);
    town.obey_until("elsewhere", 3, |rig| entry(rig, number).owner == other);
    town.say("a", |report| report.places.clear());
    for _ in 0..300 {
        town.obey();
        town.rig.pass(10 * MILLI);
        assert_eq!(entry(&town.rig, number).owner, other, "nobody undoes the newer wish");
    }
    assert_eq!(counts(&town.rig, THREE).into_iter().sum::<usize>(), 30);
}

#[test]
fn a_new_coordinator_settles_what_the_old_one_began() {
    let mut town = Town::full(FIVE, &still());
    let (from, to) = (town.rig.uid("d"), town.rig.uid("e"));
    let number = *owners(&town.rig, "b").iter().find(|(_, owner)| **owner == from).expect("it has some").0;
    town.say("b", |report| report.places = vec![(shard(number), to)]);
    town.rig.wait_until("moving", SECOND, |rig| entry(rig, number).moving.is_some());
    let epoch = entry(&town.rig, number).issued;
    town.rig.crash("a");
    town.say("e", |report| report.installed = vec![(shard(number), epoch)]);
    town.rig.wait_until("settled", 3 * SECOND, |rig| entry(rig, number).owner == to);
    assert_eq!(entry(&town.rig, number).epoch, epoch);
}

#[test]
fn a_move_of_what_its_owner_has_dropped_is_called_off_and_the_shard_begins_anew_elsewhere() {
    let mut town = Town::full(THREE, &still());
    let (number, _) = town.begin_move("c");
    let (owner, epoch) = (entry(&town.rig, number).owner, entry(&town.rig, number).epoch);
    assert_eq!(owner, town.rig.uid("a"));
    // It stopped hosting before it heard of the move, and nothing lives there any more.
    let had = owners(&town.rig, "a").into_iter().filter(|(_, of)| *of == owner).map(|(number, _)| number);
    let dropped: Vec<_> = had.map(|number| (shard(number), entry(&town.rig, number).epoch)).collect();
    town.say("a", |report| (report.ended, report.dropped) = (vec![super::town::KIND], dropped.clone()));
    town.rig.wait_until("given anew", 2 * SECOND, |rig| {
        let now = entry(rig, number);
        now.owner != owner && now.lineage > epoch && now.moving.is_none()
    });
}
