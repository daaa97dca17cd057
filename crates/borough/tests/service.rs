//! The program of `deploy/` as three processes on this machine: they find each other, are healthy, and leave in order when they are told to stop.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const BOUND: Duration = Duration::from_secs(60);

/// Cargo puts examples beside the folder of test binaries.
fn service() -> Command {
    let test = std::env::current_exe().unwrap();
    let profile: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().into();
    Command::new(profile.join("examples").join("service"))
}

/// A node of its own process; ended with the test.
struct Service {
    child: Child,
    lines: Receiver<String>,
    management: String,
}

impl Service {
    fn start(own: &str, seeds: &str) -> Self {
        let management = free_address();
        let mut child = service()
            .envs([
                ("LISTEN", own),
                ("ADVERTISE", own),
                ("NODE_ID", own),
                ("SEEDS", seeds),
                ("MANAGEMENT", &management),
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let printed = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || printed.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines, management }
    }

    /// Waits for a line that says that.
    fn says(&self, is_it: impl Fn(&str) -> bool) {
        let until = Instant::now() + BOUND;
        let mut before = Vec::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("it only said {before:?}"));
            if is_it(&line) {
                return;
            }
            before.push(line);
        }
    }

    fn is_healthy(&self) -> bool {
        let asked = service().arg("health").env("MANAGEMENT", &self.management).output().unwrap();
        asked.status.success()
    }

    /// Ends it as an orchestrator does; whether it ended by itself, and well.
    fn terminate(&mut self) -> bool {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        self.says(|line| line.starts_with("left, up:"));
        told.success() && self.child.wait().unwrap().success()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many ports were looked at.
static LOOKED_AT: AtomicU16 = AtomicU16::new(0);

/// An address that nobody uses at the moment, given once. It is below those from which the system draws the ports of connections: such a one could be
/// taken before its node listens there.
fn free_address() -> String {
    let first = 20_000 + u16::try_from(std::process::id() % 1_000).unwrap() * 10;
    let mut ports = (0..).map(|_: u32| first + LOOKED_AT.fetch_add(1, Ordering::Relaxed));
    let port = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap();
    format!("127.0.0.1:{port}")
}

#[test]
fn three_services_find_each_other_are_healthy_and_leave_in_order_when_they_are_told_to_stop() {
    let addresses = [free_address(), free_address(), free_address()];
    let seeds = addresses.join(",");
    let mut services = addresses.each_ref().map(|own| Service::start(own, &seeds));
    let members = |line: &str, there: &[String]| {
        line.starts_with("member, up: ")
            && there.iter().all(|own| line.contains(own))
            && line.matches("127.0.0.1:").count() == there.len()
    };
    for service in &services {
        service.says(|line| members(line, &addresses));
    }
    // Known as a host by now or a moment later: an orchestrator asks again and again, too.
    let until = Instant::now() + BOUND;
    for service in &services {
        while !service.is_healthy() {
            assert!(Instant::now() < until, "it does not become ready");
        }
    }

    let [first, rest @ ..] = &mut services;
    assert!(first.terminate());
    for service in rest.iter() {
        service.says(|line| members(line, &addresses[1..]));
        assert!(service.is_healthy());
    }
    assert!(!first.is_healthy(), "nobody answers for a node that is gone");
}

#[test]
fn a_service_without_seeds_says_what_to_set() {
    let ran = service().env_remove("SEEDS").env("ADVERTISE", "127.0.0.1:1").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && said.contains("set SEEDS"), "{said}");
}
