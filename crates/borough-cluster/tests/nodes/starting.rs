//! What keeps a node from starting, and what its actors can do once it has.

use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{FoundWith, Node, StartError};

use crate::hearing::Warnings;
use crate::rig::{Rig, after, within};

fn words(error: &StartError, expected: &[&str]) {
    let text = error.to_string();
    for word in expected {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let first = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let taken = first.address().to_string();
    let error = Node::builder("test").listen(&taken).start().await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    words(&error, &[&taken, "another address"]);
    assert_eq!(error.to_string().matches("cannot listen at").count(), 1, "{error}");

    let mut rig = Rig::new(6);
    let _first = rig.node("a:1", &[]).start().await.unwrap();
    let error = rig.node("a:1", &[]).start().await.unwrap_err();
    assert_eq!(error.to_string().matches("cannot listen at a:1").count(), 1, "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_node_in_a_runtime_whose_time_is_stopped_warns_once_and_says_what_to_use() {
    let (warnings, _guard) = Warnings::listen();
    let simulated = Rig::new(7).node("a:1", &[]).start().await.unwrap();
    after(Duration::from_secs(10)).await;
    assert_eq!(warnings.with("clock"), [""; 0]);
    drop(simulated);

    let _node = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    after(Duration::from_secs(10)).await;
    let warned = warnings.with("the clock of the tokio runtime runs ahead of the system's");
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("TestCluster"), "{warned:?}");
}

#[tokio::test]
async fn settings_that_would_break_a_promise_are_refused() {
    let pause = Duration::from_secs(10);
    let error = Node::builder("test").listen("127.0.0.1:0").max_pause(pause).start().await.unwrap_err();
    words(&error, &["failover_target", "max_pause", "10s"]);
    let error = Node::builder("").listen("127.0.0.1:0").start().await.unwrap_err();
    words(&error, &["cluster is empty"]);
}

#[tokio::test]
async fn an_open_door_is_refused_unless_it_is_wanted() {
    let error = Node::builder("test").listen("0.0.0.0:0").start().await.unwrap_err();
    words(&error, &[".tls(", ".secret(", ".insecure("]);
    let error = Node::builder("test")
        .listen("0.0.0.0:0")
        .insecure()
        .volatile()
        .found_alone()
        .start()
        .await
        .unwrap_err();
    words(&error, &[".advertise("]);
}

#[tokio::test]
async fn a_node_without_seeds_that_others_reach_must_say_that_it_founds_alone() {
    let builder = || Node::builder("test").listen("0.0.0.0:0").advertise("127.0.0.1:9").insecure().volatile();
    let error = builder().start().await.unwrap_err();
    assert!(matches!(error, StartError::NoSeeds { .. }), "{error}");
    words(&error, &["0.0.0.0:0", ".seed(", ".found_alone()"]);
    let _founder = builder().found_alone().start().await.unwrap();
    let _guest = builder().found_with(FoundWith::Never).start().await.unwrap();
}

#[tokio::test]
async fn what_is_no_address_is_refused_with_the_name_of_the_setting() {
    let error = Node::builder("test").listen("127.0.0.1:0").seed("nobody").start().await.unwrap_err();
    words(&error, &["a seed", "\"nobody\"", "host:port"]);
    let error = Node::builder("test").listen("127.0.0.1:0").advertise("here").start().await.unwrap_err();
    words(&error, &["the advertised address", "\"here\""]);
}

#[test]
fn a_node_outside_of_a_runtime_is_refused() {
    let start = std::pin::pin!(Node::builder("test").listen("127.0.0.1:0").start());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = start.poll(&mut context) else { panic!("it starts") };
    words(&error, &["tokio runtime"]);
}

#[tokio::test]
async fn a_node_is_called_by_its_address_unless_it_has_a_name() {
    let node = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    assert_eq!(node.node_id().as_str(), node.address().as_str());
    let node = Node::builder("test").listen("127.0.0.1:0").node_id("alpha").start().await.unwrap();
    assert_eq!(node.node_id().as_str(), "alpha");
}

struct Echo;

impl Actor for Echo {
    type Msg = (u32, Reply<u32>);
    async fn receive(&mut self, (number, reply): Self::Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(number);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_has_actors_as_a_system_has() {
    let node = Rig::new(50).node("a:1", &[]).start().await.unwrap();
    let echo = node.spawn(|| Echo);
    assert_eq!(within(echo.ask(|reply| (7, reply))).await.unwrap(), 7);
    within(node.leave()).await.unwrap();
    assert_eq!(within(echo.ask(|reply| (8, reply))).await.unwrap(), 8, "actors go on after a leave");
}

#[tokio::test]
async fn the_control_thread_ends_with_the_node() {
    let threads = || {
        let all = std::fs::read_dir("/proc/self/task").unwrap();
        let names = all.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with("borough-control")).count()
    };
    let node = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    assert!(threads() >= 1);
    let report = within(node.shutdown()).await;
    assert!(report.is_clean(), "{report:?}");
}
