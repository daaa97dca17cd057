//! What can be asked of the program.

use std::path::PathBuf;
use std::time::Duration;

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
    /// Where the management of any node of the cluster listens: HOST:PORT, or https://HOST:PORT behind certificates
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT", default_value = "127.0.0.1:25580")]
    pub(crate) address: String,
    /// The token that its management wants
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// The authority that issued the certificate of its management, in PEM form
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT_TLS_AUTHORITY", value_name = "FILE")]
    pub(crate) tls_authority: Option<PathBuf>,
    /// The certificate to show its management, in PEM form
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT_TLS_CERTIFICATE", value_name = "FILE")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of that certificate, in PEM form
    #[arg(long, global = true, env = "BOROUGH_MANAGEMENT_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// JSON for programs instead of tables for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Target {
    /// Whether any file of a certificate is named.
    pub(crate) fn names_certificates(&self) -> bool {
        [&self.tls_authority, &self.tls_certificate, &self.tls_key].iter().any(|file| file.is_some())
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A real cluster on this machine, under load, to look at and to harm
    Demo(DemoOptions),
    /// One node of the demo
    #[command(hide = true)]
    Node(NodeOptions),
    /// A living picture: members, shards, rates, moves, busiest and slowest entities; q quits
    Top {
        /// Prints one frame and ends, for scripts
        #[arg(long)]
        once: bool,
    },
    /// Who is there, and how many losses the cluster survives now
    Members,
    /// Who hosts what
    Shards {
        /// Only this type
        #[arg(long = "type")]
        kind: Option<String>,
    },
    /// The entities that have most to do, and those whose turns take longest
    Entities,
    /// The ids of all entities of a type that live now, a line each
    Ids {
        /// The type
        kind: String,
        /// Only those of this shard
        #[arg(long)]
        shard: Option<u32>,
    },
    /// Where an entity lives, since when, and why there
    Explain {
        /// Its type
        kind: String,
        /// Its id
        id: String,
    },
    /// Every setting of a node, with its value and where that came from
    Settings {
        /// Only those that somebody set
        #[arg(long)]
        changed: bool,
    },
    /// What happens, as it happens
    Events {
        /// Ends after so many
        #[arg(long)]
        count: Option<u64>,
    },
    /// Has a node give its shards away and go on as a member; a type that no other node hosts stays until one does
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
    /// Has a node recover the cluster, after most voters were lost for good; a dry run, unless --yes is given
    ///
    /// Ask a node that is left: one that is suspended, or seeks since it gave up. All entities begin anew. Whoever says --yes vouches that those it
    /// names are dead. Bring the voters back instead, if they can be.
    Recover {
        /// Does it
        #[arg(long)]
        yes: bool,
        /// Those that are dead for good: all that the dry run gives up
        #[arg(requires = "yes", value_name = "NODE")]
        dead: Vec<String>,
    },
    /// An authority and certificates for nodes, for development: `Tls::from_files` reads them
    Certs {
        /// Where to write them
        folder: PathBuf,
        /// A node that gets a certificate
        #[arg(long = "node", default_value = "node", value_name = "NAME")]
        nodes: Vec<String>,
        /// A host, by name or number, that the certificates are valid for
        #[arg(long = "host", value_name = "HOST", default_values = ["localhost", "127.0.0.1", "::1"])]
        hosts: Vec<String>,
    },
    /// What a node keeps in its `data_dir`
    Data {
        #[command(subcommand)]
        command: DataCommand,
    },
    /// The cluster simulator, inside the repository: `borough sim --help` says how
    #[command(disable_help_flag = true)]
    Sim(ToolOptions),
    /// The measurements, inside the repository: `borough bench --help` says how
    #[command(disable_help_flag = true)]
    Bench(ToolOptions),
}

