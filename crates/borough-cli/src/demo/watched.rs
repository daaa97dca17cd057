//! The demo as people see it: it goes on until they quit, and does to the nodes what they wish.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::board::Board;
use super::city::City;
use super::fleet::Fleet;
use super::probe::RECENT;
use super::process::Process;
use super::screen::{Screen, Wish};
use super::summary::Summary;
use crate::output;

/// How often what is told is renewed.
const TICK: Duration = Duration::from_millis(250);
/// How many ticks lie between two lines where there is no screen.
const TICKS_A_LINE: u64 = 20;
/// Longer than any demo.
const FOR_EVER: Duration = Duration::from_secs(86_400 * 365);

/// The running demo.
pub(super) struct Watched<'a> {
    pub(super) city: &'a mut City,
    pub(super) fleet: &'a mut Fleet,
    pub(super) board: Board,
    leaving: JoinSet<(String, Result<()>)>,
    /// Those that start: whoever watches is heard meanwhile.
    coming: JoinSet<(String, Result<Process>)>,
    last: (Instant, u64),
    ticks: u64,
}

impl<'a> Watched<'a> {
    pub(super) fn new(city: &'a mut City, fleet: &'a mut Fleet, board: Board) -> Self {
        let (leaving, coming) = (JoinSet::new(), JoinSet::new());
        Self { city, fleet, board, leaving, coming, last: (Instant::now(), 0), ticks: 0 }
    }

    /// Goes on until the end is wished for, or for that long. `None` if whoever watches would not wait for the account.
    pub(super) async fn run(
        mut self,
        screen: &mut Option<Screen>,
        duration: Option<Duration>,
    ) -> Result<Option<Summary>> {
        let end = Instant::now() + duration.unwrap_or(FOR_EVER);
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                wish = next(screen) => match wish {
                    None => bail!("the screen has failed"),
                    Some(Wish::Quit) => break,
                    Some(wish) => self.grant(wish).await.unwrap_or_else(|error| self.board.note(format!("{error:#}"))),
                },
                Some(came) = self.coming.join_next() => match came? {
                    (name, Ok(process)) => {
                        self.fleet.take_in(process);
                        self.board.note(format!("{name} was added; shards move to it"));
                    }
                    (_, Err(error)) => self.board.note(format!("{error:#}")),
                },
                Some(left) = self.leaving.join_next() => match left? {
                    (name, Ok(())) => self.board.note(format!("{name} has left; nothing was lost")),
                    (name, Err(error)) => {
                        // It was killed then, and what had not moved by now went with it.
                        self.city.losses.note(&name);
                        self.board.note(format!("{error:#}"));
                    }
                },
                _ = tick.tick() => self.renew(),
                () = sleep_until(end) => break,
            }
        }
        self.fleet.resume_all()?;
        self.board.enter("asking every sensor what it has; q skips this".to_owned());
        tokio::select! {
            summary = self.city.settle() => summary.map(Some),
            () = quits(screen) => Ok(None),
        }
    }

    async fn grant(&mut self, wish: Wish) -> Result<()> {
        match wish {
            Wish::Add => {
                let (name, started) = self.fleet.start_one();
                self.board.note(format!("{name} starts"));
                self.coming.spawn(async move { (name, started.await) });
            }
            Wish::Kill { name, anyway } => {
                if !anyway && self.city.node.topology().current().tolerates() == 0 {
                    bail!(
                        "the cluster survives no loss now: add a node first (a), or kill {name} all the same (K)"
                    );
                }
                self.city.losses.note(&name);
                self.fleet.kill(&name).await?;
                self.board.note(format!("{name} was killed; its shards begin anew elsewhere"));
            }
            Wish::Drain(name) => {
                self.fleet.drain(&name).await?;
                self.board.note(format!("{name} gives its sensors to the others, and stays"));
            }
            Wish::Leave(name) => {
                let process = self.fleet.take(&name)?;
                self.city.losses.note_leaving(&name);
                self.board.note(format!("{name} leaves: its sensors move, with what they remember"));
                self.leaving.spawn(async move { (name, process.leave().await) });
            }
            Wish::Pause(name) => {
                let said = if self.fleet.toggle_pause(&name)? {
                    "is paused: the cluster cannot tell it from a dead one"
                } else {
                    "goes on"
                };
                self.board.note(format!("{name} {said}"));
            }
            Wish::Quit => {}
        }
        Ok(())
    }

    fn renew(&mut self) {
        for (name, in_order) in self.fleet.ended() {
            if !in_order {
                self.city.losses.note(&name);
            }
            self.board.note(format!("{name} has ended{}", if in_order { "" } else { ", not in order" }));
        }
        let roll = self.fleet.roll();
        let facts = self.facts();
        self.ticks += 1;
        if !self.board.has_screen() && self.ticks.is_multiple_of(TICKS_A_LINE) {
            output::remark(&facts);
        }
        let mut told = self.board.told();
        told.nodes = roll;
        told.facts = facts;
    }

    fn facts(&mut self) -> String {
        let (sent, refused) = self.city.ledger.totals();
        let (then, before) = self.last;
        let passed = u64::try_from(then.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        self.last = (Instant::now(), sent);
        let asks = self.city.probe.latency(RECENT);
        format!(
            "sent {} ({} a second), refused {}; answers p50 {}, p99 {}; {}",
            output::grouped(sent),
            output::grouped((sent - before) * 1000 / passed),
            output::grouped(refused),
            output::brief(asks.p50_micros),
            output::brief(asks.p99_micros),
            survival(self.city.node.topology().current().tolerates()),
        )
    }
}

fn survival(tolerates: usize) -> String {
    match tolerates {
        0 => "survives no loss now".to_owned(),
        1 => "survives 1 loss now".to_owned(),
        more => format!("survives {more} losses now"),
    }
}

/// Where there is no screen nobody wishes for anything.
async fn next(screen: &mut Option<Screen>) -> Option<Wish> {
    match screen {
        Some(screen) => screen.wish().await,
        None => std::future::pending().await,
    }
}

/// Ready when whoever watches wants the end.
pub(super) async fn quits(screen: &mut Option<Screen>) {
    match screen {
        Some(screen) => screen.quits().await,
        None => std::future::pending().await,
    }
}
