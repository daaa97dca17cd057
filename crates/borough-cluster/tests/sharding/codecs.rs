//! Types whose messages and states are in a codec that describes what it has written.

use std::future::pending;
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{
    Allocation, Codec, CodecId, MessagePack, Node, Postcard, ProxyBuilder, ShardBuilder, ShardError,
    ShardNews,
};
use serde::{Deserialize, Serialize};

use crate::rig::{BOUND, Rig, after, within};

/// One coin or several, without a word which: postcard writes it, and cannot read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Coins {
    One(u64),
    Several(Vec<u64>),
}

impl Coins {
    fn list(self) -> Vec<u64> {
        match self {
            Self::One(coin) => vec![coin],
            Self::Several(coins) => coins,
        }
    }
}

#[derive(Serialize, Deserialize)]
enum Till {
    Put(Coins),
    /// The same, in a turn of so many seconds.
    PutSlowly(Coins, u64),
    Sum(Reply<u64>),
    All(Reply<Coins>),
}

#[derive(Serialize, Deserialize)]
struct Drawer {
    coins: Coins,
}

impl Drawer {
    fn put(&mut self, more: Coins) {
        let mut coins = self.coins.clone().list();
        coins.extend(more.list());
        self.coins = Coins::Several(coins);
    }
}

impl Actor for Drawer {
    type Msg = Till;

    async fn receive(&mut self, till: Till, _: &mut Context<Self>) -> Result<(), Fault> {
        match till {
            Till::Put(coins) => self.put(coins),
            Till::PutSlowly(coins, seconds) => {
                let _ = tokio::time::timeout(Duration::from_secs(seconds), pending::<()>()).await;
                self.put(coins);
            }
            Till::Sum(reply) => reply.send(self.coins.clone().list().into_iter().sum()),
            Till::All(reply) => reply.send(self.coins.clone()),
        }
        Ok(())
    }
}

fn tills(node: &Node) -> ShardBuilder<Drawer> {
    let builder = node.shard("tills", |_| Drawer { coins: Coins::Several(Vec::new()) });
    builder.shards(4).allocation(Allocation::External).migrate_state()
}

fn proxy(node: &Node) -> ProxyBuilder<Till> {
    node.shard_proxy("tills").shards(4).allocation(Allocation::External)
}

/// The setting in which a start differed, what it was here, and what in the cluster.
fn differing(error: ShardError) -> (&'static str, String, String) {
    match error {
        ShardError::Differs { setting, ours, theirs, .. } => (setting, ours, theirs),
        other => panic!("{other}"),
    }
}

/// What entities on one node add up of what they were told from another.
async fn sum_across<C: Codec>() -> u64 {
    let [a, b] = Rig::new(181).cluster(["a:1", "b:1"]).await;
    tills(&a).codec::<C>().start().await.unwrap();
    let tills = proxy(&b).codec::<C>().start().await.unwrap();
    within(tills.tell("x", Till::Put(Coins::One(1)))).await.unwrap();
    within(tills.tell("x", Till::Put(Coins::Several(vec![2, 3])))).await.unwrap();
    within(tills.ask("x", Till::Sum)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn entities_are_spoken_to_in_message_pack() {
    assert_eq!(sum_across::<MessagePack>().await, 6);
}

#[cfg(feature = "json")]
#[tokio::test(start_paused = true)]
async fn entities_are_spoken_to_in_json() {
    assert_eq!(sum_across::<borough_cluster::Json>().await, 6);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_describe_itself_is_not_read_with_postcard() {
    assert_eq!(sum_across::<Postcard>().await, 0);
}

#[tokio::test(start_paused = true)]
async fn an_entity_answers_in_the_codec_that_it_is_asked_in() {
    let [a, b] = Rig::new(185).cluster(["a:1", "b:1"]).await;
    tills(&a).codec::<MessagePack>().start().await.unwrap();
    let tills = proxy(&b).codec::<MessagePack>().start().await.unwrap();
    within(tills.tell("x", Till::Put(Coins::One(1)))).await.unwrap();
    assert_eq!(within(tills.ask("x", Till::All)).await.unwrap(), Coins::Several(vec![1]));
}

#[tokio::test(start_paused = true)]
async fn another_codec_is_refused_and_both_are_named() {
    let [a, b] = Rig::new(182).cluster(["a:1", "b:1"]).await;
    tills(&a).codec::<MessagePack>().start().await.unwrap();
    let both = ("codec", "postcard".to_owned(), "MessagePack".to_owned());
    assert_eq!(differing(tills(&b).start().await.unwrap_err()), both);
    assert_eq!(differing(proxy(&b).start().await.unwrap_err()), both);
    tills(&b).codec::<MessagePack>().start().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_type_has_the_codec_of_its_node_unless_it_says_otherwise() {
    let [a, b] = Rig::new(183).cluster_with(["a:1", "b:1"], |node| node.codec(CodecId::MessagePack)).await;
    tills(&a).start().await.unwrap();
    let refused = tills(&b).codec::<Postcard>().start().await.unwrap_err();
    assert_eq!(differing(refused), ("codec", "postcard".to_owned(), "MessagePack".to_owned()));
    tills(&b).start().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shard_moves_with_state_and_queue_in_the_codec_of_its_type() {
    let [a, b, c] = Rig::new(184).cluster(["a:1", "b:1", "c:1"]).await;
    for node in [&a, &b] {
        tills(node).codec::<MessagePack>().start().await.unwrap();
    }
    let region = proxy(&c).codec::<MessagePack>().start().await.unwrap();
    // All know by then who hosts it.
    after(Duration::from_secs(1)).await;
    within(region.tell("x", Till::Put(Coins::One(1)))).await.unwrap();
    assert_eq!(within(region.ask("x", Till::Sum)).await.unwrap(), 1);
    // These are in a turn, or wait for theirs, as the shard is told to move.
    within(region.tell("x", Till::PutSlowly(Coins::One(2), 2))).await.unwrap();
    within(region.tell("x", Till::Put(Coins::Several(vec![3, 4])))).await.unwrap();
    let tills = region.clone();
    let asked = tokio::spawn(async move { tills.ask("x", Till::All).timeout(BOUND).await });
    let (shard, mut events) = (region.shard_of("x").unwrap(), a.shard_events());
    let is_at_a = c.explain("tills", "x").unwrap().owner.unwrap().1 == a.uid();
    let to = if is_at_a { &b } else { &a };
    a.move_shard("tills", shard, to.node_id().as_str()).unwrap();
    within(async {
        let is_it = |what: &ShardNews| matches!(what, ShardNews::Moved { owner, .. } if *owner == to.uid());
        while !is_it(&events.recv().await.unwrap().what) {}
    })
    .await;
    // Answered by another node than the one that was asked.
    assert_eq!(within(asked).await.unwrap().unwrap(), Coins::Several(vec![1, 2, 3, 4]));
    assert_eq!(within(region.ask("x", Till::Sum)).await.unwrap(), 10);
}
