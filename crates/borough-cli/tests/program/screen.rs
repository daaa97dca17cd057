//! The demo on a screen of its own: a terminal that is none.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::run::{BOUND, SMALL, children, program};

/// Shorter than the demo waits for a node to start, and longer than anything else takes here.
const AT_ONCE: Duration = Duration::from_secs(20);
/// How often a key is pressed that may have come too early.
const KEY: Duration = Duration::from_millis(500);

/// A demo with a screen and keys; it ends with this.
struct Screened {
    demo: Child,
    keys: File,
}

impl Screened {
    fn start(arguments: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let screen = || File::options().read(true).write(true).open(&name).unwrap();
        let mut command = program(arguments);
        let demo = command.stdin(screen()).stdout(screen()).stderr(Stdio::null()).spawn().unwrap();
        let keys = File::from(terminal);
        let mut shown = keys.try_clone().unwrap();
        // A screen that nobody reads would hold up whoever draws on it.
        std::thread::spawn(move || while shown.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {});
        Self { demo, keys }
    }

    fn press(&mut self, key: &str) {
        self.keys.write_all(key.as_bytes()).unwrap();
    }

    /// Its node processes. A child that still has the demo's arguments is not one yet: the demo waits until its new child
    /// runs the node's program, and a child that is stopped before that stops the demo with it.
    fn nodes(&self) -> Vec<u32> {
        let runs_node = |id: &u32| {
            let arguments = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            arguments.split(|byte| *byte == 0).nth(1) == Some(b"node")
        };
        children(self.demo.id()).into_iter().filter(runs_node).collect()
    }
}

impl Drop for Screened {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.demo.kill();
        let _ = self.demo.wait();
    }
}

#[test]
fn a_node_that_takes_long_to_start_does_not_keep_the_demo_from_ending() {
    let mut screened = Screened::start(&[&SMALL[..], &["--nodes", "1"]].concat());
    let began = Instant::now();
    let mut pressed = 0;
    while screened.nodes().len() < 2 {
        assert!(began.elapsed() < BOUND, "no node was added");
        // Keys count once the cluster stands, and each of them then.
        if began.elapsed() > KEY * pressed {
            screened.press("a");
            pressed += 1;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    for node in &screened.nodes()[1..] {
        kill_process(Pid::from_raw(node.cast_signed()).unwrap(), Signal::STOP).unwrap();
    }
    let asked = Instant::now();
    // The end, and no account.
    screened.press("qq");
    while screened.demo.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < AT_ONCE, "it waits for the node");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
