//! Each example is run as a user would run it, and its output is checked.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::path::PathBuf;
use std::process::Command;

/// Cargo puts examples beside the folder of test binaries.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn output(name: &str) -> String {
    let ran = Command::new(example(name)).output().unwrap();
    assert!(ran.status.success(), "{name} failed: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn account_prints_the_balance() {
    assert_eq!(output("account"), "Alice's balance: 150\n");
}

#[test]
fn a_bank_of_two_branches_keeps_the_balance_when_the_one_that_has_it_closes() {
    let printed = output("bank");
    let expected = "100 paid in at north: 100\n50 paid in at south: 150\nthe branch that kept the account is closed\nAlice's balance: 150\n";
    assert_eq!(printed, expected);
}

#[test]
fn traffic_light_changes_its_behaviour() {
    assert_eq!(output("traffic_light"), "red green red green red green blinking blinking\n");
}

#[test]
fn a_cluster_of_three_processes_talks_loses_one_and_leaves_in_order() {
    let printed = output("cluster");
    let mut lines = printed.lines();
    let mut says = |name: &str, words: &[&str]| {
        let found = lines.find(|line| line.contains(name) && words.iter().all(|word| line.contains(word)));
        found.unwrap_or_else(|| panic!("{name} does not say {words:?}, or not in this order:\n{printed}"))
    };
    says("uptown", &["told", "/office three letters; it has 3"]);
    says("uptown", &["asked", "which had", "answer: it has 0"]);
    says("uptown", &["asked all:", "has"]);
    says("uptown", &["asked all:", "has"]);
    says("uptown", &["asked all:", "has"]);
    says("uptown", &["1000 sensors, 1000 readings"]);
    let mut hosted = 0;
    for _ in 0..3 {
        hosted += number(says("uptown", &["hosts", "sensors"]), "hosts ");
    }
    assert_eq!(hosted, 1000, "{printed}");
    says("uptown", &["the cluster can lose 1 of its 3 voters"]);
    says("", &["kill -9 downtown"]);
    says("uptown", &["/office is gone: Some(NodeLost)"]);
    says("uptown", &["told it a letter: the actor's node is lost"]);
    let anew = number(says("uptown", &["all 1000 sensors answer again", "began anew"]), "again, ");
    assert!((1..1000).contains(&anew), "{printed}");
    says("uptown", &["ready for midtown to leave", &format!("{} readings", 2000 - anew)]);
    // Midtown and uptown each say their part, in either order.
    assert!(printed.contains(&format!("midtown has left: {} readings, as before", 2000 - anew)), "{printed}");
    assert_eq!(printed.matches("left, up:").count(), 2, "{printed}");
}

/// The number behind those words.
fn number(line: &str, words: &str) -> u64 {
    let rest = line.split_once(words).unwrap().1;
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[cfg(unix)]
#[test]
fn two_nodes_talk_to_each_other_and_leave_in_order_when_they_are_told_to() {
    let ports = [free_port(), free_port()].map(|port| port.to_string());
    let mut first = Running::start("two_nodes", &[&ports[0]]);
    first.prints(&format!("member, up: 127.0.0.1:{}", ports[0]));
    let mut second = Running::start("two_nodes", &[&ports[1], &ports[0]]);
    let both = format!("member, up: 127.0.0.1:{} 127.0.0.1:{}", ports[0], ports[1]);
    first.prints(&both);
    first.prints(&format!("127.0.0.1:{} signs the guest book", ports[1]));
    second.prints(&both);
    second.prints(&format!("the guest book of 127.0.0.1:{} says: 127.0.0.1:{}", ports[0], ports[1]));
    second.is_told_to_end();
    second.prints("left, up: ");
    first.prints(&format!("member, up: 127.0.0.1:{}", ports[0]));
    first.is_told_to_end();
    first.prints("left, up: ");
    for program in [&mut first, &mut second] {
        assert!(program.child.wait().unwrap().success());
    }
}

#[cfg(unix)]
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// An example that goes on until it is told to end.
#[cfg(unix)]
struct Running {
    child: std::process::Child,
    lines: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
}

#[cfg(unix)]
impl Running {
    fn start(name: &str, arguments: &[&str]) -> Self {
        use std::io::BufRead;
        let mut command = Command::new(example(name));
        let mut child = command.args(arguments).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for that line. A program that ends without is an error; one that hangs is the business of whoever runs the tests.
    fn prints(&mut self, expected: &str) {
        let found = self.lines.by_ref().map_while(Result::ok).find(|line| line == expected);
        assert!(found.is_some(), "it ended without {expected:?}");
    }

    fn is_told_to_end(&self) {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }
}

#[cfg(unix)]
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_readme_shows_the_account_example_as_it_is() {
    let code = include_str!("../examples/account.rs").split_once("\n\n").unwrap().1;
    assert!(include_str!("../README.md").contains(code), "README.md and examples/account.rs differ");
}
