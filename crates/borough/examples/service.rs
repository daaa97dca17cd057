//! A node as it runs in a container: settings from the environment, seeds by DNS, a secret from a file, a health check, SIGTERM leaves in order.
//!
//! ```sh
//! SEEDS=meters EXPECT=3 DATA_DIR=/var/lib/borough SECRET_FILE=/run/secrets/borough service    # a node
//! service health    # exits with 0 if the node in this container is ready
//! ```
//!
//! `deploy/` has a Dockerfile and a compose file of three.

use std::env;
use std::io;

use borough::cluster::{DnsSeeds, NodeBuilder, StaticSeeds, secret_from_file};
use borough::prelude::*;
use borough_management::Management;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};

const PORT: u16 = 25520;

#[derive(Serialize, Deserialize)]
enum Meter {
    /// Says the total after it.
    Add(u64, Reply<u64>),
}

#[derive(Default, Serialize, Deserialize)]
struct MeterEntity {
    total: u64,
}

impl Actor for MeterEntity {
    type Msg = Meter;
    async fn receive(
        &mut self,
        Meter::Add(used, reply): Meter,
        _ctx: &mut Context<Self>,
    ) -> Result<(), Fault> {
        self.total += used;
        reply.send(self.total);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), borough::Error> {
    if env::args().nth(1).as_deref() == Some("health") {
        let of_what = env::args().nth(2).unwrap_or_else(|| "ready".to_owned());
        return health(&of_what).await;
    }
    let node = settings().await?.start().await?;
    let management = Management::builder(&node).listen(management()).start().await?;
    node.shard("meters", |_id| MeterEntity::default()).migrate_state().start().await?;
    println!("{} listens, health at {}", node.node_id(), management.address());
    let shown = tokio::spawn(show(node.topology()));
    node.run_until_signal().await?;
    shown.await?;
    Ok(())
}

/// What the environment says.
async fn settings() -> Result<NodeBuilder, borough::Error> {
    let listen = set("LISTEN").unwrap_or_else(|| format!("0.0.0.0:{PORT}"));
    let advertise = match set("ADVERTISE") {
        Some(address) => address,
        None => own_address().await?,
    };
    let mut builder = Node::builder("meters").listen(listen).advertise(&advertise);
    // By its own address it can be told from the others without a name.
    builder = builder.node_id(set("NODE_ID").unwrap_or(advertise));
    // Without a directory the cluster ends with its processes.
    builder = match set("DATA_DIR") {
        Some(path) => builder.data_dir(path),
        None => builder.volatile(),
    };
    if let Some(path) = set("SECRET_FILE") {
        builder = builder.secret(secret_from_file(path)?);
    }
    let seeds = set("SEEDS")
        .ok_or("set SEEDS to the name that stands for all nodes, or to host:port,host:port,..")?;
    // Addresses are listed; a name is asked for, and may show only some of them.
    builder = if seeds.contains(':') {
        builder.discovery(StaticSeeds::new(seeds.split(',')))
    } else {
        let nodes = set("EXPECT").ok_or("set EXPECT to the number of nodes that start together")?.parse()?;
        builder.discovery(DnsSeeds { name: seeds, port: PORT }).expect(nodes)
    };
    Ok(builder)
}

/// The address of this container, by its host name: what others dial.
async fn own_address() -> Result<String, borough::Error> {
    let host = set("HOSTNAME").ok_or("set ADVERTISE to an address at which others reach this node")?;
    let found = lookup_host((host.as_str(), PORT)).await?.next();
    Ok(found.ok_or_else(|| format!("{host} has no address; set ADVERTISE"))?.to_string())
}

/// Asks the node in this container whether it is ready, or alive.
async fn health(of_what: &str) -> Result<(), borough::Error> {
    let path = if of_what == "live" { "/health/live" } else { "/health/ready?types=meters" };
    let mut stream = TcpStream::connect(management()).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    println!("{}", answer.rsplit("\r\n\r\n").next().unwrap_or_default());
    if answer.starts_with("HTTP/1.1 200 ") {
        Ok(())
    } else {
        Err(io::Error::other(format!("not {of_what}")).into())
    }
}

/// Prints how the node stands to its cluster and who is up, whenever that changes.
async fn show(mut topology: Topology) {
    let mut before = String::new();
    while let Ok(now) = topology.changed().await {
        let up: Vec<_> = now.up().map(|member| member.node_id().as_str()).collect();
        let line = format!("{}, up: {}", now.standing, up.join(" "));
        if line != before {
            println!("{line}");
            before = line;
        }
    }
}

fn management() -> String {
    set("MANAGEMENT").unwrap_or_else(|| borough_management::DEFAULT_LISTEN.to_owned())
}

fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
