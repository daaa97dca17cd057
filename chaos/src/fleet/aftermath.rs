//! What must hold of every process after every scenario: it answers, it holds no more than before, its log is not full.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{Fleet, name};

/// By how much a process may have grown, in KiB: what an allocator keeps after a storm, and no more.
const GROWTH_MAX_KIB: u64 = 24 * 1024;
/// How many lines a process may have logged in a second, over its life, besides a start.
const LINES_A_SECOND: usize = 50;
const LINES_AT_START: usize = 500;

impl Fleet {
    /// Remembers how those are who have settled for the first time.
    pub(super) fn note_beginnings(&mut self, places: &[usize]) -> Result<(), String> {
        for &place in places {
            if self.process(place)?.at_first.is_none() {
                let status = self.status(place)?;
                if let Some(process) = self.nodes.get_mut(&place) {
                    process.at_first = Some(status);
                }
            }
        }
        Ok(())
    }

    /// Checks all processes that run, and the logs of all that ran: by how much the fattest has grown, in KiB.
    pub(crate) fn aftermath(&mut self) -> Result<u64, String> {
        let mut growth = 0;
        for place in self.places() {
            let now = self.status(place)?;
            let Some(first) = &self.process(place)?.at_first else { continue };
            if now.threads != first.threads {
                return Err(format!("{} has {} threads and had {}", name(place), now.threads, first.threads));
            }
            let grown = now.rss_kib.saturating_sub(first.rss_kib);
            if grown > GROWTH_MAX_KIB {
                return Err(format!("{} holds {} KiB and held {}", name(place), now.rss_kib, first.rss_kib));
            }
            growth = growth.max(grown);
        }
        for (log, ran) in self.logs() {
            check_log(&log, ran, &self.expected_errors).map_err(|why| format!("{}: {why}", log.display()))?;
        }
        Ok(growth)
    }
}

fn check_log(log: &Path, ran: Duration, expected: &[&str]) -> Result<(), String> {
    let text = fs::read(log).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    let mut refusals = BTreeMap::new();
    for line in text.lines() {
        if is_bad(line, expected) {
            return Err(line.to_owned());
        }
        if line.contains("not let in") {
            let reason = line.split("reason=").nth(1).and_then(|rest| rest.split(' ').next());
            *refusals.entry(reason.unwrap_or("?").to_owned()).or_insert(0) += 1;
        }
    }
    // Once a minute each, as is promised.
    let most = 1 + ran.as_secs() / 60;
    if let Some((reason, times)) = refusals.iter().find(|(_, times)| **times > most) {
        return Err(format!("the refusal {reason} was logged {times} times within {ran:?}"));
    }
    let lines = text.lines().count();
    let seconds = usize::try_from(ran.as_secs()).unwrap_or(usize::MAX);
    if lines > LINES_AT_START + seconds.saturating_mul(LINES_A_SECOND) {
        return Err(format!("{lines} lines were logged within {ran:?}"));
    }
    Ok(())
}

/// Whether a line of a log tells of a panic, or of an error that is not expected.
pub(crate) fn is_bad(line: &str, expected: &[&str]) -> bool {
    let is_expected = || expected.iter().any(|text| line.contains(text));
    line.contains("panicked at") || (line.contains(" ERROR ") && !is_expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(test: &str, lines: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("borough-chaos-{}-{test}.log", std::process::id()));
        fs::write(&path, lines).unwrap();
        path
    }

    fn verdict(test: &str, lines: &str, ran: Duration) -> Result<(), String> {
        let path = log_of(test, lines);
        let verdict = check_log(&path, ran, &["foreseen"]);
        fs::remove_file(path).unwrap();
        verdict
    }

    #[test]
    fn a_refusal_that_is_logged_each_time_is_noticed() {
        let line = "WARN borough: not let in reason=NotBorough from=\"x\"\n";
        let other = "WARN borough: not let in reason=Malformed from=\"x\"\n";
        assert_eq!(verdict("once", &format!("{line}{other}"), Duration::from_secs(5)), Ok(()));
        let twice = verdict("twice", &line.repeat(2), Duration::from_secs(59)).unwrap_err();
        assert!(twice.contains("NotBorough was logged 2 times"), "{twice}");
        assert_eq!(verdict("minutes", &line.repeat(2), Duration::from_secs(61)), Ok(()));
    }

    #[test]
    fn panics_errors_and_floods_are_noticed() {
        assert!(verdict("panic", "thread 'x' panicked at y\n", Duration::ZERO).is_err());
        assert!(verdict("error", "now ERROR borough: no\n", Duration::ZERO).is_err());
        assert_eq!(verdict("foreseen", "now ERROR borough: foreseen\n", Duration::ZERO), Ok(()));
        assert!(verdict("both", "panicked at foreseen\n", Duration::ZERO).is_err());
        let flood = "DEBUG borough: x\n".repeat(LINES_AT_START + 1);
        assert!(verdict("flood", &flood, Duration::ZERO).is_err());
        assert_eq!(verdict("talk", &flood, Duration::from_secs(1)), Ok(()));
    }
}
