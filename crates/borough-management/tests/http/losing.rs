//! Two clusters of one name meet: the node that yields tells what it drops.

use std::sync::{Arc, Mutex};

use borough_cluster::{Address, ClusterId, Discovery, Node, Seeds};
use borough_management::Management;
use borough_management::view::{ClusterEvent, EventKind, Members, StateLossCount, Stats};
use serde_json::Value;
use tokio::time::timeout;

use crate::client::{BOUND, Listener, get};
use crate::fleet::{Managed, counters, fill, until};
use crate::openapi::check;

/// The seeds that the test has written down so far.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<Address>>>);

impl Written {
    fn add(&self, node: &Node) {
        self.0.lock().unwrap().push(node.address());
    }
}

impl Discovery for Written {
    fn seeds(&self) -> Seeds<'_> {
        let seeds = self.0.lock().unwrap().clone();
        Box::pin(async { Ok(seeds) })
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// A cluster of one node, whose seeds are those that the test writes down later. Its own address is one of them.
async fn alone(name: &str, seeds: &Written) -> Managed {
    let node = Node::builder("fleet").listen("127.0.0.1:0").node_id(name).discovery(seeds.clone());
    let node = node.start().await.unwrap();
    seeds.add(&node);
    timeout(BOUND, node.wait_for(1)).await.unwrap().unwrap();
    let counters = counters(&node).await;
    fill(&counters).await;
    let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    Managed { node, management, counters }
}

fn cluster(managed: &Managed) -> ClusterId {
    managed.node.topology().current().cluster.unwrap()
}

/// The next loss that is told, also as it was written.
async fn next_loss(listener: &mut Listener) -> (ClusterEvent, Value) {
    let lost = async {
        loop {
            let (_, data) = listener.next().await.expect("the stream has ended");
            let event: ClusterEvent = serde_json::from_str(&data).unwrap();
            if event.what == EventKind::StateLost {
                return (event, serde_json::from_str(&data).unwrap());
            }
        }
    };
    timeout(BOUND, lost).await.expect("no loss was told")
}

#[tokio::test]
async fn a_node_that_yields_tells_what_it_drops_as_an_event_in_statistics_and_in_metrics() {
    let [of_a, of_b] = [Written::default(), Written::default()];
    let (a, b) = (alone("a", &of_a).await, alone("b", &of_b).await);
    let is_a_older = cluster(&a) < cluster(&b);
    let cluster = cluster(&a).min(cluster(&b));
    of_b.add(&a.node);
    of_a.add(&b.node);
    let (older, loser) = if is_a_older { (a, b) } else { (b, a) };
    let name = loser.node.node_id().to_string();
    let whole: Value = get(loser.address(), "/openapi.json").await.of();
    let schemas = &whole["components"]["schemas"];

    // All that is kept: it may have yielded by now.
    let (_, mut listener) = Listener::open(loser.address(), "/api/events?after=0", None).await;
    let (event, written) = next_loss(&mut listener).await;
    check(&whole, &schemas["ClusterEvent"], &written, "ClusterEvent");
    let loss = event.loss.expect("the event has no numbers");
    assert_eq!((event.node.as_ref(), &event.seen_by), (Some(&name), &name));
    assert_eq!((loss.reason.as_str(), loss.shards, loss.entities), ("yielded", 8, Some(64)));
    assert_eq!(loss.yielded_to, Some(format!("{cluster:?}")));
    let words = format!(
        "{name} yielded to another cluster of its name ({cluster:?}) and dropped 8 shards and 64 entities"
    );
    assert_eq!(event.text, words);

    until(older.address(), "/api/members", |members: &Members| members.members.len() == 2).await;
    let is_told = |stats: &Stats| stats.nodes.len() == 2;
    let stats: Stats = until(older.address(), "/api/stats", is_told).await;
    check(&whole, &schemas["Stats"], &serde_json::to_value(&stats).unwrap(), "Stats");
    let losses = stats.nodes.iter().flat_map(|node| node.state_losses.iter().map(|lost| (&node.node, lost)));
    let expected =
        StateLossCount { reason: "yielded".to_owned(), times: 1, shards: 8, entities: 64, uncounted: 0 };
    assert_eq!(losses.collect::<Vec<_>>(), [(&name, &expected)]);

    for (managed, times, shards, entities) in [(&loser, 1, 8, 64), (&older, 0, 0, 0)] {
        let metrics = get(managed.address(), "/metrics").await.body;
        for (family, value) in [
            ("borough_state_losses_total", times),
            ("borough_state_lost_shards_total", shards),
            ("borough_state_lost_entities_total", entities),
            ("borough_state_losses_uncounted_total", 0),
        ] {
            let sample = format!("{family}{{reason=\"yielded\"}} {value}\n");
            assert!(metrics.contains(&sample), "{sample}: {metrics}");
        }
    }
}
