//! The figures of some runs as tables in Markdown.

use std::fmt::Write;

use super::crowd::Role;
use super::goals::goals;
use super::phase::{Phase, Share};
use super::scenario::Course;
use super::traffic::{Kind, Tally};
use crate::sim::moment::{MILLISECOND, Nanos};

const ROLES: [(Role, &str); 3] =
    [(Role::Member, "non-voter"), (Role::Voter, "voter"), (Role::Coordinator, "coordinator")];
/// The phases that are shown by kind of message.
const BY_KIND: [&str; 4] = ["rest", "join", "crash", "heal"];

/// All tables, and the goals.
pub fn report(courses: &[Course]) -> String {
    let mut text = String::new();
    times(&mut text, courses);
    rates(&mut text, courses);
    largest(&mut text, courses);
    if let Some(course) = courses.last() {
        for name in BY_KIND {
            by_kind(&mut text, course, name);
        }
    }
    heading(&mut text, "Goals");
    for goal in goals(courses) {
        line(&mut text, &format!("- {goal}"));
    }
    text
}

fn times(text: &mut String, courses: &[Course]) {
    heading(text, "Time");
    line(text, "| nodes | phase | all know after | lasted | rounds of gossip a node | inputs handled |");
    line(text, "|--:|---|--:|--:|--:|--:|");
    for (nodes, phase) in phases(courses) {
        let known = phase.known_after.map_or_else(|| "-".to_owned(), seconds);
        let Phase { name, handled, .. } = phase;
        let (lasted, rounds) = (seconds(phase.lasted), phase.rounds());
        line(text, &format!("| {nodes} | {name} | {known} | {lasted} | {rounds:.1} | {handled} |"));
    }
}

fn rates(text: &mut String, courses: &[Course]) {
    heading(text, "Traffic of a node, per second");
    line(text, "| nodes | phase | role | messages sent | received | bytes sent | received |");
    line(text, "|--:|---|---|--:|--:|--:|--:|");
    for (nodes, phase) in phases(courses) {
        for (role, name) in ROLES {
            let share = phase.share(role);
            if share.nodes == 0 {
                continue;
            }
            let (sent, received) = (share.traffic.all_sent(), share.traffic.all_received());
            let messages = (share.message_rate(sent), share.message_rate(received));
            let bytes = (whole(share.byte_rate(sent)), whole(share.byte_rate(received)));
            line(
                text,
                &format!(
                    "| {nodes} | {} | {name} | {:.1} | {:.1} | {} | {} |",
                    phase.name, messages.0, messages.1, bytes.0, bytes.1
                ),
            );
        }
    }
}

fn largest(text: &mut String, courses: &[Course]) {
    heading(text, "Largest message, in bytes");
    line(text, "| nodes | gossip | feed | log | snapshot | welcome |");
    line(text, "|--:|--:|--:|--:|--:|--:|");
    for course in courses {
        let most = |size: &dyn Fn(&Phase) -> u64| course.phases.iter().map(size).max().unwrap_or(0);
        let of = |kind: Kind| most(&|phase| phase.largest(kind));
        line(
            text,
            &format!(
                "| {} | {} | {} | {} | {} | {} |",
                course.nodes,
                most(&Phase::largest_gossip),
                of(Kind::Feed),
                of(Kind::Log),
                of(Kind::Snapshot),
                of(Kind::Welcome)
            ),
        );
    }
}

fn by_kind(text: &mut String, course: &Course, name: &str) {
    let Some(phase) = course.phase(name) else { return };
    heading(text, &format!("{} nodes, {name}: bytes of a node per second, sent / received", course.nodes));
    line(text, "| kind | non-voter | voter | coordinator |");
    line(text, "|---|--:|--:|--:|");
    for kind in Kind::ALL {
        let cells = ROLES.map(|(role, _)| {
            let share = phase.share(role);
            cell(share, share.traffic.sent(kind), share.traffic.received(kind))
        });
        if cells.iter().any(|cell| cell != "-") {
            line(text, &format!("| {kind:?} | {} |", cells.join(" | ")));
        }
    }
}

fn cell(share: &Share, sent: Tally, received: Tally) -> String {
    if sent.messages + received.messages == 0 {
        return "-".to_owned();
    }
    format!("{} / {}", whole(share.byte_rate(sent)), whole(share.byte_rate(received)))
}

fn phases(courses: &[Course]) -> impl Iterator<Item = (usize, &Phase)> {
    courses.iter().flat_map(|course| course.phases.iter().map(|phase| (course.nodes, phase)))
}

fn heading(text: &mut String, title: &str) {
    line(text, &format!("\n### {title}\n"));
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{line}").ok();
}

fn seconds(nanos: Nanos) -> String {
    let milliseconds = nanos / MILLISECOND;
    format!("{}.{:02} s", milliseconds / 1000, milliseconds % 1000 / 10)
}

/// With a space between thousands.
fn whole(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::sample;

    #[test]
    fn thousands_are_told_apart() {
        let numbers = [0.2, 12.0, 999.6, 123_456.0, 1_234_567.0].map(whole);
        assert_eq!(numbers, ["0", "12", "1 000", "123 456", "1 234 567"]);
    }

    #[test]
    fn each_course_has_its_rows_and_the_goals_stand_below() {
        let text = report(&[sample(100, 3000, 40_000, 720), sample(1000, 3000, 400_000, 720)]);
        assert!(text.contains("| 100 | rest | - | 1.00 s |"), "{text}");
        assert!(text.contains("| 1000 | crash | 0.72 s | 1.00 s |"));
        assert!(text.contains("| 1000 | rest | voter | 0.0 | 1.0 | 0 | 400 000 |"));
        assert!(text.contains("- met: a crash is known to all of 1000 nodes after 0.72 s, at most"));
    }
}
