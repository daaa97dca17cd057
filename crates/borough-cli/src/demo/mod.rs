//! `borough demo`: a real cluster on this machine, under load, to look at and to harm.
//!
//! ```text
//! fleet     the node processes, `process` one of them: `node` is what each of them runs, `sensor` the entity they host
//! city      the demo's own node, which hosts nothing: sends readings, serves the dashboard; `probe` asks all the while
//! ledger    what was sent to each sensor, and what became of it; `losses` which of them lived in a process that was lost, `summary` what is said of it in the end
//! watched   for people: goes on until they quit; `screen` is what they see, `board` what they are told
//! headless  the tour that scripts take: leave, join, kill, and the account
//! ```

mod board;
mod city;
mod fleet;
mod headless;
mod ledger;
mod losses;
mod node;
mod probe;
mod process;
mod screen;
mod sensor;
mod signals;
mod summary;
mod watched;

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::board::Board;
use self::city::{ANY_PORT, City};
use self::fleet::Fleet;
pub(crate) use self::node::run as run_node;
use self::screen::Screen;
use self::watched::{Watched, quits};
use crate::arguments::{DemoOptions, Target};
use crate::client::Client;

/// How long the cluster may take to form.
const FORMATION: Duration = Duration::from_secs(60);

/// Runs it to its end. However that comes, no process is left.
#[tokio::main]
pub(crate) async fn run(options: &DemoOptions, json: bool) -> Result<()> {
    let any = (options.headless || options.no_dashboard).then_some(ANY_PORT);
    let dashboard = options.dashboard.as_deref().or(any);
    let mut city = City::found(options.entities, options.max_pause, dashboard).await?;
    let mut fleet = Fleet::new(city.node.address().as_str().to_owned(), options.max_pause);
    tokio::select! {
        done = tour(&mut city, &mut fleet, options, json) => done,
        asked = signals::asked_to_end() => {
            asked?;
            if options.headless { bail!("ended from outside, before the account") }
            Ok(())
        }
    }
}

async fn tour(city: &mut City, fleet: &mut Fleet, options: &DemoOptions, json: bool) -> Result<()> {
    if options.headless {
        form(city, fleet, options, &Board::new(false)).await?;
        city.begin(options.rate);
        return headless::run(city, fleet, options, json).await;
    }
    let has_screen = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let board = Board::new(has_screen);
    let invitation = if options.no_dashboard { String::new() } else { invitation(city) };
    let mut screen = if has_screen { Some(Screen::open(&client(city)?, &board, invitation)?) } else { None };
    tokio::select! {
        formed = form(city, fleet, options, &board) => formed?,
        () = quits(&mut screen) => return Ok(()),
    }
    city.begin(options.rate);
    let summary = Watched::new(city, fleet, board).run(&mut screen, options.duration).await;
    drop(screen);
    match summary? {
        Some(summary) => summary.conclude(json, false),
        None => Ok(()),
    }
}

/// Starts the nodes, and waits until they know each other.
async fn form(city: &City, fleet: &mut Fleet, options: &DemoOptions, board: &Board) -> Result<()> {
    for number in 1..=options.nodes {
        board.enter(format!("starting node {number} of {}", options.nodes));
        fleet.add().await?;
        board.told().nodes = fleet.roll();
    }
    board.enter("the nodes find each other".to_owned());
    let formed = tokio::time::timeout(FORMATION, city.node.wait_for(options.nodes + 1)).await;
    formed
        .with_context(|| format!("the nodes have not formed a cluster within {} s", FORMATION.as_secs()))??;
    board.enter("the shards get their owners".to_owned());
    city.open().await?;
    let address = city.management.address();
    board.note(if options.no_dashboard {
        format!("the cluster stands: {} nodes, and this one, which hosts nothing", options.nodes)
    } else {
        format!("the cluster stands; its dashboard is at http://{address}")
    });
    board.enter(String::new());
    Ok(())
}

/// Where else to look.
fn invitation(city: &City) -> String {
    let address = city.management.address();
    format!("dashboard http://{address}; in another terminal: borough top --address {address}")
}

/// Asks the demo's own management, as any other program would.
fn client(city: &City) -> Result<Client> {
    Client::new(&Target {
        address: format!("http://{}", city.management.address()),
        token: None,
        tls_authority: None,
        tls_certificate: None,
        tls_key: None,
        json: false,
    })
}
