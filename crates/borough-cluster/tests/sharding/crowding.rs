//! Who tells a slow entity of another node is slowed down, and nobody else is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use borough_actor::{Directive, Supervision};
use borough_cluster::Region;
use tokio::task::JoinHandle;

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

/// More than are ever under way between two nodes, and few enough to be held all while their shard has no way.
const MANY: u64 = 90_000;

/// Occupies the entity for a while, and tells it notes without a pause; how many were accepted so far.
fn flood(region: &Region<Book>, id: &'static str, seconds: u64) -> (Arc<AtomicU64>, JoinHandle<()>) {
    let (region, accepted) = (region.clone(), Arc::<AtomicU64>::default());
    let count = accepted.clone();
    let task = tokio::spawn(async move {
        // The way is known then, and nothing is held for want of one.
        region.ask(id, Book::Life).await.unwrap();
        region.tell(id, Book::Slow { sender: 1, number: 1, seconds }).await.unwrap();
        for number in 2..=MANY {
            region.tell(id, Book::Note { sender: 1, number }).await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    (accepted, task)
}

/// How many were accepted, once no more are.
async fn settled(accepted: &AtomicU64) -> u64 {
    loop {
        let before = accepted.load(Ordering::Relaxed);
        after(Duration::from_secs(3)).await;
        let now = accepted.load(Ordering::Relaxed);
        if now == before && now > 0 {
            return now;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sender_on_another_node_waits_for_a_crowded_entity_and_nothing_is_lost() {
    let [a, b] = Rig::new(161).cluster(["a:1", "b:1"]).await;
    let (there, here) = (books(&b).await, a.shard_proxy::<Book>("books").shards(16).start().await.unwrap());
    let (accepted, flood) = flood(&here, "x", 60);
    let accepted = within(settled(&accepted)).await;
    assert!((1024..MANY * 3 / 4).contains(&accepted), "{accepted} were taken");
    let refused = here.try_tell("x", Book::Close).unwrap_err();
    assert!(refused.is_full(), "{refused}");
    let withdrawn = here.tell("x", Book::Tear);
    drop(withdrawn);
    // Others of the same shard and of others go on.
    for id in 0..64_u64 {
        within(here.ask(id.to_string(), Book::Life)).await.unwrap();
    }
    let stats = there.state().await;
    assert_eq!(stats.busiest[0].0, "x");
    within(flood).await.unwrap();
    let pages = within(here.ask("x", Book::Read).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((MANY, MANY), vec![]));
    assert_eq!((there.state().await.refused, here.state().await.refused), (0, 0));
    here.try_tell("x", Book::Close).unwrap();
}

#[tokio::test(start_paused = true)]
async fn senders_of_its_own_node_and_of_others_share_the_room_of_a_crowded_entity() {
    let [a, b, c] = Rig::new(162).cluster(["a:1", "b:1", "c:1"]).await;
    let here = books(&b).await;
    let proxies = [a, c].map(|node| async move {
        let proxy = node.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
        (node, proxy)
    });
    let [(_a, one), (_c, other)] = {
        let [a, c] = proxies;
        [a.await, c.await]
    };
    for region in [&one, &other, &here] {
        within(region.ask("x", Book::Life)).await.unwrap();
    }
    within(here.tell("x", Book::Slow { sender: 9, number: 1, seconds: 20 })).await.unwrap();
    let floods: Vec<_> = (1..)
        .zip([one, other.clone(), here])
        .map(|(sender, region)| {
            tokio::spawn(async move {
                for number in 1..=MANY / 3 {
                    region.tell("x", Book::Note { sender, number }).await.unwrap();
                }
            })
        })
        .collect();
    for flood in floods {
        within(flood).await.unwrap();
    }
    let read = other.ask("x", Book::Read).timeout(Duration::from_secs(60));
    let pages = within(read).await.unwrap();
    assert_eq!([1, 2, 3].map(|sender| pages.notes[&sender]), [(MANY / 3, MANY / 3); 3]);
    assert_eq!(pages.misplaced, []);
}

#[tokio::test(start_paused = true)]
async fn those_in_line_for_an_entity_that_moves_go_on_by_its_new_way() {
    let [a, b, c] = Rig::new(163).cluster(["a:1", "b:1", "c:1"]).await;
    let there = books(&b).await;
    within(there.ask("x", Book::Life)).await.unwrap();
    // No host yet, so that it stays where it began.
    let here = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    let (accepted, flood) = flood(&here, "x", 60);
    within(settled(&accepted)).await;
    assert!(here.try_tell("x", Book::Close).unwrap_err().is_full());
    books(&c).await;
    within(b.leave()).await.unwrap();
    within(flood).await.unwrap();
    let pages = within(here.ask("x", Book::Read).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((MANY, MANY), vec![]));
}

#[tokio::test(start_paused = true)]
async fn those_in_line_go_on_when_the_host_is_lost() {
    let rig = &mut Rig::new(164);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let there = books(&b).await;
    within(there.ask("x", Book::Life)).await.unwrap();
    let here = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    within(here.ask("x", Book::Life)).await.unwrap();
    within(here.tell("x", Book::Hang)).await.unwrap();
    let flood = tokio::spawn(async move {
        for number in 1..=MANY {
            // What was under way is lost with the host.
            let _ = here.tell("x", Book::Note { sender: 1, number }).await;
        }
        here.ask("x", Book::Read).await
    });
    after(Duration::from_secs(10)).await;
    assert!(!flood.is_finished(), "it waits");
    books(&c).await;
    rig.part("b:1", "a:1");
    rig.part("b:1", "c:1");
    let pages = within(flood).await.unwrap().unwrap();
    assert_eq!((pages.notes[&1].1, pages.misplaced), (MANY, vec![]));
}

#[tokio::test(start_paused = true)]
async fn senders_of_the_same_node_stand_in_line_and_those_to_others_do_not() {
    let [a] = Rig::new(165).cluster(["a:1"]).await;
    let region = books(&a).await;
    within(region.tell("x", Book::Slow { sender: 1, number: 1, seconds: 20 })).await.unwrap();
    for number in 2..=1025 {
        within(region.tell("x", Book::Note { sender: 1, number })).await.unwrap();
    }
    // Its lane has taken in all of it by then.
    within(region.ask("y", Book::Read)).await.unwrap();
    after(Duration::from_millis(10)).await;
    let mut in_line = region.tell("x", Book::Note { sender: 1, number: 1026 });
    assert!(tokio::time::timeout(Duration::from_secs(1), &mut in_line).await.is_err());
    assert!(region.try_tell("x", Book::Close).unwrap_err().is_full());
    drop(region.tell("x", Book::Tear));
    within(region.ask("y", Book::Read)).await.unwrap();
    assert_eq!(region.state().await.busiest, [("x".to_owned(), 1024)]);
    within(in_line).await.unwrap();
    let pages = within(region.ask("x", Book::Read).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((1026, 1026), vec![]));
}

#[tokio::test(start_paused = true)]
async fn those_in_line_reach_the_next_life_of_an_entity_that_failed_for_good() {
    let [a] = Rig::new(166).cluster(["a:1"]).await;
    let books = a.shard("books", |_| Writer::default()).shards(16).migrate_state();
    let region = books.supervision(Supervision::always(Directive::Stop)).start().await.unwrap();
    within(region.tell("x", Book::Slow { sender: 1, number: 1, seconds: 20 })).await.unwrap();
    within(region.tell("x", Book::Tear)).await.unwrap();
    for number in 2..=1100 {
        within(region.tell("x", Book::Note { sender: 9999, number })).await.unwrap();
    }
    within(region.ask("y", Book::Read)).await.unwrap();
    assert!(region.try_tell("x", Book::Close).unwrap_err().is_full());
    let senders: Vec<_> = (0..5000)
        .map(|sender| {
            let region = region.clone();
            tokio::spawn(async move { region.tell("x", Book::Note { sender, number: 1 }).await.unwrap() })
        })
        .collect();
    for sender in senders {
        within(sender).await.unwrap();
    }
    // What waited as it failed is gone with it; who stood in line is not.
    let pages = within(region.ask("x", Book::Read).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!((pages.notes.len(), pages.notes.get(&9999)), (5000, None));
    within(region.tell("x", Book::Close)).await.unwrap();
    region.try_tell("x", Book::Note { sender: 1, number: 1 }).unwrap();
}

#[tokio::test(start_paused = true)]
async fn those_in_line_on_the_old_node_are_not_overtaken_when_the_entity_moves() {
    let [a, b] = Rig::new(167).cluster(["a:1", "b:1"]).await;
    let region = books(&b).await;
    let (accepted, flood) = flood(&region, "x", 20);
    within(settled(&accepted)).await;
    assert!(region.try_tell("x", Book::Close).unwrap_err().is_full());
    books(&a).await;
    within(b.drain()).await.unwrap();
    within(flood).await.unwrap();
    let pages = within(region.ask("x", Book::Read).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((MANY, MANY), vec![]));
}

#[tokio::test(start_paused = true)]
async fn all_that_was_held_for_one_entity_is_handled_however_much_it_is() {
    let [a, b] = Rig::new(168).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    within(proxy.tell("x", Book::Slow { sender: 1, number: 1, seconds: 5 })).await.unwrap();
    for number in 2..=90_000 {
        within(proxy.tell("x", Book::Note { sender: 1, number })).await.unwrap();
    }
    let there = books(&b).await;
    let pages = within(proxy.ask("x", Book::Read).timeout(Duration::from_secs(60))).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((90_000, 90_000), vec![]));
    assert_eq!(there.state().await.refused, 0);
}
