//! Plays scenarios with real processes: `cargo xtask chaos network`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use borough_chaos::janitor;
use borough_chaos::suite::{self, Options};
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
    /// Only a few, in less than a minute.
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
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("chaos: {why}");
            ExitCode::FAILURE
        }
    }
}

fn options(network: Network) -> Result<Options, String> {
    let chaos = std::env::current_exe().map_err(|error| error.to_string())?;
    // target/release/chaos
    let beside = |name| chaos.with_file_name(name);
    let target = chaos.ancestors().nth(2).map(PathBuf::from).ok_or("this program is in no target folder")?;
    Ok(Options {
        node: beside("chaos-node"),
        logs: target.join("chaos"),
        only: network.only,
        quick: network.quick,
        keep: network.keep,
        max_pause: network.max_pause_ms.map(Duration::from_millis),
        proxies: network.proxies,
        chaos,
    })
}
