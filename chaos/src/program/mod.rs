//! The program under test: one real node that says what it sees and does what it is told.
//!
//! It ends by SIGTERM in order, by `quit` at once, and at once when its standard input ends: whoever started it is gone then.
//! After `drop-runtime` it goes on without a runtime, and only those two are left.

mod counter;
mod ledger;
mod options;
mod orders;
mod self_view;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use borough::Node;
use clap::Parser;

use self::counter::{Counter, Tally};
use self::ledger::{Ledgers, Setting};
use self::options::Options;
use self::orders::Orders;
use crate::words::Said;

/// How often it looks whether something was counted.
const LOOK: Duration = Duration::from_millis(250);

/// The whole program.
pub fn main() -> ExitCode {
    let options = Options::parse();
    tracing_subscriber::fmt()
        .with_max_level(options.log)
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .init();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(options.workers).enable_all().build();
    let ran = match runtime {
        // The runtime is gone when this is done.
        Ok(runtime) => runtime.block_on(run(options)),
        Err(error) => Err(error.into()),
    };
    match ran {
        Ok(Ran::ToTheEnd) => ExitCode::SUCCESS,
        Ok(Ran::UntilItsRuntimeGoes(node)) => go_on_without_runtime(&node),
        Err(error) => {
            eprintln!("chaos-node: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How far a node came on its runtime.
enum Ran {
    ToTheEnd,
    /// The node is there still.
    UntilItsRuntimeGoes(Arc<Node>),
}

async fn run(options: Options) -> Result<Ran, borough::Error> {
    let workers = options.workers;
    let (entities, ids) = (options.entities, options.ids);
    let (history, first_sender) = (options.history.clone(), options.first_sender);
    let lose_one_in = options.lose_one_in;
    let node = Arc::new(options.builder()?.start().await?);
    let tally = Arc::new(Tally::default());
    let counter = {
        let tally = tally.clone();
        node.actor(move || Counter::new(tally.clone())).name(counter::NAME).spawn()?
    };
    node.expose(&counter)?;
    let ledgers = match entities {
        None => None,
        Some(part) => {
            let setting = Setting { part, ids, history: history.as_deref(), first_sender, lose_one_in };
            Some(Arc::new(Ledgers::start(&node, setting).await?))
        }
    };
    say(&Said::Listening {
        node: node.node_id().as_str().to_owned(),
        address: node.address().as_str().to_owned(),
        uid: node.uid().get(),
    });
    tokio::spawn(tell_topology(node.clone()));
    tokio::spawn(tell_counts(node.clone()));
    let orders = Orders::new(node.clone(), tally, workers, ledgers);
    let runtime_goes = orders.runtime_goes.clone();
    let runtime = tokio::runtime::Handle::current();
    // A thread, as a read of standard input cannot be given up; it ends with the process.
    std::thread::Builder::new().name("orders".to_owned()).spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if !orders.obey_at_once(&line) {
                drop(runtime.spawn(orders.clone().obey(line)));
            }
        }
        std::process::exit(0);
    })?;
    tokio::select! {
        report = node.run_until_signal() => say(&Said::Ending { how: format!("{:?}", report?) }),
        () = runtime_goes.notified() => return Ok(Ran::UntilItsRuntimeGoes(node)),
    }
    Ok(Ran::ToTheEnd)
}

/// Says what the node knows of its cluster, until the process ends.
fn go_on_without_runtime(node: &Node) -> ! {
    let mut before = None;
    loop {
        let now = Some(self_view::view(&node.topology().current()));
        if now != before {
            now.iter().cloned().map(Said::Topology).for_each(|said| say(&said));
            before = now;
        }
        std::thread::sleep(LOOK);
    }
}

async fn tell_topology(node: Arc<Node>) {
    let mut topology = node.topology();
    say(&Said::Topology(self_view::view(&topology.current())));
    while let Ok(now) = topology.changed().await {
        say(&Said::Topology(self_view::view(&now)));
    }
}

async fn tell_counts(node: Arc<Node>) {
    let mut before = self_view::counts(&node);
    loop {
        tokio::time::sleep(LOOK).await;
        let now = self_view::counts(&node);
        if now.refusals != before.refusals || now.dead_letters != before.dead_letters {
            say(&Said::Counts(now.clone()));
            before = now;
        }
    }
}

/// One line, whole.
fn say(said: &Said) {
    let Ok(mut line) = serde_json::to_string(said) else { return };
    line.push('\n');
    // Nobody reads any more: then nobody misses it.
    let mut out = std::io::stdout().lock();
    drop(out.write_all(line.as_bytes()).and_then(|()| out.flush()));
}
