//! One node of the demo, a process of its own: `borough node`, which `borough demo` starts.
//!
//! It says where it is in one line, then does what standard input says; it ends when that ends, and with the process that started it.

use anyhow::{Context, Result};
use borough::prelude::*;
use borough_management::Management;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::sensor::{SENSORS, SHARDS, Sensor};
use crate::arguments::NodeOptions;

/// What all nodes of the demo call their cluster.
pub(super) const CLUSTER: &str = "city";

/// Says how the node ended.
#[tokio::main]
pub(crate) async fn run(options: NodeOptions) -> Result<()> {
    super::die_with_parent();
    let builder = Node::builder(CLUSTER).node_id(&options.name).listen("127.0.0.1:0").seed(&options.seed);
    let node = builder.start().await.context("the node does not start")?;
    let management = Management::builder(&node).listen("127.0.0.1:0").start().await?;
    let sensors = node.shard(SENSORS, |_id| Sensor::default()).shards(SHARDS).migrate_state();
    let _sensors = sensors.start().await.context("the sensors do not start")?;
    println!("ready {} {}", node.address().as_str(), management.address());

    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Some(order) = orders.next_line().await? {
        if order == "leave" {
            node.leave().await.context("it cannot leave")?;
            println!("left");
            break;
        }
    }
    Ok(())
}
