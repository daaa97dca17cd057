//! A store that has seen a higher epoch than the cluster hands out: the shard works again without anybody's help, unless that epoch cannot be right.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Epoch, EpochRefused, Fence, Fenced, Node, Region};
use serde::{Deserialize, Serialize};

use crate::book::{Book, Writer};
use crate::hearing::Warnings;
use crate::rig::{Rig, after, within};

/// A store that all nodes reach. It keeps the highest epoch of each shard.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<Stored>>);

#[derive(Default)]
struct Stored {
    seen: BTreeMap<u32, Epoch>,
    /// So many eras ahead is what a stranger writes before the first owner of each shard.
    stranger: u32,
    /// Each time the store was fenced: the shard, the epoch, and whether it was refused.
    fenced: Vec<(u32, Epoch, bool)>,
}

impl Store {
    /// Another cluster has written to each shard, so many eras later.
    fn of_strangers(ahead: u32) -> Self {
        let store = Self::default();
        store.0.lock().unwrap().stranger = ahead;
        store
    }

    fn take(&self, shard: u32, epoch: Epoch) -> Result<(), EpochRefused> {
        let Stored { seen, stranger, .. } = &mut *self.0.lock().unwrap();
        let first = if *stranger == 0 { epoch } else { Epoch::first(epoch.era() + *stranger) };
        let newest = seen.entry(shard).or_insert(first);
        if *newest > epoch {
            return Err(EpochRefused { seen: *newest });
        }
        *newest = epoch;
        Ok(())
    }

    fn seen(&self, shard: u32) -> Option<Epoch> {
        self.0.lock().unwrap().seen.get(&shard).copied()
    }

    fn fenced(&self) -> Vec<(u32, Epoch, bool)> {
        self.0.lock().unwrap().fenced.clone()
    }

    fn refusals(&self) -> usize {
        self.fenced().iter().filter(|(.., refused)| *refused).count()
    }
}

impl Fence for Store {
    fn fence<'a>(
        &'a self,
        fenced: Fenced<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>> {
        Box::pin(async move {
            let taken = self.take(fenced.shard, fenced.epoch);
            self.0.lock().unwrap().fenced.push((fenced.shard, fenced.epoch, taken.is_err()));
            Ok(taken?)
        })
    }
}

async fn books(node: &Node, store: &Store) -> Region<Book> {
    let books = node.shard("books", |_| Writer::default()).shards(1).migrate_state();
    books.fence(store.clone()).start().await.unwrap()
}

const LONG: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn a_shard_whose_store_has_seen_a_higher_epoch_works_again_without_help() {
    let [a, b, c] = Rig::new(301).cluster(["a:1", "b:1", "c:1"]).await;
    let store = Store::of_strangers(1000);
    let regions = [books(&a, &store).await, books(&b, &store).await, books(&c, &store).await];
    for number in 1..=100 {
        within(regions[2].tell("x", Book::Note { sender: 1, number })).await.unwrap();
    }
    let began = tokio::time::Instant::now();
    let (_, epoch) = within(regions[1].ask("x", Book::Life).timeout(LONG)).await.unwrap();
    assert!(
        began.elapsed() < Duration::from_millis(900),
        "{:?}: nobody waits for another try",
        began.elapsed()
    );
    let [(_, refused, true), (_, taken, false)] = store.fenced()[..] else {
        panic!("{:?}", store.fenced());
    };
    assert!(taken.era() == refused.era() + 1000 && taken.get() == epoch, "{refused} {taken}");
    let pages = within(regions[0].ask("x", Book::Read).timeout(LONG)).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((100, 100), vec![]), "what waited was handled in order");
}

