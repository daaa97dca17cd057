//! `borough demo`: a real cluster on this machine, under load, to look at and to harm.
//!
//! ```text
//! fleet     the node processes: `node` is what each of them runs, `sensor` the entity they host
//! city      the demo's own node, which hosts nothing: sends readings, serves the dashboard
//! ledger    what was sent to each sensor, and what became of it
//! headless  the tour that scripts take: leave, join, kill, and the account
//! ```

mod city;
mod fleet;
mod headless;
mod ledger;
mod node;
mod sensor;

use std::time::Duration;

use anyhow::{Context, Result};

use self::city::City;
use self::fleet::Fleet;
pub(crate) use self::node::run as run_node;
use crate::arguments::DemoOptions;

/// How long the cluster may take to form.
const FORMATION: Duration = Duration::from_secs(30);

/// Runs it to its end.
#[tokio::main]
pub(crate) async fn run(options: DemoOptions, json: bool) -> Result<()> {
    let dashboard = if options.headless { "127.0.0.1:0" } else { &*options.dashboard };
    let mut city = City::found(options.entities, dashboard).await?;
    let mut fleet = Fleet::new(city.node.address().as_str().to_owned());
    tokio::select! {
        done = tour(&mut city, &mut fleet, &options, json) => done,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

async fn tour(city: &mut City, fleet: &mut Fleet, options: &DemoOptions, json: bool) -> Result<()> {
    for _ in 0..options.nodes {
        let name = fleet.add().await?;
        eprintln!("{name} is there");
    }
    let formed = tokio::time::timeout(FORMATION, city.node.wait_for(options.nodes + 1)).await;
    formed
        .with_context(|| format!("the nodes have not formed a cluster within {} s", FORMATION.as_secs()))??;
    eprintln!("the cluster stands; its dashboard is at http://{}", city.management.address());
    city.begin(options.rate);
    headless::run(city, fleet, options, json).await
}

/// Whatever becomes of the process that started this one, this one ends with it; also if it was stopped then.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
    {
        eprintln!("borough: this node may outlive the demo: {error}");
    }
}
