//! Entities that are started without a message.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault};
use borough_cluster::{ENTITY_START_TIMEOUT, EntityStartError, Node, Region};
use tokio::time::Instant;

use crate::book::{Book, books};
use crate::rig::{Rig, after, within};

/// Begins in a second, and counts when it has; its id says what else it does.
struct Sleeper {
    id: String,
    begun: Arc<AtomicUsize>,
}

impl Actor for Sleeper {
    type Msg = ();

    async fn receive(&mut self, (): (), ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.passivate();
        Ok(())
    }

    async fn started(&mut self, _: &mut Context<Self>) -> Result<(), Fault> {
        after(Duration::from_secs(1)).await;
        self.begun.fetch_add(1, Ordering::Relaxed);
        if self.id.starts_with("ill") { Err(Fault::new("ill")) } else { Ok(()) }
    }
}

async fn sleepers(node: &Node, begun: &Arc<AtomicUsize>) -> Region<()> {
    let begun = begun.clone();
    let make = move |id: &borough_cluster::EntityId| Sleeper { id: id.to_string(), begun: begun.clone() };
    node.shard("sleepers", make).shards(16).start().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_entity_starts_without_a_message_here_and_elsewhere_and_only_once() {
    let nodes = Rig::new(71).cluster(["a:1", "b:1"]).await;
    let begun: Arc<AtomicUsize> = Arc::default();
    let region = sleepers(&nodes[0], &begun).await;
    sleepers(&nodes[1], &begun).await;
    for id in 0..40_usize {
        within(region.start(id.to_string())).await.unwrap();
        assert_eq!(begun.load(Ordering::Relaxed), id + 1, "said before it had begun");
        within(region.start(id.to_string())).await.unwrap();
    }
    assert_eq!(begun.load(Ordering::Relaxed), 40);
    for node in &nodes {
        assert!(node.sharding_stats_here().await.kinds[0].entities() > 0, "all of them on one node");
    }
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_fails_as_it_begins_is_an_error_here_and_elsewhere() {
    let [a, b] = Rig::new(72).cluster(["a:1", "b:1"]).await;
    let begun: Arc<AtomicUsize> = Arc::default();
    let regions = [sleepers(&a, &begun).await, sleepers(&b, &begun).await];
    for region in regions {
        let failed = within(region.start("ill")).await.unwrap_err();
        assert_eq!(failed, EntityStartError::Failed { entity: "sleepers/ill".into() });
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_from_a_proxy_waits_for_a_host_but_not_for_ever() {
    let [a, b] = Rig::new(73).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    let began = Instant::now();
    let refused = within(proxy.start("x")).await.unwrap_err();
    assert!(matches!(&refused, EntityStartError::Timeout { why, .. } if why.contains("no member hosts")));
    assert!(began.elapsed() <= ENTITY_START_TIMEOUT + Duration::from_millis(100), "{:?}", began.elapsed());
    let (started, region) = tokio::join!(within(proxy.start("x")), books(&b));
    started.unwrap();
    assert_eq!(region.state().await.entities(), 1);
    assert!(matches!(within(proxy.start("")).await, Err(EntityStartError::Id(_))));
}

#[tokio::test(start_paused = true)]
async fn a_start_finds_its_way_while_the_shards_move() {
    let mut rig = Rig::new(74);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let region = books(&a).await;
    books(&b).await;
    let leaves = async {
        after(Duration::from_millis(20)).await;
        b.leave().await.unwrap();
    };
    let starts = async {
        for id in 0..300_u64 {
            within(region.start(id.to_string())).await.unwrap();
            after(Duration::from_millis(1)).await;
        }
    };
    tokio::join!(starts, leaves);
    assert_eq!(region.state().await.entities(), 300);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_started_from_a_node_that_has_ended() {
    let [a] = Rig::new(75).cluster(["a:1"]).await;
    let region = books(&a).await;
    within(a.leave()).await.unwrap();
    let refused = within(region.start("x")).await.unwrap_err();
    assert!(matches!(refused, EntityStartError::Refused { .. }), "{refused}");
}
