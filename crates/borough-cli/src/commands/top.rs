//! `top`: the cluster as it lives.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::{Result, bail};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal;
use ratatui::text::Line;

use crate::client::Client;
use crate::output;
use crate::scene::{Feed, Footer, News, Scene, draw, printed};

/// How often the screen is drawn, and a key looked for.
const FRAME: Duration = Duration::from_millis(200);
/// Between the two looks that make a rate.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

pub(super) fn show(client: &Client, once: bool, json: bool) -> Result<()> {
    if json {
        return output::json(&client.stats()?);
    }
    if once {
        return print_one(client);
    }
    if !std::io::stdout().is_terminal() {
        bail!("top needs a terminal; `borough top --once` prints one frame without");
    }
    // A wrong address is told in words, before the screen is taken.
    client.members()?;
    let mut terminal = ratatui::try_init()?;
    let shown = follow(&mut terminal, client);
    ratatui::restore();
    shown
}

fn follow(terminal: &mut ratatui::DefaultTerminal, client: &Client) -> Result<()> {
    let feed = Feed::open(client)?;
    let mut scene = Scene::default();
    let lines = vec![Line::raw(format!("q quits; the dashboard is at {}", client.endpoint()))];
    let footer = Footer { lines, ..Footer::default() };
    loop {
        feed.take().for_each(|news| scene.take_in(news));
        terminal.draw(|frame| draw(frame, &scene, &footer))?;
        if event::poll(FRAME)? && quits(&event::read()?) {
            return Ok(());
        }
    }
}

/// q, Escape or Ctrl-C, which is a key like any other on a screen taken over.
fn quits(event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    let interrupts = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (interrupts || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc))
}

fn print_one(client: &Client) -> Result<()> {
    let mut scene = Scene::default();
    scene.take_in(News::Counts(client.stats()?, client.entities()?));
    std::thread::sleep(BETWEEN_LOOKS);
    scene.take_in(News::Counts(client.stats()?, client.entities()?));
    scene.take_in(News::Table(client.members()?, client.shards()?));
    let width = terminal::size().map_or(100, |(width, _)| width.max(100));
    output::line(printed(&scene, width, &Footer::default())?.trim_end_matches('\n'))
}
