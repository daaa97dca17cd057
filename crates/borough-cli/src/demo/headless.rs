//! The tour that scripts take: one node leaves, one comes, one is killed, all under load; then every message is accounted for.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep_until, timeout};

use super::city::City;
use super::fleet::Fleet;
use crate::arguments::DemoOptions;
use crate::output;

/// How long it goes on unless it is said otherwise.
const DURATION: Duration = Duration::from_secs(30);
/// How long the cluster may take until it can lose a node.
const READINESS: Duration = Duration::from_secs(60);

pub(super) async fn run(city: &mut City, fleet: &mut Fleet, options: &DemoOptions, json: bool) -> Result<()> {
    let began = Instant::now();
    let at = |part: u32| began + options.duration.unwrap_or(DURATION) * part / 10;

    sleep_until(at(2)).await;
    if let Some(name) = fleet.names().pop().filter(|_| options.nodes > 1) {
        let leaves = Instant::now();
        city.losses.note_leaving(&name);
        fleet.take(&name)?.leave().await?;
        say(began, &format!("{name} has left within {} ms", leaves.elapsed().as_millis()));
    }
    sleep_until(at(4)).await;
    let name = fleet.add().await?;
    say(began, &format!("{name} was added"));

    sleep_until(at(6)).await;
    if !options.no_kill {
        kill_one(city, fleet, began).await?;
    }
    sleep_until(at(10)).await;
    let ended = fleet.ended();
    if let Some((name, _)) = ended.first() {
        bail!("{name} has ended by itself");
    }
    let summary = city.settle().await?;
    summary.conclude(json, options.no_kill)
}

/// Waits until the cluster can bear it.
async fn kill_one(city: &mut City, fleet: &mut Fleet, began: Instant) -> Result<()> {
    let topology = city.node.topology();
    let Ok(ready) = timeout(READINESS, topology.wait_until(|topology| topology.tolerates() > 0)).await else {
        bail!(
            "the cluster cannot lose a node yet, after {} s; with --nodes 3 or more it can",
            READINESS.as_secs()
        )
    };
    let tolerates = ready?.tolerates();
    if let Some(name) = fleet.names().first().cloned() {
        city.losses.note(&name);
        fleet.kill(&name).await?;
        say(began, &format!("{name} was killed, with {tolerates} to spare"));
    }
    Ok(())
}

fn say(began: Instant, what: &str) {
    output::remark(format_args!("{:5.1} s  {what}", began.elapsed().as_secs_f64()));
}
