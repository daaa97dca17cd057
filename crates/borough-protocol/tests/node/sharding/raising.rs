//! A store refuses what a member owns: the coordinator raises the epoch above the one that the store has seen.

use borough_protocol::sharding::{Entry, Epoch};

use super::town::{FIVE, THREE, Town, entry, shard, still};
use crate::rig::{Fate, MILLI, Rig, SECOND};

/// An epoch of the next era but four.
fn seen(rig: &Rig, number: u32) -> Epoch {
    Epoch::first(entry(rig, number).epoch.era() + 5)
}

fn owned_by(town: &Town, name: &str) -> u32 {
    let owner = town.rig.uid(name);
    let all = super::town::owners(&town.rig, "a");
    *all.iter().find(|(_, of)| **of == owner).expect("it has some").0
}

#[test]
fn an_epoch_that_a_store_refuses_is_raised_above_the_one_it_has_seen() {
    let mut town = Town::full(THREE, &still());
    let number = owned_by(&town, "b");
    let (before, seen) = (entry(&town.rig, number), seen(&town.rig, number));
    town.say("c", |report| report.refused = vec![(shard(number), before.epoch, seen)]);
    town.rig.always("it is not c's to say", SECOND, |rig| entry(rig, number) == before);
    town.say("b", |report| report.refused = vec![(shard(number), before.epoch, seen)]);
    let raised = Entry { epoch: seen.next(), issued: seen.next(), ..before };
    town.rig.wait_until("raised", 100 * MILLI, |rig| entry(rig, number) == raised);
    town.rig.always("once", 8 * SECOND, |rig| entry(rig, number) == raised);
}

#[test]
fn a_store_that_refuses_every_epoch_does_not_fill_the_log() {
    let mut town = Town::full(THREE, &still());
    let number = owned_by(&town, "b");
    for _ in 0..3 {
        let before = entry(&town.rig, number);
        town.say("b", |report| report.refused = vec![(shard(number), before.epoch, before.epoch)]);
        town.rig.wait_until("raised", 6 * SECOND, |rig| entry(rig, number).epoch == before.epoch.next());
        let raised = entry(&town.rig, number).epoch;
        town.say("b", |report| report.refused = vec![(shard(number), raised, raised)]);
        town.rig.always("not at once again", 4 * SECOND, |rig| entry(rig, number).epoch == raised);
    }
}

#[test]
fn an_epoch_far_in_the_future_raises_nothing() {
    let mut town = Town::full(THREE, &still());
    let number = owned_by(&town, "b");
    let before = entry(&town.rig, number);
    for seen in [Epoch::new(u64::MAX), Epoch::first(before.epoch.era() + 400_000_000)] {
        town.say("b", |report| report.refused = vec![(shard(number), before.epoch, seen)]);
        town.rig.always("nothing", SECOND, |rig| entry(rig, number) == before);
    }
}

#[test]
fn a_refusal_ends_a_move_that_could_never_be_cut() {
    let mut town = Town::full(THREE, &still());
    let (number, moves_at) = town.begin_move("c");
    let before = entry(&town.rig, number);
    town.say("a", |report| report.refused = vec![(shard(number), before.epoch, before.epoch)]);
    town.rig.wait_until("raised", 100 * MILLI, |rig| entry(rig, number).epoch == moves_at.next());
    assert_eq!((entry(&town.rig, number).owner, entry(&town.rig, number).moving), (before.owner, None));
}

#[test]
fn a_refusal_survives_a_change_of_the_coordinator() {
    let mut town = Town::full(FIVE, &still());
    let number = owned_by(&town, "e");
    let (before, seen) = (entry(&town.rig, number), seen(&town.rig, number));
    town.rig
        .network
        .rule(Fate::Lost, |parcel| matches!(parcel.word(), Some(borough_protocol::node::Word::Shards(_))));
    town.say("e", |report| report.refused = vec![(shard(number), before.epoch, seen)]);
    town.rig.pass(200 * MILLI);
    town.rig.crash("a");
    town.rig.network.clear_rules();
    town.rig.wait_until("raised", 5 * SECOND, |rig| entry(rig, number).epoch == seen.next());
    assert_eq!(entry(&town.rig, number).lineage, before.lineage);
}
