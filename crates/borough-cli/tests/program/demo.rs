//! The demo accounts for every message, and leaves nothing behind.

use crate::run::{json, run};

const SMALL: [&str; 10] =
    ["demo", "--headless", "--nodes", "3", "--entities", "2000", "--rate", "2000", "--duration", "8s"];

#[test]
fn through_a_leave_a_join_and_a_kill_every_message_is_accounted_for() {
    let account = json(&[&SMALL[..], &["--json"]].concat());
    let count = |what: &str| account[what].as_u64().unwrap();
    assert_eq!(count("missing") + count("doubled") + count("misplaced"), 0, "{account}");
    assert_eq!(count("sent"), count("handled") + count("refused") + count("gone_with_lost"), "{account}");
    assert!(count("gone_with_lost") > 0, "a process was killed that had handled some: {account}");
    assert!(account["lost"].as_array().unwrap().contains(&"uptown".into()), "it was killed: {account}");
    assert!(count("sent") > 2000, "every sensor has sent, and went on: {account}");
    assert!(account["asks"]["answered"].as_u64().unwrap() > 0, "{account}");
}

#[test]
fn where_none_is_killed_every_message_is_handled() {
    // A machine that has much else to do must not be taken for a loss.
    let account = json(&[&SMALL[..], &["--json", "--no-kill", "--max-pause", "2s"]].concat());
    assert!(account["sent"].as_u64().unwrap() > 2000, "{account}");
    assert_eq!(account["sent"], account["handled"], "{account}");
    assert_eq!(account["refused"], 0, "{account}");
}

#[test]
fn wrong_words_end_with_2() {
    assert_eq!(run(&["demo", "--nodes", "0"]).status.code(), Some(2));
    assert_eq!(run(&["demo", "--duration", "5 years"]).status.code(), Some(2));
    assert_eq!(run(&["dance"]).status.code(), Some(2));
}

#[cfg(target_os = "linux")]
mod ends {
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use crate::run::{BOUND, Demo};

    fn process(id: u32) -> Pid {
        Pid::from_raw(id.cast_signed()).unwrap()
    }

    /// Whether it has not ended. One that has and that nobody has looked after yet is a zombie: where process 1 does not, it stays one.
    fn lives(id: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The state stands behind the name, which may have anything in it.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state.is_some_and(|state| state != 'Z' && state != 'X')
    }

    /// Sends the demo that signal; its node processes must end too.
    fn nothing_is_left_after(signal: Signal, prepare: impl Fn(&[u32])) {
        let mut demo = Demo::start();
        let nodes = demo.children();
        assert_eq!(nodes.len(), 3, "three nodes run");
        prepare(&nodes);
        kill_process(process(demo.child.id()), signal).unwrap();
        demo.child.wait().unwrap();
        let until = Instant::now() + BOUND;
        while nodes.iter().any(|node| lives(*node)) {
            assert!(Instant::now() < until, "a node outlives the demo");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_demo_that_is_interrupted_leaves_no_process() {
        nothing_is_left_after(Signal::INT, |_| ());
    }

    #[test]
    fn a_demo_that_is_terminated_leaves_no_process() {
        nothing_is_left_after(Signal::TERM, |_| ());
    }

    #[test]
    fn a_demo_that_is_killed_leaves_no_process_not_even_a_stopped_one() {
        nothing_is_left_after(Signal::KILL, |nodes| kill_process(process(nodes[0]), Signal::STOP).unwrap());
    }
}
