//! The demo's screen: the living picture, what is told below it, and the keys.
//!
//! It has a thread of its own, because waiting for keys blocks. However the demo ends, the terminal is given back.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::board::Board;
use crate::client::Client;
use crate::output;
use crate::scene::{Feed, Footer, Scene, draw};

/// How often the screen is drawn, and a key looked for.
const FRAME: Duration = Duration::from_millis(100);
const KEYS: &str = "a add a node   k kill -9   d drain   l leave   p pause, go on   up, down choose   q quit";

/// What whoever watches wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// One more node.
    Add,
    /// `kill -9`; also if the cluster cannot bear it.
    Kill { name: String, anyway: bool },
    /// It gives its shards away.
    Drain(String),
    /// It leaves in order.
    Leave(String),
    /// It is stopped, or goes on.
    Pause(String),
    /// The end.
    Quit,
}

/// The screen, while it is taken over. Dropped, it is given back.
#[derive(Debug)]
pub(super) struct Screen {
    board: Board,
    wishes: UnboundedReceiver<Wish>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Screen {
    /// Takes the terminal over; shows what that management tells, and these words where else to look.
    pub(super) fn open(client: &Client, board: &Board, invitation: String) -> Result<Self> {
        let feed = Feed::open(client)?;
        let mut terminal = ratatui::try_init().context("the terminal cannot be used as a screen")?;
        let (sender, wishes) = unbounded_channel();
        let shared = board.clone();
        let thread = thread::Builder::new().name("screen".to_owned()).spawn(move || {
            let shown = show(&mut terminal, &feed, &shared, &sender, &invitation);
            ratatui::restore();
            shown
        })?;
        Ok(Self { board: board.clone(), wishes, thread: Some(thread) })
    }

    /// The next wish; none will come after `None`: the screen has failed. Cancel safe.
    pub(super) async fn wish(&mut self) -> Option<Wish> {
        self.wishes.recv().await
    }

    /// Ready when the end is wished for. All else is passed over.
    pub(super) async fn quits(&mut self) {
        while !matches!(self.wish().await, None | Some(Wish::Quit)) {}
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.board.told().is_over = true;
        if let Some(Ok(Err(error))) = self.thread.take().map(JoinHandle::join) {
            output::remark(format_args!("borough: the screen failed: {error:#}"));
        }
    }
}

fn show(
    terminal: &mut DefaultTerminal,
    feed: &Feed,
    board: &Board,
    wishes: &UnboundedSender<Wish>,
    invitation: &str,
) -> Result<()> {
    let mut scene = Scene::default();
    let mut chosen = 0;
    loop {
        feed.take().for_each(|news| scene.take_in(news));
        let names: Vec<String> = board.told().nodes.iter().map(|(name, _)| name.clone()).collect();
        chosen = chosen.min(names.len().saturating_sub(1));
        let footer = Footer { selected: names.get(chosen).cloned(), ..below(board, invitation) };
        if board.told().is_over {
            return Ok(());
        }
        terminal.draw(|frame| draw(frame, &scene, &footer))?;
        if !event::poll(FRAME)? {
            continue;
        }
        match event::read()? {
            Event::Key(key) if key.kind == KeyEventKind::Press => match key.code {
                KeyCode::Up => chosen = chosen.saturating_sub(1),
                KeyCode::Down => chosen += 1,
                _ => {
                    // Nobody listens when the demo is about to end.
                    let _ = meant(key, footer.selected).map(|wish| wishes.send(wish));
                }
            },
            _ => {}
        }
    }
}

/// What a key means, with that node chosen.
fn meant(key: KeyEvent, chosen: Option<String>) -> Option<Wish> {
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Wish::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Wish::Quit),
        KeyCode::Char('a') => Some(Wish::Add),
        KeyCode::Char('k') => chosen.map(|name| Wish::Kill { name, anyway: false }),
        KeyCode::Char('K') => chosen.map(|name| Wish::Kill { name, anyway: true }),
        KeyCode::Char('d') => chosen.map(Wish::Drain),
        KeyCode::Char('l') => chosen.map(Wish::Leave),
        KeyCode::Char('p') => chosen.map(Wish::Pause),
        _ => None,
    }
}

fn below(board: &Board, invitation: &str) -> Footer {
    let told = board.told();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut facts = vec![Line::styled(told.phase.clone(), bold), Line::raw(told.facts.clone())];
    let notices = told.notices.iter().cloned().map(Line::raw).collect();
    let mut lines = Vec::new();
    let paused: Vec<_> =
        told.nodes.iter().filter(|(_, is_paused)| *is_paused).map(|(name, _)| &**name).collect();
    if !paused.is_empty() {
        lines.push(Line::raw(format!("paused: {}", paused.join(", "))));
    }
    lines.push(Line::raw(invitation.to_owned()));
    lines.push(Line::styled(KEYS, bold));
    for group in [&mut facts, &mut lines] {
        group.retain(|line| line.width() > 0);
    }
    Footer { facts, notices, lines, selected: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_about_the_chosen_node_and_ctrl_c_is_the_end() {
        let press = |code| meant(KeyEvent::new(code, KeyModifiers::NONE), Some("mill".to_owned()));
        let kill = |anyway| Wish::Kill { name: "mill".to_owned(), anyway };
        assert_eq!(press(KeyCode::Char('k')), Some(kill(false)));
        assert_eq!(press(KeyCode::Char('K')), Some(kill(true)));
        assert_eq!(press(KeyCode::Char('d')), Some(Wish::Drain("mill".to_owned())));
        assert_eq!(press(KeyCode::Char('l')), Some(Wish::Leave("mill".to_owned())));
        assert_eq!(press(KeyCode::Char('c')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(meant(interrupt, None), Some(Wish::Quit));
        assert_eq!(meant(KeyEvent::new(KeyCode::Char('k'), KeyModifiers::NONE), None), None);
    }
}
