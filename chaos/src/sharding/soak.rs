//! Hours of full load with default settings: is a healthy node ever removed, or made to stop working?

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::stage::{CLIENT, Stage};
use super::suite::{Options, fleet};
use super::verdict::millis;
use crate::fleet::{Fleet, Heard};
use crate::janitor::Janitor;
use crate::scenarios::Wants;
use crate::words::LEDGER;

const HOSTS: usize = 5;
const LOOK: Duration = Duration::from_secs(1);
/// How often something is said meanwhile.
const SAY: Duration = Duration::from_secs(300);

/// What happened to healthy nodes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Troubles {
    /// A life that others had listed, and list no more.
    removals: usize,
    /// A node went on under another life.
    new_lives: usize,
    /// A node was no working member for a while.
    suspensions: usize,
    /// The nodes followed another coordinator.
    coordinators: usize,
}

/// Runs for that long. `Ok` if no healthy node was removed.
pub fn soak(options: &Options, time: Duration) -> Result<(), String> {
    let janitor = Rc::new(Janitor::hire(&options.chaos)?);
    let folder = options.logs.join("soak");
    let mut fleet = fleet(options, Wants::Loopback, None, &janitor, &folder)?;
    let mut stage = Stage::set(&mut fleet, HOSTS, 1, 0, false)?;
    let (began, busy_before) = (Instant::now(), Processors::look()?);
    let mut say = began + SAY;
    while began.elapsed() < time {
        // How long it lasts is what is tested.
        std::thread::sleep(LOOK.min(time.saturating_sub(began.elapsed())));
        if Instant::now() > say {
            say += SAY;
            let counts = stage.counts()?;
            let troubles = troubles(stage.fleet, began)?;
            println!("{:.0} min: {counts:?}, {troubles:?}", began.elapsed().as_secs_f64() / 60.0);
        }
    }
    let busy = Processors::look()?.busy_since(&busy_before);
    let took = began.elapsed();
    let found = troubles(stage.fleet, began)?;
    let counts = stage.end_load(CLIENT)?;
    let (received, misplaced) = stage.received(LEDGER)?;
    let sent = counts.tells + counts.asks;
    let messages = format!("{counts:?}; of {sent} sent, {received} handled, {misplaced} out of order");
    let summary = summary(took, busy, &messages, &found, stage.fleet)?;
    drop(fleet);
    print!("{summary}");
    let path = options.logs.join("soak.txt");
    fs::write(&path, &summary).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("written to {}", path.display());
    if misplaced > 0 || (found == Troubles::default() && received + counts.refused != sent) {
        return Err(format!("not everything was handled once and in order; logs: {}", folder.display()));
    }
    if found.removals + found.new_lives > 0 {
        return Err(format!("healthy nodes were removed: {found:?}; logs: {}", folder.display()));
    }
    Ok(())
}

fn summary(
    took: Duration,
    busy: u64,
    counts: &str,
    found: &Troubles,
    fleet: &mut Fleet,
) -> Result<String, String> {
    let mut text = String::new();
    let Troubles { removals, new_lives, suspensions, coordinators } = found;
    let mut line =
        |name: &str, value: String| writeln!(text, "{name:<28}{value}").map_err(|error| error.to_string());
    line("time", millis(took))?;
    line("nodes", format!("{HOSTS} hosts, 1 client, default settings"))?;
    line("processors busy", format!("{busy} %"))?;
    line("messages", counts.to_owned())?;
    line("healthy nodes removed", removals.to_string())?;
    line("nodes with another life", new_lives.to_string())?;
    line("suspensions", suspensions.to_string())?;
    line("changes of coordinator", coordinators.to_string())?;
    for place in fleet.places() {
        let status = fleet.status(place)?;
        line(&format!("n{place}"), format!("{} MiB, {} threads", status.rss_kib / 1024, status.threads))?;
    }
    Ok(text)
}

