//! A4: a fault handed up to the parent.

use std::time::Duration;

use borough_actor::{ActorFailed, ActorRef, Directive, Fault, StopReason, Supervision, System, SystemHandle};

use tokio::sync::oneshot;

use crate::puppet::{Log, Order, Puppet, act, call, fail, hold};
use crate::support::eventually;

fn always(directive: Directive) -> Supervision {
    Supervision::always(directive).backoff(Duration::ZERO, Duration::ZERO)
}

fn spawn(system: &System, puppet: Puppet, supervision: Supervision) -> ActorRef<Order> {
    system.actor(puppet.maker()).name("parent").supervision(supervision).spawn().expect("the name is free")
}

/// A child that hands its faults up.
async fn escalating_child(parent: &ActorRef<Order>, child: Puppet) -> ActorRef<Order> {
    call(parent, move |_, ctx| {
        let name = child.name;
        let child = ctx.actor(child.maker()).name(name).supervision(always(Directive::Escalate));
        child.spawn().expect("the parent lives")
    })
    .await
}

#[tokio::test]
async fn an_escalated_fault_becomes_the_parents_own_and_the_child_is_gone() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), always(Directive::Restart));
    let child = escalating_child(&parent, Puppet::new("c", &log)).await;
    let child_gone = child.stopped();
    child.tell(fail("broken")).await.unwrap();
    assert_eq!(child_gone.await.reason, Some(StopReason::Fault));
    eventually("the parent is restarted", || log.has("p restarted after child /parent/c failed: broken"))
        .await;
    assert_eq!(call(&parent, |_, ctx| ctx.children()).await, 0);
}

#[tokio::test]
async fn a_parent_restarted_by_an_escalated_fault_loses_its_other_children() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), always(Directive::Restart));
    let child = escalating_child(&parent, Puppet::new("c", &log)).await;
    let other = escalating_child(&parent, Puppet::new("other", &log)).await;
    let other_gone = other.stopped();
    child.tell(fail("broken")).await.unwrap();
    assert_eq!(other_gone.await.reason, Some(StopReason::ParentStopped));
}

#[tokio::test]
async fn a_parent_that_resumes_keeps_its_state_and_its_other_children() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log), always(Directive::Resume));
    let child = escalating_child(&parent, Puppet::new("c", &log)).await;
    escalating_child(&parent, Puppet::new("other", &log)).await;
    parent.tell(Order::Note(1)).await.unwrap();
    child.tell(fail("broken")).await.unwrap();
    child.stopped().await;
    assert_eq!(parent.ask(Order::Notes).await.unwrap(), [1]);
    assert_eq!(call(&parent, |_, ctx| ctx.children()).await, 1);
}

#[tokio::test]
async fn a_parent_that_stops_ends_because_of_the_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log), always(Directive::Stop));
    let child = escalating_child(&parent, Puppet::new("c", &log)).await;
    child.tell(fail("broken")).await.unwrap();
    assert_eq!(parent.stopped().await.reason, Some(StopReason::Fault));
}

#[tokio::test]
async fn a_parent_may_escalate_further() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let top = spawn(&system, Puppet::new("top", &log).on_restarted(|_| Ok(())), always(Directive::Restart));
    let middle = escalating_child(&top, Puppet::new("middle", &log)).await;
    let child = escalating_child(&middle, Puppet::new("c", &log)).await;
    child.tell(fail("broken")).await.unwrap();
    let words = "top restarted after child /parent/middle failed: child /parent/middle/c failed: broken";
    eventually("the top is restarted", || log.has(words)).await;
    assert_eq!(system.actors(), 1);
}

#[tokio::test]
async fn at_the_top_of_the_tree_escalate_stops() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), always(Directive::Escalate));
    puppet.tell(fail("broken")).await.unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
}

#[derive(Debug, thiserror::Error)]
#[error("a small thing")]
struct Small;

