//! What the program says: tables for people, JSON for programs.
//!
//! Promise: all of it goes through [`line()`] and [`remark`], which do not panic. A reader that has enough, as `head` has, ends a command quietly.

use std::fmt::{self, Display};
use std::io::{ErrorKind, Write, stderr, stdout};

use anyhow::{Context, Result};
use borough_management::view::Member;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;

/// Whoever read standard output has gone: there is nobody left to speak to, and that is no failure.
#[derive(Debug)]
pub(crate) struct ReaderGone;

impl Display for ReaderGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads what is printed any more")
    }
}

impl std::error::Error for ReaderGone {}

/// Prints a line on standard output, or several. Fails with [`ReaderGone`] if nobody reads them.
pub(crate) fn line(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        printed => printed.context("standard output cannot be written to"),
    }
}

/// Says a line on standard error. If nobody listens there, nothing can be done about it.
pub(crate) fn remark(text: impl Display) {
    let _ = writeln!(stderr().lock(), "{text}");
}

/// A table without lines, which reads well and can be cut by other programs.
pub(crate) fn table(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(titles);
    table
}

/// Prints it as one JSON value.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string_pretty(value)?)
}

/// `1 shard`, `2 shards`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Numbers in order, those in a row as `3-7`.
pub(crate) fn runs(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let said = |&(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(said).collect::<Vec<_>>().join(" ")
}

/// Milliseconds, as people say it.
pub(crate) fn lasting(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What a member is to the cluster.
pub(crate) fn part(member: &Member) -> &'static str {
    match (member.is_coordinator, member.is_voter) {
        (true, _) => "coordinator",
        (false, true) => "voter",
        (false, false) => "member",
    }
}

/// `1 234 567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Nanoseconds, as people say it: `850 ns`, `3.2 µs`, `14 ms`, `2.1 s`; a dash for none.
pub(crate) fn short(nanos: u64) -> String {
    let (unit, size) = match nanos {
        0 => return "-".to_owned(),
        1..1_000 => ("ns", 1),
        1_000..1_000_000 => ("µs", 1_000),
        1_000_000..1_000_000_000 => ("ms", 1_000_000),
        _ => ("s", 1_000_000_000),
    };
    if size == 1 || nanos >= size * 10 {
        return format!("{} {unit}", nanos / size);
    }
    format!("{}.{} {unit}", nanos / size, nanos % size * 10 / size)
}

/// Microseconds, as people say it: `0.35 ms`, `12 ms`, `1.6 s`.
pub(crate) fn brief(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{}.{:02} ms", micros / 1000, micros % 1000 / 10),
        10_000..1_000_000 => format!("{} ms", micros / 1000),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{brief, grouped, runs, short};

    #[test]
    fn numbers_in_a_row_are_shown_by_the_first_and_the_last() {
        assert_eq!(runs([0, 1, 2, 5, 7, 8]), "0-2 5 7-8");
    }

    #[test]
    fn short_times_are_told_by_the_unit_that_fits() {
        assert_eq!([350, 12_345, 1_555_398].map(brief), ["0.35 ms", "12 ms", "1.5 s"]);
    }

    #[test]
    fn times_of_turns_are_told_from_nanoseconds_to_seconds() {
        let told = [0, 850, 3_250, 14_900_000, 2_150_000_000, 61_000_000_000].map(short);
        assert_eq!(told, ["-", "850 ns", "3.2 µs", "14 ms", "2.1 s", "61 s"]);
    }

    #[test]
    fn large_numbers_are_read_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }
}
