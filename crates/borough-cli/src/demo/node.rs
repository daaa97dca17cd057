//! One node of the demo, a process of its own: `borough node`, which `borough demo` starts.
//!
//! It says in one line that it is ready, then does what standard input says; it ends when that ends, when its node has left, and with the
//! process that started it.

use std::time::Duration;

use anyhow::{Context, Result};
use borough::cluster::{Ended, NodeHandle};
use borough::prelude::*;
use borough::{NodeBuilder, Standing};
use borough_management::Management;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::sensor::{SENSORS, SHARDS, Sensor};
use crate::arguments::NodeOptions;
use crate::output;

/// What a node bears unless it is told otherwise, within the fail-over time that it then keeps.
const DEFAULT_PAUSE: Duration = Duration::from_millis(400);
/// What all nodes of the demo call their cluster.
const CLUSTER: &str = "city";

/// Runs until the node has left, or is told to end.
pub(crate) fn run(options: NodeOptions) -> Result<()> {
    die_with_parent();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(live(options));
    // A thread may still wait for standard input, for which nobody waits any more.
    runtime.shutdown_background();
    done
}

async fn live(options: NodeOptions) -> Result<()> {
    let builder = builder(&options.name, options.max_pause).seed(&options.seed);
    let node = builder.start().await.context("the node does not start")?;
    let _management = Management::builder(&node).listen("127.0.0.1:0").start().await?;
    let sensors = node.shard(SENSORS, |_id| Sensor::default()).shards(SHARDS).migrate_state();
    let _sensors = sensors.start().await.context("the sensors do not start")?;
    output::line("ready")?;

    let topology = node.topology();
    tokio::select! {
        done = obey(&node) => done,
        // Nothing else is waited for: it has ended by an order to its management, say.
        ended = topology.wait_until(|_| false) => match ended {
            Ok(_) | Err(Ended::Over(Standing::Left | Standing::Closed)) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }
}

/// What all nodes of the demo have in common.
pub(super) fn builder(name: &str, max_pause: Duration) -> NodeBuilder {
    let builder = Node::builder(CLUSTER).node_id(name).listen("127.0.0.1:0").max_pause(max_pause);
    if max_pause > DEFAULT_PAUSE { builder.failover_target(max_pause * 20) } else { builder }
}

async fn obey(node: &Node) -> Result<()> {
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Some(order) = orders.next_line().await? {
        match &*order {
            "leave" => return node.leave().await.context("it cannot leave"),
            // It goes on until another node hosts the sensors, however long that takes; the next order must be heard meanwhile.
            "drain" => drop(tokio::spawn(drain(node.node_handle()))),
            _ => {}
        }
    }
    Ok(())
}

async fn drain(node: NodeHandle) {
    if let Err(error) = node.drain().await {
        output::remark(format_args!("borough: {error}"));
    }
}

/// Whatever becomes of the process that started this one, this one ends with it; also if it is stopped then.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
    {
        output::remark(format_args!("borough: this node may outlive the demo: {error}"));
    }
}