/// What to do with the directory of a node.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Cluster, identity, term, vote and log of a node, and the voters, members, types and shards in it; changes nothing, also while the node runs
    Inspect {
        /// The node's `data_dir`
        directory: PathBuf,
    },
    /// Removes what a stopped node keeps there, and nothing else: it comes back as a new node
    Reset {
        /// The node's `data_dir`
        directory: PathBuf,
        /// Says what would be removed, and removes nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// What a tool of the repository is given, as it is.
#[derive(Debug, Clone, Args)]
pub(crate) struct ToolOptions {
    /// Its own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

/// How large a demo, and for how long.
#[derive(Debug, Clone, Args)]
pub(crate) struct DemoOptions {
    /// How many node processes to start
    #[arg(long, default_value_t = 3, value_parser = nodes)]
    pub(crate) nodes: usize,
    /// How many sensors report
    #[arg(long, default_value_t = 100_000, value_parser = entities)]
    pub(crate) entities: usize,
    /// How many readings a second all of them send
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    pub(crate) rate: u64,
    /// How long it goes on, as `30s` or `5m`; until q is pressed, or 30s with --headless, if it is left out
    #[arg(long, value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// For scripts: a node leaves, one is added, one is killed; ends with an account of every message
    #[arg(long)]
    pub(crate) headless: bool,
    /// Kills none on the way: then sent must equal handled
    #[arg(long)]
    pub(crate) no_kill: bool,
    /// The longest time for which a busy machine may leave a node without a processor, 2s at most; fail-overs take longer with it
    #[arg(long, default_value = "400ms", value_parser = duration)]
    pub(crate) max_pause: Duration,
    /// Where the dashboard listens; 127.0.0.1:25580, or any free port if that one is taken, if it is left out
    #[arg(long, conflicts_with = "no_dashboard")]
    pub(crate) dashboard: Option<String>,
    /// Takes any free port for the management, and does not speak of the dashboard
    #[arg(long)]
    pub(crate) no_dashboard: bool,
}

/// One node of the demo.
#[derive(Debug, Clone, Args)]
pub(crate) struct NodeOptions {
    /// What it is called
    #[arg(long)]
    pub(crate) name: String,
    /// Where to look for the cluster
    #[arg(long)]
    pub(crate) seed: String,
    /// The longest freeze to be borne
    #[arg(long, value_parser = duration)]
    pub(crate) max_pause: Duration,
}

/// More than a machine can bear help nobody.
fn nodes(text: &str) -> Result<usize, String> {
    let nodes = text.parse().map_err(|_| "give a number".to_owned())?;
    if (1..=16).contains(&nodes) { Ok(nodes) } else { Err("1 to 16 processes can be started".to_owned()) }
}

/// What is counted for each of them has to fit into memory beside the sensors themselves.
fn entities(text: &str) -> Result<usize, String> {
    let entities = text.parse().map_err(|_| "give a number".to_owned())?;
    let most = 10_000_000;
    if (1..=most).contains(&entities) { Ok(entities) } else { Err(format!("1 to {most} sensors can report")) }
}

/// `250ms`, `30s`, `5m`, `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "give a number and a unit, as 30s or 5m".to_owned())?;
    let millis = match unit.trim() {
        "ms" => 1,
        "s" | "" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        other => return Err(format!("{other:?} is no unit of time: ms, s, m or h are")),
    };
    let millis = number.checked_mul(millis).ok_or("that is too long")?;
    Ok(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo(option: &str, value: &str) -> Option<Arguments> {
        Arguments::try_parse_from(["borough", "demo", option, value]).ok()
    }

    #[test]
    fn a_demo_is_no_larger_than_a_machine_can_bear() {
        for value in ["0", "10000001", "18446744073709551615", "many"] {
            assert!(demo("--entities", value).is_none(), "{value} sensors");
        }
        for value in ["10000001", "18446744073709551615", "-1"] {
            assert!(demo("--rate", value).is_none(), "{value} readings a second");
        }
        for (option, value) in [("--entities", "10000000"), ("--rate", "0"), ("--rate", "10000000")] {
            assert!(demo(option, value).is_some(), "{option} {value}");
        }
    }
}
