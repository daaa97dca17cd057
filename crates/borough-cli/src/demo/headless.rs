//! The tour that scripts take: one node leaves, one comes, one is killed, all under load; then every message is accounted for.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep_until, timeout};

use super::city::City;
use super::fleet::Fleet;
use super::ledger::Account;
use crate::arguments::DemoOptions;
use crate::output;

/// How long the cluster may take until it can lose a node.
const READINESS: Duration = Duration::from_secs(60);

pub(super) async fn run(city: &mut City, fleet: &mut Fleet, options: &DemoOptions, json: bool) -> Result<()> {
    let began = Instant::now();
    let at = |part: u32| began + options.duration * part / 10;

    sleep_until(at(2)).await;
    if let Some(name) = fleet.names().pop().filter(|_| options.nodes > 1) {
        let leaves = Instant::now();
        fleet.leave(&name).await?;
        say(began, &format!("{name} has left within {} ms", leaves.elapsed().as_millis()));
    }
    sleep_until(at(4)).await;
    let name = fleet.add().await?;
    say(began, &format!("{name} was added"));

    sleep_until(at(6)).await;
    if !options.no_kill {
        let ready = city.node.topology();
        let Ok(ready) = timeout(READINESS, ready.wait_until(|topology| topology.tolerates() > 0)).await
        else {
            bail!(
                "the cluster cannot lose a node yet, after {} s; with --nodes 3 or more it can",
                READINESS.as_secs()
            )
        };
        ready?;
        if let Some(name) = fleet.names().first().cloned() {
            city.note_harm(&name);
            fleet.kill(&name).await?;
            city.note_harm(&name);
            say(began, &format!("{name} was killed"));
        }
    }
    sleep_until(at(10)).await;
    let account = city.settle().await?;
    show(&account, json)?;
    if !account.is_balanced() {
        bail!("{} missing, {} doubled, {} misplaced", account.missing, account.doubled, account.misplaced);
    }
    if options.no_kill && account.sent != account.handled {
        bail!("{} sent and {} handled, though nothing was killed", account.sent, account.handled);
    }
    Ok(())
}

fn say(began: Instant, what: &str) {
    eprintln!("{:5.1} s  {what}", began.elapsed().as_secs_f64());
}

fn show(account: &Account, json: bool) -> Result<()> {
    if json {
        return output::json(account);
    }
    let mut table = output::table(&["MESSAGES", ""]);
    table.add_row(["sent".to_owned(), account.sent.to_string()]);
    table.add_row(["handled".to_owned(), account.handled.to_string()]);
    table.add_row(["refused, and given back".to_owned(), account.refused.to_string()]);
    table.add_row(["gone with the killed process".to_owned(), account.gone_with_killed.to_string()]);
    table.add_row([
        "missing, doubled, out of order".to_owned(),
        (account.missing + account.doubled + account.misplaced).to_string(),
    ]);
    println!("{table}");
    println!("every message is accounted for: {}", if account.is_balanced() { "yes" } else { "NO" });
    Ok(())
}
