//! What can be asked of the program.

use clap::{Args, Parser, Subcommand};

/// A demo cluster in one command, and windows into any Borough cluster.
#[derive(Debug, Parser)]
#[command(name = "borough", version, about, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Whom to ask, and how to answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct Target {
    /// Where the management of any node of the cluster listens
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT", default_value = "127.0.0.1:25580")]
    pub(crate) address: String,
    /// The token that its management wants
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// JSON for programs instead of tables for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Who is there, and how many losses the cluster survives now
    Members,
    /// Who hosts what
    Shards {
        /// Only this type
        #[arg(long = "type")]
        kind: Option<String>,
    },
    /// The entities that have most to do
    Entities,
    /// Where an entity lives, since when, and why there
    Explain {
        /// Its type
        kind: String,
        /// Its id
        id: String,
    },
    /// What happens, as it happens
    Events {
        /// Ends after so many
        #[arg(long)]
        count: Option<u64>,
    },
    /// Has a node give its shards away; it goes on as a member that hosts none
    Drain {
        /// Its node id
        node: String,
    },
    /// Moves a shard to a node
    Move {
        /// The number of the shard
        shard: u32,
        /// The node id
        node: String,
        /// Its type; may be left out if there is one alone
        #[arg(long = "type")]
        kind: Option<String>,
    },
    /// Has a node leave the cluster in order
    Leave {
        /// Its node id
        node: String,
    },
    /// Has the cluster remove a node that is gone for good
    Down {
        /// Its node id
        node: String,
    },
}