/// With its state, and the messages that wait.
#[tokio::test(start_paused = true)]
async fn a_shard_that_moved_to_where_the_store_refuses_it_keeps_its_state() {
    let [a, b] = Rig::new(302).cluster(["a:1", "b:1"]).await;
    let store = Store::default();
    let region = books(&a, &store).await;
    within(region.ask("x", |reply| Book::Sign { sender: 1, number: 1, reply }).timeout(LONG)).await.unwrap();
    books(&b, &store).await;
    let later = Epoch::first(store.seen(0).unwrap().era() + 7);
    store.0.lock().unwrap().seen.insert(0, later);
    a.move_shard("books", 0, "b:1").unwrap();
    after(Duration::from_secs(2)).await;
    let pages = within(region.ask("x", Book::Read).timeout(LONG)).await.unwrap();
    assert_eq!(pages.notes[&1], (1, 1));
    assert_eq!(
        (a.explain("books", "x").unwrap().owner.map(|(_, uid)| uid), store.refusals()),
        (Some(b.uid()), 1)
    );
    assert!(store.seen(0).unwrap() > later);
}

#[tokio::test(start_paused = true)]
async fn an_epoch_far_in_the_future_is_an_error_that_says_what_to_do_and_is_not_followed() {
    let (logged, _guard) = Warnings::listen();
    let [a] = Rig::new(303).cluster(["a:1"]).await;
    let store = Store::of_strangers(400_000_000);
    let region = books(&a, &store).await;
    let asked = within(region.ask("x", Book::Life).timeout(Duration::from_secs(50))).await;
    assert!(asked.is_err(), "it must not run");
    let errors = logged.with("more than ten years in the future");
    assert_eq!(errors.len(), 1, "once a minute, not with every try: {errors:?}");
    let seen = format!("seen={} ", store.seen(0).unwrap());
    for words in ["ERROR ", "kind=\"books\"", "shard=0", &seen, "deleted or lowered"] {
        assert!(errors[0].contains(words), "{words}: {}", errors[0]);
    }
    let epochs: Vec<Epoch> = store.fenced().iter().map(|(_, epoch, _)| *epoch).collect();
    assert!(epochs.len() > 40 && epochs.iter().all(|epoch| *epoch == epochs[0]), "{epochs:?}");
    // Somebody corrects the store.
    store.0.lock().unwrap().seen.insert(0, epochs[0]);
    let (_, epoch) = within(region.ask("x", Book::Life).timeout(LONG)).await.unwrap();
    assert_eq!(epoch, epochs[0].get());
}

/// What may be said to a ledger.
#[derive(Serialize, Deserialize)]
enum Ledger {
    /// Writes to the store, and says at which epoch.
    Write(Reply<u64>),
}

struct Clerk(Store);

impl Actor for Clerk {
    type Msg = Ledger;

    async fn receive(&mut self, Ledger::Write(reply): Ledger, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let epoch = ctx.epoch().unwrap_or(0);
        self.0.take(ctx.shard().unwrap_or(0), Epoch::new(epoch))?;
        reply.send(epoch);
        Ok(())
    }
}

/// The loser of two clusters wrote while the shard ran here.
#[tokio::test(start_paused = true)]
async fn a_handler_whose_write_is_refused_gets_its_shard_going_again() {
    let [a] = Rig::new(304).cluster(["a:1"]).await;
    let store = Store::default();
    let for_clerks = store.clone();
    let ledgers = a.shard("ledgers", move |_| Clerk(for_clerks.clone())).shards(1).keeps_own_state();
    let region = ledgers.fence(store.clone()).start().await.unwrap();
    within(region.ask("x", Ledger::Write).timeout(LONG)).await.unwrap();
    let later = Epoch::first(store.seen(0).unwrap().era() + 7);
    store.0.lock().unwrap().seen.insert(0, later);
    assert!(within(region.ask("x", Ledger::Write).timeout(LONG)).await.is_err(), "this one was not written");
    after(Duration::from_secs(1)).await;
    let epoch = within(region.ask("x", Ledger::Write).timeout(LONG)).await.unwrap();
    assert!(Epoch::new(epoch) > later && store.fenced().last() == Some(&(0, Epoch::new(epoch), false)));
}
