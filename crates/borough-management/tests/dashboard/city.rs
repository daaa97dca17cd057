//! Real nodes with management, in this process and in others.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use borough_actor::{Actor, Context, Fault};
use borough_cluster::{Node, Region, ShardPlace, Standing, TopologySnapshot};
use borough_management::Management;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};

/// How long a cluster may take to form, on a machine however busy.
const FORMING: Duration = Duration::from_secs(60);
/// Set where this program runs as a node: its name, and whom it joins.
const CHILD: &str = "BOROUGH_DASHBOARD_NODE";

#[derive(Serialize, Deserialize)]
pub(crate) struct Reading;

#[derive(Default, Serialize, Deserialize)]
struct Sensor {
    readings: u64,
}

impl Actor for Sensor {
    type Msg = Reading;
    async fn receive(&mut self, Reading: Reading, _: &mut Context<Self>) -> Result<(), Fault> {
        self.readings += 1;
        Ok(())
    }
}

/// A node with sensors and management.
pub(crate) struct House {
    pub(crate) node: Node,
    pub(crate) sensors: Region<Reading>,
    management: Management,
}

impl House {
    pub(crate) async fn start(name: &str, seeds: &[String]) -> Self {
        let node =
            Node::builder("city").node_id(name).listen("127.0.0.1:0").seeds(seeds).start().await.unwrap();
        // Started on a member, a type is known as hosted there at once: shards then go where they stay.
        let is_member = |topology: &TopologySnapshot| topology.standing == Standing::Member;
        timeout(FORMING, node.topology().wait_until(is_member)).await.unwrap().unwrap();
        let sensors = node.shard("sensors", |_| Sensor::default()).migrate_state().start().await.unwrap();
        let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
        Self { node, sensors, management }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.management.address())
    }

    /// Until so many are up.
    pub(crate) async fn wait_for(&self, members: usize) {
        timeout(FORMING, self.node.wait_for(members)).await.unwrap().unwrap();
    }

    /// Until each shard has an owner again, by this node's copy of the table, and none has that one.
    pub(crate) async fn went_on_without(&self, node: &str) {
        let is_elsewhere =
            |place: &ShardPlace| place.owner.as_ref().is_some_and(|(owner, _)| owner.as_str() != node);
        let mut pace = interval(Duration::from_millis(10));
        while !self.node.shard_maps().iter().flat_map(|map| &map.places).all(is_elsewhere) {
            pace.tick().await;
        }
    }

    /// Sends to so many sensors, so that every shard is needed.
    pub(crate) async fn report(&self, sensors: usize) {
        for sensor in 0..sensors {
            self.sensors.tell(format!("sensor-{sensor}"), Reading).await.unwrap();
        }
    }
}

/// A node in a process of its own, to be killed.
pub(crate) struct Stranger {
    process: Child,
}

impl Stranger {
    /// Runs the test of that name again, which then lives as a node, and waits until it is one of three.
    pub(crate) async fn start(test: &str, name: &str, seed: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(CHILD, format!("{name} {seed}"))
            // It ends when this does: however the test ends, nothing is left running.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if line.ends_with("ready") {
                    return;
                }
            }
            panic!("{name} ended before it was ready");
        };
        timeout(FORMING, ready).await.unwrap();
        Self { process }
    }

    /// Ends it as a crash does: nothing is said to anybody.
    pub(crate) async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }
}

/// Lives as a node if this program was started as one; then the test that asks has nothing else to do.
pub(crate) async fn lived_as_a_node() -> bool {
    let Ok(orders) = std::env::var(CHILD) else { return false };
    let (name, seed) = orders.split_once(' ').unwrap();
    let house = House::start(name, &[seed.to_owned()]).await;
    house.wait_for(3).await;
    println!("ready");
    std::io::stdout().flush().unwrap();
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while input.next_line().await.unwrap().is_some() {}
    true
}
