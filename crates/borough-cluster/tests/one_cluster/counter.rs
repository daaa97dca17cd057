//! An entity that counts, and notes each turn in the history.

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{EntityId, Node, Region, Topology};
use serde::{Deserialize, Serialize};

use crate::history::{Event, History, Place};

/// Adds one, and answers what the count is then.
#[derive(Serialize, Deserialize)]
pub(crate) struct Add(pub(crate) Reply<u64>);

/// The node that makes counters.
#[derive(Clone)]
struct Maker {
    node: usize,
    topology: Topology,
    history: History,
}

impl Maker {
    fn make(&self, id: &EntityId, value: u64) -> Counter {
        let (id, activation) = (id.to_string(), self.history.next_activation());
        self.history.add(Event::Began { id: id.clone(), activation, place: self.place() });
        Counter { id, activation, value, maker: self.clone() }
    }

    fn place(&self) -> Place {
        Place { node: self.node, uid: self.topology.current().incarnation.uid }
    }
}

struct Counter {
    id: String,
    activation: u64,
    value: u64,
    maker: Maker,
}

impl Actor for Counter {
    type Msg = Add;

    async fn receive(&mut self, Add(reply): Add, _: &mut Context<Self>) -> Result<(), Fault> {
        self.value += 1;
        let (id, activation, value) = (self.id.clone(), self.activation, self.value);
        let place = self.maker.place();
        self.maker.history.add(Event::Handled { id, activation, place, value });
        reply.send(self.value);
        Ok(())
    }
}

/// Starts counters on a node; their counts move with them.
pub(crate) async fn counters(node: &Node, number: usize, history: &History) -> Region<Add> {
    let maker = Maker { node: number, topology: node.topology(), history: history.clone() };
    let mover = maker.clone();
    node.shard("counters", move |id| maker.make(id, 0))
        .shards(32)
        .migrate_state_as(|counter| counter.value, move |id, value| mover.make(id, value))
        .start()
        .await
        .unwrap()
}
