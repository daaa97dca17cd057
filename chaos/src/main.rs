//! Plays scenarios with real processes: `cargo xtask chaos network`, `cargo xtask chaos sharding`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use borough_chaos::sharding::Bounds;
use borough_chaos::sharding::measure::Times;
use borough_chaos::suite::{self, Options};
use borough_chaos::{janitor, sharding};
use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "chaos", about = "Real processes under real faults.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Nodes on a network: kills, pauses, cuts, strangers.
    Network(Network),
    /// Entities on nodes: joins, leaves, kills, pauses, cuts, under load.
    Sharding(Sharding),
    /// Kills nodes under load, and measures how long it takes until every entity answers again.
    Failover {
        /// How many; every other is the coordinator's.
        #[arg(long, default_value_t = 20)]
        kills: usize,
        #[command(flatten)]
        load: Load,
    },
    /// Measures a cluster under load: a line of JSON for each measurement.
    Measure(Measure),
    /// Full load for hours: is a healthy node ever removed?
    Soak {
        /// How many hours.
        #[arg(long, default_value_t = 1.0)]
        hours: f64,
    },
    /// Cleans up once standard input ends, as the harness starts it.
    #[command(hide = true)]
    Janitor,
}

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Network {
    /// Only scenarios whose names contain this (repeatable).
    #[arg(long)]
    only: Vec<String>,
    /// Only a few, in about two minutes.
    #[arg(long)]
    quick: bool,
    /// Keeps the logs even of those that held.
    #[arg(long)]
    keep: bool,
    /// Names all scenarios and plays none.
    #[arg(long)]
    list: bool,
    /// The longest freeze that a healthy node may show, in milliseconds; raise it on a machine that is busy with other things.
    #[arg(long)]
    max_pause_ms: Option<u64>,
    /// Cuts ways by proxies, even where network namespaces can be made.
    #[arg(long)]
    proxies: bool,
}

#[derive(Args, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Sharding {
    /// Only the scenario of this number, or those whose names contain this (repeatable).
    #[arg(long)]
    only: Vec<String>,
    /// Only the first five, in less than two minutes.
    #[arg(long)]
    short: bool,
    /// Keeps logs and histories even of those that held.
    #[arg(long)]
    keep: bool,
    /// Holds silences against what is promised (250 ms for planned moves, 3.5 s for a fail-over), for a machine with nothing else to do.
    #[arg(long)]
    strict: bool,
    /// Names all scenarios and plays none.
    #[arg(long)]
    list: bool,
    /// Cuts ways by proxies, even where network namespaces can be made.
    #[arg(long)]
    proxies: bool,
    #[command(flatten)]
    load: Load,
}

#[derive(Args)]
struct Measure {
    /// Only this (repeatable): formation, cold-start, kill, join, leave, rolling-restart.
    #[arg(long)]
    only: Vec<String>,
    /// Everything once, with 50 000 entities: shows that it works, says nothing about speed.
    #[arg(long)]
    quick: bool,
    /// How many kills; every other is the coordinator's.
    #[arg(long, default_value_t = 20)]
    kills: usize,
    /// How many cold starts.
    #[arg(long, default_value_t = 20)]
    starts: usize,
    /// How often everything else is done.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// How many entities live when a node joins.
    #[arg(long, default_value_t = 1_000_000)]
    entities: u32,
    /// Keeps logs and histories even if nothing was wrong.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    load: Load,
}

#[derive(Args, Default)]
struct Load {
    /// How many messages a client sends in a second; 0: as many as there is room for.
    #[arg(long, default_value_t = 4000)]
    rate: u64,
    /// The longest freeze that a healthy node may show, in milliseconds; raise it on a machine that is busy with other things.
    #[arg(long)]
    max_pause_ms: Option<u64>,
    /// Hosts lose one tell in so many on purpose: this has to be found.
    #[arg(long, hide = true)]
    lose_one_in: Option<u64>,
}

fn main() -> ExitCode {
    let ran = match Cli::parse().command {
        Command::Janitor => {
            janitor::main();
            Ok(())
        }
        Command::Network(network) if network.list => {
            suite::list();
            Ok(())
        }
        Command::Network(network) => options(network).and_then(|options| suite::run(&options)),
        Command::Sharding(sharding) if sharding.list => {
            sharding::list();
            Ok(())
        }
        Command::Sharding(arguments) => of_sharding(arguments).and_then(|options| sharding::run(&options)),
        Command::Failover { kills, load } => {
            let arguments = Sharding { load, ..Sharding::default() };
            of_sharding(arguments).and_then(|options| sharding::failover(&options, kills))
        }
        Command::Measure(arguments) => measure(arguments),
        Command::Soak { hours } => {
            Duration::try_from_secs_f64(hours * 3600.0).map_err(|error| error.to_string()).and_then(|time| {
                of_sharding(Sharding::default()).and_then(|options| sharding::soak(&options, time))
            })
        }
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("chaos: {why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: Measure) -> Result<(), String> {
    let Measure { only, quick, kills, starts, repeats, entities, keep, load } = arguments;
    let options = of_sharding(Sharding { only, keep, load, ..Sharding::default() })?;
    let times = if quick {
        Times { kills: 2, starts: 1, repeats: 1, entities: entities.min(50_000) }
    } else {
        Times { kills, starts, repeats, entities }
    };
    sharding::measure::run(&options, times)
}

fn options(network: Network) -> Result<Options, String> {
    let Folders { node, chaos, logs } = Folders::find()?;
    Ok(Options {
        node,
        chaos,
        logs,
        only: network.only,
        quick: network.quick,
        keep: network.keep,
        max_pause: network.max_pause_ms.map(Duration::from_millis),
        proxies: network.proxies,
    })
}

fn of_sharding(arguments: Sharding) -> Result<sharding::Options, String> {
    let Folders { node, chaos, logs } = Folders::find()?;
    Ok(sharding::Options {
        node,
        chaos,
        logs,
        only: arguments.only,
        short: arguments.short,
        keep: arguments.keep,
        bounds: if arguments.strict { Bounds::Strict } else { Bounds::Lenient },
        rate: arguments.load.rate,
        max_pause: arguments.load.max_pause_ms.map(Duration::from_millis),
        proxies: arguments.proxies,
        lose_one_in: arguments.load.lose_one_in,
    })
}

/// Where everything is.
struct Folders {
    node: PathBuf,
    chaos: PathBuf,
    logs: PathBuf,
}

impl Folders {
    fn find() -> Result<Self, String> {
        let chaos = std::env::current_exe().map_err(|error| error.to_string())?;
        // target/release/chaos
        let target =
            chaos.ancestors().nth(2).map(PathBuf::from).ok_or("this program is in no target folder")?;
        Ok(Self { node: chaos.with_file_name("chaos-node"), logs: target.join("chaos"), chaos })
    }
}
