//! A cluster that is not quite large, in debug builds too: it agrees, in time, and repeats itself.

use std::time::Duration;

use borough_testkit::scale::{Course, Scenario, crash_bound, goals};
use borough_testkit::sim::moment::SECOND;

fn run(nodes: usize) -> Course {
    let scenario = Scenario { batch: 20, rest: 4 * SECOND, cut: 12 * SECOND, ..Scenario::of(nodes, 7) };
    scenario.run(|_| {}).expect("all agree in the end")
}

#[test]
fn sixty_nodes_come_to_agree_and_know_of_a_crash_in_time() {
    let course = run(60);
    let names: Vec<&str> = course.phases.iter().map(|phase| phase.name).collect();
    assert_eq!(names, ["found", "join", "rest", "crash", "rest", "cut", "heal"]);
    let known = course.phase("crash").and_then(|phase| phase.known_after).expect("it is known in the end");
    assert!(Duration::from_nanos(known) <= crash_bound(), "{known} ns");
    assert!(goals(&[course]).iter().all(|goal| goal.is_met));
}

#[test]
fn a_seed_gives_one_course() {
    assert_eq!(run(12), run(12));
}
