//! One question to the actors of all nodes.

use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{BroadcastError, Node, RemoteLookupError};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::rig::{Rig, within};

#[derive(Serialize, Deserialize)]
struct Hello(Reply<u64>);

struct Greeter;

impl Actor for Greeter {
    type Msg = Hello;

    async fn receive(&mut self, Hello(reply): Hello, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(7);
        Ok(())
    }
}

fn expose(node: &Node) {
    let greeter = node.actor(|| Greeter).name("greeter").spawn().unwrap();
    node.expose(&greeter).unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_question_to_all_bounds_the_finding_too() {
    let rig = &mut Rig::new(95);
    let nodes = rig.cluster(["a:1", "b:1", "c:1"]).await;
    nodes.iter().for_each(expose);
    rig.part("c:1", "a:1");
    rig.part("c:1", "b:1");
    // Far less than it takes until the cluster knows that one of them is gone.
    let time = Duration::from_millis(500);
    let began = Instant::now();
    let gathered = within(nodes[0].broadcast::<Hello>("/greeter").ask_within(time, Hello)).await;
    let took = began.elapsed();
    assert!(took < time * 2, "{took:?}");
    let of = |node: &Node| &gathered.iter().find(|(name, _)| name == node.node_id()).unwrap().1;
    assert_eq!((of(&nodes[0]), of(&nodes[1])), (&Ok(7), &Ok(7)));
    let lookup = RemoteLookupError::Timeout { node: nodes[2].incarnation(), time };
    assert_eq!(of(&nodes[2]), &Err(BroadcastError::Lookup(lookup)));
}
