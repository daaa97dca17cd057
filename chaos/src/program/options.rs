//! How the program under test is started.

use std::path::PathBuf;
use std::time::Duration;

use borough::{Node, NodeBuilder, Secret};
use clap::{Parser, ValueEnum};
use tracing_subscriber::filter::LevelFilter;

use crate::words::WORKERS;

/// One node of a cluster, to be harmed.
#[derive(Parser, Debug)]
#[command(name = "chaos-node")]
pub(super) struct Options {
    /// The cluster's name.
    #[arg(long, default_value = "chaos")]
    cluster: String,
    /// What the node is called.
    #[arg(long)]
    id: Option<String>,
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Where others reach it, if not where it listens.
    #[arg(long)]
    advertise: Option<String>,
    /// Where it looks for others (repeatable).
    #[arg(long)]
    seed: Vec<String>,
    /// What all nodes of the cluster know, at least 16 bytes.
    #[arg(long)]
    secret: Option<String>,
    /// The longest freeze that a healthy node may show, in milliseconds.
    #[arg(long)]
    max_pause_ms: Option<u64>,
    /// How long a worker may be silent before the node gives up its lease, in milliseconds; never, if none.
    #[arg(long)]
    wedged_after_ms: Option<u64>,
    /// Where it keeps what is to outlive the process; nowhere, if none.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Threads of the runtime that runs its actors.
    #[arg(long, default_value_t = WORKERS)]
    pub(super) workers: usize,
    /// Starts the types of entities: as a host of them, or as a proxy that puts load on them.
    #[arg(long)]
    pub(super) entities: Option<Part>,
    /// How many entities there are.
    #[arg(long, default_value_t = 10_000)]
    pub(super) ids: u32,
    /// Where turns and messages are written down.
    #[arg(long)]
    pub(super) history: Option<PathBuf>,
    /// The number of its first sender; no other process of the run may use the next ten.
    #[arg(long, default_value_t = 0)]
    pub(super) first_sender: u32,
    /// Loses one tell in so many on purpose: whoever looks for losses has to find these.
    #[arg(long, hide = true)]
    pub(super) lose_one_in: Option<u64>,
    /// What is logged on standard error.
    #[arg(long, default_value = "debug")]
    pub(super) log: LevelFilter,
}

/// What a node is to the entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// They live there.
    Host,
    /// It sends to them.
    Proxy,
}

impl Options {
    pub(super) fn builder(self) -> Result<NodeBuilder, borough::Error> {
        let mut builder = Node::builder(self.cluster).listen(self.listen).seeds(self.seed);
        if let Some(id) = self.id {
            builder = builder.node_id(id);
        }
        if let Some(address) = self.advertise {
            builder = builder.advertise(address);
        }
        if let Some(secret) = self.secret {
            builder = builder.secret(Secret::new(secret)?);
        }
        if let Some(millis) = self.max_pause_ms {
            // The promise of a fail-over within 3.5 s is one for the default.
            builder =
                builder.max_pause(Duration::from_millis(millis)).failover_target(Duration::from_secs(60));
        }
        if let Some(millis) = self.wedged_after_ms {
            builder = builder.wedged_after(Duration::from_millis(millis));
        }
        Ok(match self.data_dir {
            Some(folder) => builder.data_dir(folder),
            None => builder.volatile(),
        })
    }
}
