//! Following the table by feeds: what those do who are so far behind that they get all of it at once.

use std::time::Duration;

use borough_protocol::lease::Verdict;
use borough_protocol::node::{Event, Feed, Word};
use borough_protocol::settings::Settings;

use crate::rig::{Fate, Parcel, Rig, SECOND};

/// Three vote, the others are fed; who is more than four entries behind gets the whole table.
fn fed(tombstone_life: Duration) -> Rig {
    let settings = Settings { max_voters: 3, log_kept: 4, tombstone_life, ..Settings::default() };
    let rig = Rig::grown(settings, &["a", "b", "c", "d", "e"]);
    assert!(!rig.voters("e").contains("e"));
    rig
}

fn is_feed(parcel: &Parcel) -> bool {
    parcel.at == "e" && matches!(parcel.word(), Some(Word::Feed(_)))
}

fn is_part(parcel: &Parcel) -> bool {
    parcel.at == "e" && matches!(parcel.word(), Some(Word::Feed(Feed::Entries(_))))
}

/// No voter can tell `e` of the new list: only the table does.
fn is_list(parcel: &Parcel) -> bool {
    let list = |word: &Word| matches!(word, Word::Renewed(answer) if matches!(answer.verdict, Verdict::NewVoters(_)));
    parcel.at == "e" && parcel.word().is_some_and(list)
}

#[test]
fn who_gets_a_whole_table_asks_the_voters_of_that_table() {
    let mut rig = fed(Settings::default().tombstone_life);
    rig.network.rule(Fate::Lost, |parcel| is_feed(parcel) || is_list(parcel));
    rig.start("f");
    rig.wait_until("f is a member", 3 * SECOND, |rig| rig.runs("f"));
    rig.crash("c");
    rig.wait_until("d votes for c", 3 * SECOND, |rig| {
        rig.voters("a").contains("d") && !rig.table("a").voters().is_joint()
    });
    assert!(rig.voters("e").contains("gone"), "e does not know");
    rig.network.clear_rules();
    rig.network.rule(Fate::Lost, |parcel| is_part(parcel) || is_list(parcel));
    rig.network
        .rule(Fate::Copied, |parcel| parcel.goes("e", "d") && matches!(parcel.word(), Some(Word::Renew(_))));
    rig.wait_until("e asks d", SECOND, |rig| rig.network.kept(Fate::Copied) > 0);
    rig.wait_until("all go on", SECOND, |rig| rig.is_whole(&["a", "b", "d", "e", "f"]));
}

#[test]
fn who_gets_a_whole_table_buries_those_it_has_forgotten() {
    let life = 100 * SECOND;
    let mut rig = fed(life);
    rig.network.rule(Fate::Lost, |parcel| {
        is_feed(parcel) || parcel.at == "e" && matches!(parcel.word(), Some(Word::Gossip(_)))
    });
    let d = rig.uid("d");
    rig.crash("d");
    rig.wait_until("removed", 3 * SECOND, |rig| rig.table("a").is_removed(d));
    rig.wait_until("forgotten", life + 10 * SECOND, |rig| !rig.table("a").is_removed(d));
    for _ in 0..2 {
        rig.start("f");
        rig.wait_until("f is a member", 5 * SECOND, |rig| rig.runs("f"));
        rig.crash("f");
        rig.wait_until("and is not", 5 * SECOND, |rig| rig.table("a").members().len() == 4);
    }
    assert!(rig.table("e").member(d).is_some(), "e does not know");
    rig.network.clear_rules();
    rig.network.rule(Fate::Lost, |parcel| {
        is_part(parcel) || parcel.at == "e" && matches!(parcel.word(), Some(Word::Gossip(_)))
    });
    let buried = |rig: &Rig| rig.nodes["e"].document().is_some_and(|document| document.is_buried(d));
    rig.wait_until("e buries d", SECOND, buried);
    assert!(
        rig.events
            .iter()
            .any(|(name, event)| *name == "e" && matches!(event, Event::Removed(uid, _) if *uid == d))
    );
}
