//! Most voters of a cluster are killed, and the program has the node that is left begin it anew.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::run::{BOUND, Demo, run};

/// The dry run, once it can be made and gives up that many.
fn planned(demo: &Demo, dead: usize) -> serde_json::Value {
    let until = Instant::now() + BOUND;
    loop {
        let output = run(&["recover", "--json", "--address", &demo.address]);
        if output.status.success() {
            let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            if plan["given_up"].as_array().unwrap().len() == dead {
                return plan;
            }
        }
        assert!(Instant::now() < until, "no dry run: {output:?}");
    }
}

#[test]
fn a_cluster_without_most_of_its_voters_is_begun_anew_after_a_dry_run() {
    let demo = Demo::start();
    demo.until(&["members"], |members| {
        let members = members["members"].as_array().unwrap();
        members.len() == 4 && members.iter().filter(|member| member["is_voter"] == true).count() == 3
    });
    let output = run(&["recover", "--yes", "--address", &demo.address]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words.contains("nothing to recover"), "{words}");

    for child in demo.children() {
        let child = i32::try_from(child).ok().and_then(Pid::from_raw).unwrap();
        kill_process(child, Signal::KILL).unwrap();
    }
    let plan = planned(&demo, 3);
    let given_up: Vec<_> =
        plan["given_up"].as_array().unwrap().iter().map(|member| &member["node"]).collect();
    for node in ["uptown", "midtown", "downtown"] {
        assert!(given_up.iter().any(|name| *name == node), "{plan}");
    }
    let words = demo.printed(&["recover"]);
    assert!(words.contains("Nothing was changed") && words.contains("dead and stay dead"), "{words}");
    demo.until(&["members"], |members| members["standing"] != "member");

    let output = run(&["recover", "--yes", "uptown", "--address", &demo.address]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && words.contains("midtown"), "{words}");
    let words = demo.printed(&["recover", "--yes", "uptown", "midtown", "downtown"]);
    assert!(words.contains("recovers the cluster"), "{words}");
    demo.until(&["members"], |members| {
        members["standing"] == "member" && members["members"].as_array().unwrap().len() == 1
    });
}
