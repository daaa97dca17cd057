//! What is written and read again is the same, and a cluster lives on it.

use std::collections::BTreeSet;

use borough_protocol::node::{Command, Message};
use borough_protocol::random::Random;
use borough_protocol::settings::{Settings, Strategy};

use crate::codec::{decode, encode};
use crate::net::{Net, SECOND};
use crate::pieces::Liar;
use crate::town::Town;
use crate::words::kind;

/// Five nodes come and host a type, whose shards move as they come and go; one crashes, one comes back as another life, one leaves, and all shut down.
pub(crate) fn live(settings: Settings) -> Town {
    let mut town = Town::new(settings);
    (1..=5).for_each(|number| town.start(number, number));
    town.wait_until("five run", |town| town.is_whole(5));
    town.pass(15 * SECOND);
    (1..=5).for_each(|number| town.host(number, 64));
    town.wait_until("all shards have owners", |town| town.owned() == 64);
    town.crash(5);
    town.wait_until("four run", |town| town.is_whole(4));
    town.start(6, 5);
    town.crash(4);
    town.start(7, 4);
    town.wait_until("five run again", |town| town.is_whole(5));
    town.host(7, 64);
    town.wait_until("some moved to the new one", |town| town.owned_by(7) > 10);
    town.command(3, Command::Leave);
    town.wait_until("four are left", |town| town.is_whole(4));
    town.command(1, Command::Down(Town::uid(6)));
    town.wait_until("three are left", |town| town.is_whole(3));
    town.command(2, Command::CloseCluster);
    town.wait_until("all is closed", |town| town.nodes.is_empty());
    town
}

#[test]
fn a_cluster_lives_on_what_was_written_and_read_again() {
    let town = live(Settings { log_kept: 4, ..Settings::default() });
    let kinds: BTreeSet<&str> = town.sent.iter().map(|sent| sent.kind).collect();
    for said in [
        "knock",
        "promise",
        "welcome",
        "gossip",
        "heartbeat",
        "log",
        "renew",
        "renewed",
        "feed",
        "report",
        "shards",
    ] {
        assert!(kinds.contains(said), "nobody said {said}: {kinds:?}");
    }
}

#[test]
fn a_cluster_with_a_store_lives_on_what_was_written_and_read_again() {
    let town = live(Settings { strategy: Strategy::LeaseMajority, ..Settings::default() });
    let kinds: BTreeSet<&str> = town.sent.iter().map(|sent| sent.kind).collect();
    for said in ["to the store", "from the store", "shards"] {
        assert!(kinds.contains(said), "nobody said {said}: {kinds:?}");
    }
}

/// Whatever a node could be made to say is read as it was said, or not at all.
#[test]
fn lies_are_read_as_they_were_told_or_not_at_all() {
    let mut kinds = BTreeSet::new();
    let (mut read, mut refused) = (0, 0);
    for seed in 1..=20 {
        let mut net = if seed % 4 == 0 { Net::of_store() } else { Net::of_voters() };
        (1..=3).for_each(|number| net.start(number, number));
        net.pass(10 * SECOND);
        let mut random = Random::seeded(seed);
        for _ in 0..200 {
            let lie: Message = Liar { random: &mut random, net: &net }.message();
            let Some(back) = decode(&encode(&lie)) else {
                refused += 1;
                continue;
            };
            assert_eq!(format!("{back:?}"), format!("{lie:?}"));
            kinds.insert(kind(&lie));
            read += 1;
        }
    }
    assert_eq!(kinds.len(), 21, "not every kind of message was read: {kinds:?}");
    assert!(refused > 0 && read > 4 * refused, "{read} read, {refused} refused");
}
