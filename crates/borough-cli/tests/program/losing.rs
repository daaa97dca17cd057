//! A node drops what it hosts, and who follows its events reads how much.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread::spawn;
use std::time::Duration;

use borough::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout};

use crate::managed::Managed;
use crate::run::{BOUND, program};

#[derive(Serialize, Deserialize)]
struct Nothing;

struct Idle;

impl Actor for Idle {
    type Msg = Nothing;

    async fn receive(&mut self, _: Nothing, _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

/// `borough events`, line by line; ended when this is dropped.
struct Follower {
    process: Child,
    lines: UnboundedReceiver<String>,
}

impl Follower {
    fn start(address: &str) -> Self {
        let mut process = program(&["events", "--address", address]).stdout(Stdio::piped()).spawn().unwrap();
        let printed = BufReader::new(process.stdout.take().unwrap());
        let (say, lines) = unbounded_channel();
        spawn(move || printed.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        Self { process, lines }
    }

    /// The next line with these words, if it comes within that time.
    async fn line_with(&mut self, words: &str, time: Duration) -> Option<String> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = timeout(left, self.lines.recv()).await.ok()?.expect("the follower has ended");
            if line.contains(words) {
                return Some(line);
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_say_how_many_shards_and_entities_a_removed_node_dropped() {
    let older = Managed::start("older").await;
    let managed = Managed::beside("younger", &older).await;
    let mut follower = Follower::start(&managed.address());
    let until = Instant::now() + BOUND;
    let mut types = 0;
    // Each new type gives away a shard, whenever the follower begins to listen.
    while follower.line_with("was given to younger", Duration::from_millis(10)).await.is_none() {
        assert!(Instant::now() < until, "the follower has not heard of a shard");
        let region = managed.node.shard(format!("type-{types}"), |_| Idle).shards(1).start().await.unwrap();
        region.start("one").await.unwrap();
        types += 1;
    }
    older.node.down("younger").await.unwrap();
    let line = follower.line_with(" and dropped ", BOUND).await.expect("no event says what was dropped");
    let dropped = if types == 1 {
        "1 shard and 1 entity".to_owned()
    } else {
        format!("{types} shards and {types} entities")
    };
    let words =
        format!("younger was removed by its cluster, which goes on without it, and dropped {dropped}");
    assert!(line.contains("younger") && line.ends_with(&words), "{line}");
}