/// What all nodes have seen since.
fn troubles(fleet: &Fleet, since: Instant) -> Result<Troubles, String> {
    let mut all = Troubles::default();
    for place in fleet.places() {
        let of_it = fleet.hear(place, Duration::ZERO, |heard| {
            if heard.is_over {
                Err("its process has ended".to_owned())
            } else {
                Ok(troubles_of(heard, since))
            }
        })?;
        // Each sees the same removals; the one that saw most saw all.
        all.removals = all.removals.max(of_it.removals);
        all.coordinators = all.coordinators.max(of_it.coordinators);
        all.new_lives += of_it.new_lives;
        all.suspensions += of_it.suspensions;
    }
    Ok(all)
}

fn troubles_of(heard: &Heard, since: Instant) -> Troubles {
    let first = heard.views.iter().rposition(|(when, _)| *when <= since).unwrap_or(0);
    let views: Vec<_> = heard.views[first..].iter().map(|(_, view)| view).collect();
    let mut found = Troubles::default();
    let mut listed = BTreeSet::new();
    let mut coordinator = None;
    for (place, view) in views.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| views[place]);
        found.removals += listed.difference(&view.listed()).count();
        listed = view.listed();
        found.new_lives += usize::from(before.is_some_and(|before| before.uid != view.uid));
        let stops = view.standing != "member" && before.is_none_or(|before| before.standing == "member");
        found.suspensions += usize::from(stops);
        if let Some(now) = view.coordinator {
            found.coordinators += usize::from(coordinator.is_some_and(|before| before != now));
            coordinator = Some(now);
        }
    }
    found
}

/// What the processors of this machine have done so far, in ticks.
struct Processors {
    idle: u64,
    all: u64,
}

impl Processors {
    fn look() -> Result<Self, String> {
        let text = fs::read_to_string("/proc/stat").map_err(|error| format!("/proc/stat: {error}"))?;
        Self::read(&text).ok_or_else(|| "/proc/stat has no line for all processors".to_owned())
    }

    fn read(text: &str) -> Option<Self> {
        let ticks = text.lines().find_map(|line| line.strip_prefix("cpu "))?.split_whitespace();
        let ticks: Vec<u64> = ticks.take(8).map(|ticks| ticks.parse().ok()).collect::<Option<_>>()?;
        // User, nice, system, idle, waiting for disks.
        Some(Self { idle: ticks.get(3)? + ticks.get(4)?, all: ticks.iter().sum() })
    }

    /// How much of the time they were busy, in percent.
    fn busy_since(&self, before: &Self) -> u64 {
        let (idle, all) = (self.idle - before.idle, self.all - before.all);
        100 - (100 * idle).checked_div(all).unwrap_or(100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Seen, View};

    fn view(uid: u64, standing: &str, members: &[u64], coordinator: u64) -> View {
        let seen =
            |uid: &u64| Seen { node: String::new(), uid: *uid, state: "Up".to_owned(), reachable: true };
        View {
            uid,
            standing: standing.to_owned(),
            coordinator: Some(coordinator),
            members: members.iter().map(seen).collect(),
            ..View::default()
        }
    }

    fn found(views: &[View]) -> Troubles {
        let now = Instant::now();
        let heard =
            Heard { views: views.iter().map(|view| (now, view.clone())).collect(), ..Heard::default() };
        let before = now.checked_sub(Duration::from_secs(1)).unwrap();
        troubles_of(&heard, before)
    }

    #[test]
    fn a_quiet_hour_has_no_troubles() {
        let same = view(1, "member", &[1, 2], 1);
        assert_eq!(found(&[same.clone(), same]), Troubles::default());
    }

    #[test]
    fn removals_suspensions_new_lives_and_other_coordinators_are_counted() {
        let views = [
            view(1, "member", &[1, 2], 1),
            view(1, "suspended", &[1, 2], 1),
            view(1, "member", &[1], 2),
            view(3, "member", &[1, 3], 2),
        ];
        assert_eq!(found(&views), Troubles { removals: 1, new_lives: 1, suspensions: 1, coordinators: 1 });
    }

    #[test]
    fn the_time_that_processors_were_busy_is_read() {
        let before = Processors::read("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2\n").unwrap();
        let after = Processors::read("cpu  180 0 110 710 100 0 0 0 0 0\n").unwrap();
        assert_eq!(after.busy_since(&before), 90);
    }
}