#[tokio::test]
async fn a_parent_knows_the_childs_error_and_who_failed() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let by_kind = Supervision::by(|fault| {
        let known = fault.downcast_ref::<Small>().is_some() && fault.child() == Some("/parent/c");
        if known { Directive::Resume } else { Directive::Stop }
    });
    let parent = spawn(&system, Puppet::new("p", &log), by_kind);
    let child = escalating_child(&parent, Puppet::new("c", &log)).await;
    child.tell(act(|_, _| Err(Small.into()))).await.unwrap();
    child.stopped().await;
    parent.tell(Order::Note(1)).await.unwrap();
    assert_eq!(parent.ask(Order::Notes).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_fault_escalated_in_started_reaches_the_parent() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log), always(Directive::Stop));
    let gone = parent.stopped();
    escalating_child(&parent, Puppet::new("c", &log).on_started(|_| Err(Fault::new("broken")))).await;
    assert_eq!(gone.await.reason, Some(StopReason::Fault));
}

/// Both children fail while the parent is busy, so that it finds two faults at once.
#[tokio::test]
async fn faults_escalated_at_the_same_time_are_each_answered() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let by_words = Supervision::by(|fault| {
        if fault.to_string().contains("grave") { Directive::Stop } else { Directive::Resume }
    });
    let parent = spawn(&system, Puppet::new("p", &log), by_words);
    let light = escalating_child(&parent, Puppet::new("light", &log)).await;
    let grave = escalating_child(&parent, Puppet::new("grave", &log)).await;
    let gate = hold(&parent);
    eventually("the parent is busy", || log.has("p waits")).await;
    light.tell(fail("a light fault")).await.unwrap();
    light.stopped().await;
    grave.tell(fail("a grave fault")).await.unwrap();
    grave.stopped().await;
    gate.send(()).unwrap();
    eventually("the parent stops for the second fault", || parent.is_stopped()).await;
}

/// What a child of the instance before escalates during the restart is that instance's affair.
#[tokio::test]
async fn a_fault_escalated_during_the_parents_restart_is_not_taken_for_a_later_one() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), always(Directive::Restart));
    let first = escalating_child(&parent, Puppet::new("first", &log)).await;
    let second = escalating_child(&parent, Puppet::new("second", &log)).await;
    let mut failures = system.events().subscribe::<ActorFailed>();
    let (gate, shut) = oneshot::channel();
    second.tell(Order::WaitAndFail(shut, "second")).await.unwrap();
    eventually("the second is busy", || log.has("second waits")).await;
    first.tell(fail("first")).await.unwrap();
    while failures.next().await.unwrap().path != "/parent" {}
    // The parent waits for its children now, and the second fails as it is stopped.
    gate.send(()).unwrap();
    eventually("the parent is restarted", || log.count("p restarted") == 1).await;
    let third = escalating_child(&parent, Puppet::new("third", &log)).await;
    third.tell(fail("third")).await.unwrap();
    eventually("the parent is restarted again", || log.count("p restarted") == 2).await;
    assert_eq!(log.count("p restarted after child /parent/third failed: third"), 1, "{:?}", log.lines());
}

/// An error that looks at the system as it is dropped.
#[derive(Debug)]
struct Nosy(SystemHandle);

impl std::fmt::Display for Nosy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nosy")
    }
}

impl std::error::Error for Nosy {}

impl Drop for Nosy {
    fn drop(&mut self) {
        let _ = self.0.actors();
    }
}

/// Faults that wait to be judged are dropped with their actor, and may do as they are dropped what they like.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_may_look_at_the_system_as_it_is_dropped() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    for _ in 0..50 {
        let parent = system.spawn(Puppet::new("parent", &log).maker());
        let child = Puppet::new("child", &log).maker();
        let child = call(&parent, move |_, ctx| {
            ctx.actor(child).supervision(Supervision::always(Directive::Escalate)).spawn().unwrap()
        })
        .await;
        let handle = system.handle();
        child.tell(act(move |_, _| Err(Nosy(handle).into()))).await.unwrap();
        parent.stop();
        tokio::time::timeout(Duration::from_secs(10), parent.stopped()).await.unwrap();
    }
}
