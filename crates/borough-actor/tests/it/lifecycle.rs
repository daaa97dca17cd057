//! A3: the life of an actor: started, stop, kill, children.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use borough_actor::{
    Actor, AskError, Context, DeadLetterReason, Fault, SpawnError, StopReason, System, TryTellError,
};

use crate::puppet::{Log, Order, Puppet, act, call, hold};
use crate::support::eventually;

#[tokio::test]
async fn started_runs_before_the_first_message() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    puppet.tell(Order::Note(1)).await.unwrap();
    puppet.ask(Order::Notes).await.unwrap();
    assert_eq!(log.lines(), ["p started", "p 1"]);
}

#[tokio::test]
async fn stop_ends_after_the_current_message_and_buries_the_rest() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let gate = hold(&puppet);
    for n in 0..3 {
        puppet.tell(Order::Note(n)).await.unwrap();
    }
    eventually("the turn has begun", || log.has("p waits")).await;
    puppet.stop();
    gate.send(()).unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
    assert_eq!(log.lines(), ["p started", "p waits", "p stopping Requested"]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 3);
}

#[tokio::test]
async fn stop_does_not_cut_the_current_turn_short() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let gate = hold(&puppet);
    eventually("the turn has begun", || log.has("p waits")).await;
    puppet.stop();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!puppet.is_stopped());
    gate.send(()).unwrap();
    puppet.stopped().await;
    assert!(puppet.is_stopped());
}

/// Quick messages teach an actor to take many at once; stop must not wait for those it has in hand.
#[tokio::test]
async fn a_quick_actor_that_turns_slow_stops_after_the_current_message() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for _ in 0..10_000 {
        puppet.tell(act(|_, _| Ok(()))).await.unwrap();
    }
    call(&puppet, |_, _| ()).await;
    let gate = hold(&puppet);
    for n in 0..100 {
        puppet.try_tell(Order::Note(n)).unwrap();
    }
    eventually("the slow turn has begun", || log.has("p waits")).await;
    puppet.stop();
    gate.send(()).unwrap();
    puppet.stopped().await;
    assert_eq!(log.lines(), ["p started", "p waits", "p stopping Requested"]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 100);
}

/// Keeps its thread busy with each message.
struct Busy(Arc<AtomicUsize>);

impl Actor for Busy {
    type Msg = Duration;
    async fn receive(&mut self, busy_for: Duration, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        let begun = Instant::now();
        while begun.elapsed() < busy_for {
            std::hint::spin_loop();
        }
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_actor_with_a_full_mailbox_stops_after_the_current_message() {
    let system = System::new("test").unwrap();
    let handled = Arc::new(AtomicUsize::new(0));
    let counter = handled.clone();
    let busy = system.spawn(move || Busy(counter.clone()));
    for _ in 0..1000 {
        busy.try_tell(Duration::from_micros(300)).unwrap();
    }
    eventually("it is at work", || handled.load(Ordering::SeqCst) >= 20).await;
    busy.stop();
    let at_stop = handled.load(Ordering::SeqCst);
    busy.stopped().await;
    let after = handled.load(Ordering::SeqCst) - at_stop;
    assert!(after <= 2, "{after} more were handled");
}

#[tokio::test]
async fn stop_when_drained_handles_everything_sent_before_and_nothing_sent_after() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for n in 0..100 {
        puppet.try_tell(Order::Note(n)).unwrap();
    }
    puppet.stop_when_drained();
    puppet.try_tell(Order::Note(100)).unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
    let handled: Vec<_> = (0..100).map(|n| format!("p {n}")).collect();
    assert_eq!(log.lines()[1..101], handled);
    assert_eq!(log.lines()[101..], ["p stopping Requested"]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 1);
}

#[tokio::test]
async fn stop_when_drained_works_with_a_full_mailbox() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let mut sent = 0;
    while puppet.try_tell(Order::Note(1)).is_ok() {
        sent += 1;
    }
    puppet.stop_when_drained();
    puppet.stopped().await;
    assert_eq!(log.lines().len(), sent + 2);
}

#[tokio::test]
async fn kill_ends_a_turn_that_waits_for_ever_and_stopping_is_not_called() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let _gate = hold(&puppet);
    eventually("the turn has begun", || log.has("p waits")).await;
    puppet.kill();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Killed));
    assert_eq!(log.lines(), ["p started", "p waits"]);
}

#[tokio::test]
async fn kill_ends_an_idle_actor_and_stopping_is_not_called() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    call(&puppet, |_, _| ()).await;
    puppet.kill();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Killed));
    assert_eq!(log.lines(), ["p started"]);
}

#[tokio::test]
async fn kill_buries_what_waits_and_fails_its_asks_at_once() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let _gate = hold(&puppet);
    eventually("the turn has begun", || log.has("p waits")).await;
    let (asked, ()) = tokio::join!(puppet.ask(Order::Notes), async {
        tokio::task::yield_now().await;
        puppet.kill();
    });
    assert!(matches!(asked, Err(AskError::Discarded { .. })), "{asked:?}");
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 1);
}

/// Waits for ever in the life-cycle hook it is told to.
struct HangsIn(&'static str);

impl Actor for HangsIn {
    type Msg = ();
    async fn receive(&mut self, (): (), _ctx: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
    async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        if self.0 == "started" { std::future::pending().await } else { Ok(()) }
    }
    async fn stopping(&mut self, _reason: StopReason, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        if self.0 == "stopping" { std::future::pending().await } else { Ok(()) }
    }
}

#[tokio::test]
async fn kill_ends_an_actor_that_hangs_in_started() {
    let system = System::new("test").unwrap();
    let hanging = system.spawn(|| HangsIn("started"));
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    hanging.kill();
    assert_eq!(hanging.stopped().await.reason, Some(StopReason::Killed));
}

#[tokio::test]
async fn kill_ends_an_actor_that_hangs_in_stopping() {
    let system = System::new("test").unwrap();
    let hanging = system.spawn(|| HangsIn("stopping"));
    hanging.stop();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(!hanging.is_stopped());
    hanging.kill();
    hanging.stopped().await;
}

#[tokio::test]
async fn an_actor_that_stops_itself_handles_no_further_message() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    puppet
        .try_tell(act(|_, ctx| {
            ctx.stop();
            Ok(())
        }))
        .unwrap();
    puppet.try_tell(Order::Note(1)).unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
    assert_eq!(log.lines(), ["p started", "p stopping Requested"]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 1);
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_stops_itself_in_started_needs_no_message_to_end() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(
        Puppet::new("p", &log)
            .on_started(|ctx| {
                ctx.stop();
                Ok(())
            })
            .maker(),
    );
    let ended = tokio::time::timeout(Duration::from_secs(60), puppet.stopped()).await;
    assert_eq!(ended.expect("it stops by itself").reason, Some(StopReason::Requested));
    assert_eq!(log.lines(), ["p started", "p stopping Requested"]);
}

#[tokio::test]
async fn stopping_is_called_when_no_message_can_reach_the_actor() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let seen = log.clone();
    let puppet = system.spawn(
        Puppet::new("p", &log)
            .on_stopping(move |ctx| {
                let refused =
                    matches!(ctx.self_ref().try_tell(Order::Note(1)), Err(TryTellError::Stopped(_)));
                seen.add(format!("refused: {refused}, stopped: {}", ctx.self_ref().is_stopped()));
                Ok(())
            })
            .maker(),
    );
    puppet.stop();
    puppet.stopped().await;
    assert_eq!(log.lines(), ["p started", "p stopping Requested", "refused: true, stopped: false"]);
}

/// Logs that it is dropped.
struct Mortal(Log);

impl Actor for Mortal {
    type Msg = ();
    async fn receive(&mut self, (): (), _ctx: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.0.add("dropped");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_instance_is_dropped_before_anybody_hears_that_the_actor_is_gone() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let seen = log.clone();
    let mortal = system.spawn(move || Mortal(seen.clone()));
    mortal.tell(()).await.unwrap();
    mortal.stop();
    mortal.stopped().await;
    assert_eq!(log.lines(), ["dropped"]);
}

/// A puppet that starts a child, which starts `below` in turn.
fn family(name: &'static str, log: &Log, below: Option<Puppet>) -> Puppet {
    Puppet::new(name, log).on_started(move |ctx| {
        if let Some(child) = &below {
            ctx.spawn(child.clone().maker());
        }
        Ok(())
    })
}

#[tokio::test]
async fn grandchildren_stop_before_children_and_children_before_the_parents_stopping() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let tree = family("p", &log, Some(family("c", &log, Some(family("g", &log, None)))));
    let parent = system.spawn(tree.maker());
    eventually("all have started", || log.count("started") == 3).await;
    parent.stop();
    assert_eq!(parent.stopped().await.reason, Some(StopReason::Requested));
    let farewells = ["g stopping ParentStopped", "c stopping ParentStopped", "p stopping Requested"];
    assert_eq!(log.lines()[3..], farewells);
    assert_eq!(system.actors(), 0);
}

#[tokio::test]
async fn a_parent_waits_for_a_child_that_is_slow_to_stop() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let slow = Puppet::new("c", &log);
    let child = call(&parent, move |_, ctx| ctx.spawn(slow.maker())).await;
    let gate = hold(&child);
    eventually("the child is busy", || log.has("c waits")).await;
    parent.stop();
    eventually("the parent takes no more", || parent.try_tell(Order::Note(1)).is_err()).await;
    assert!(!log.has("p stopping Requested"));
    gate.send(()).unwrap();
    parent.stopped().await;
    assert_eq!(log.lines()[3..], ["c stopping ParentStopped", "p stopping Requested"]);
}

#[tokio::test]
async fn kill_ends_a_parent_that_waits_for_its_children_and_the_children_too() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let slow = Puppet::new("c", &log);
    let child = call(&parent, move |_, ctx| ctx.spawn(slow.maker())).await;
    let _gate = hold(&child);
    eventually("the child is busy", || log.has("c waits")).await;
    parent.stop();
    eventually("the parent takes no more", || parent.try_tell(Order::Note(1)).is_err()).await;
    let child_gone = child.stopped();
    parent.kill();
    assert_eq!(parent.stopped().await.reason, Some(StopReason::Killed));
    assert_eq!(child_gone.await.reason, Some(StopReason::Killed));
    assert_eq!(log.count("stopping"), 0);
}

#[tokio::test]
async fn the_children_of_a_killed_actor_go_with_it() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let tree = family("p", &log, Some(family("c", &log, Some(family("g", &log, None)))));
    let parent = system.spawn(tree.maker());
    eventually("all have started", || log.count("started") == 3).await;
    parent.kill();
    eventually("nobody is left", || system.actors() == 0).await;
    assert_eq!(log.count("stopping"), 0);
}

#[tokio::test]
async fn a_childs_stop_does_not_stop_its_parent() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let child = Puppet::new("c", &log);
    let child = call(&parent, move |_, ctx| ctx.spawn(child.maker())).await;
    child.stop();
    child.stopped().await;
    parent.tell(Order::Note(1)).await.unwrap();
    assert_eq!(parent.ask(Order::Notes).await.unwrap(), [1]);
}

#[tokio::test]
async fn children_are_counted_while_they_live() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let child = Puppet::new("c", &log);
    let (before, with_three, first) = call(&parent, move |_, ctx| {
        let before = ctx.children();
        let first = ctx.spawn(child.clone().maker());
        ctx.spawn(child.clone().maker());
        ctx.spawn(child.clone().maker());
        (before, ctx.children(), first)
    })
    .await;
    assert_eq!((before, with_three), (0, 3));
    first.stop();
    first.stopped().await;
    assert_eq!(call(&parent, |_, ctx| ctx.children()).await, 2);
}

#[tokio::test]
async fn a_child_may_be_spawned_and_told_in_started() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let child = Puppet::new("c", &log);
    let parent = Puppet::new("p", &log).on_started(move |ctx| {
        ctx.spawn(child.clone().maker()).try_tell(Order::Note(7)).map_err(|_| Fault::new("refused"))
    });
    system.spawn(parent.maker());
    eventually("the child handled it", || log.has("c 7")).await;
}

#[tokio::test]
async fn a_child_spawned_while_its_parent_waits_for_its_children_does_not_keep_the_parent_alive() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let (slow, late) = (Puppet::new("c", &log), Puppet::new("late", &log));
    let (child, late) = call(&parent, move |_, ctx| (ctx.spawn(slow.maker()), ctx.actor(late.maker()))).await;
    let gate = hold(&child);
    eventually("the child is busy", || log.has("c waits")).await;
    parent.stop();
    eventually("the parent takes no more", || parent.try_tell(Order::Note(1)).is_err()).await;
    let late = late.spawn();
    gate.send(()).unwrap();
    eventually("the parent is gone", || parent.is_stopped()).await;
    if let Ok(late) = late {
        late.stopped().await;
    }
    assert_eq!(system.actors(), 0);
}

#[tokio::test]
async fn a_child_of_an_actor_that_is_gone_is_refused() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let late = Puppet::new("late", &log);
    let late = call(&parent, move |_, ctx| ctx.actor(late.maker())).await;
    parent.stop();
    parent.stopped().await;
    assert_eq!(late.spawn().unwrap_err(), SpawnError::Stopping);
}

#[tokio::test]
async fn a_child_spawned_in_stopping_does_not_outlive_its_parent() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let child = Puppet::new("c", &log);
    let parent = Puppet::new("p", &log).on_stopping(move |ctx| {
        ctx.spawn(child.clone().maker());
        Ok(())
    });
    let parent = system.spawn(parent.maker());
    parent.stop();
    parent.stopped().await;
    eventually("the child is gone too", || system.actors() == 0).await;
}

#[tokio::test]
async fn an_actor_spawned_into_a_system_that_shut_down_is_refused() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    system.shutdown().await;
    let refused = system.actor(Puppet::new("p", &log).maker()).name("p").spawn();
    assert_eq!(refused.unwrap_err(), SpawnError::Stopping);
}

#[tokio::test]
async fn a_ref_spawned_into_a_system_that_shut_down_refuses_everything() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    system.shutdown().await;
    let dead = system.spawn(Puppet::new("p", &log).maker());
    assert!(dead.is_stopped());
    assert!(matches!(dead.try_tell(Order::Note(1)), Err(TryTellError::Stopped(Order::Note(1)))));
    assert!(matches!(dead.ask(Order::Notes).await, Err(AskError::Stopped { .. })));
    assert_eq!(dead.stopped().await.reason, None);
    assert_eq!(log.lines().len(), 0);
}

#[tokio::test]
async fn an_actor_can_be_stopped_twice_and_killed_after_its_end() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    puppet.stop();
    puppet.stop();
    puppet.stopped().await;
    let next = system.spawn(Puppet::new("next", &log).maker());
    // The place of the first is the second's now: none of this may reach it.
    puppet.stop();
    puppet.kill();
    puppet.stop_when_drained();
    assert_eq!(next.ask(Order::Notes).await.unwrap(), [0_u64; 0]);
    assert_eq!(log.count("p stopping"), 1);
}

/// Unlike tokio's `yield_now`, which waits for the driver's turn.
async fn to_the_end_of_the_queue() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// A runtime of one thread must not be a slow actor's alone.
#[tokio::test]
async fn an_actor_with_slow_messages_lets_other_tasks_run_in_between() {
    let system = System::new("test").unwrap();
    let handled = Arc::new(AtomicUsize::new(0));
    let counter = handled.clone();
    let busy = system.spawn(move || Busy(counter.clone()));
    for _ in 0..1000 {
        busy.try_tell(Duration::from_millis(1)).unwrap();
    }
    let looks = handled.clone();
    let seen = tokio::spawn(async move {
        let mut seen = Vec::new();
        for _ in 0..10 {
            to_the_end_of_the_queue().await;
            seen.push(looks.load(Ordering::SeqCst));
        }
        seen
    });
    let seen = seen.await.unwrap();
    let longest = seen.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest <= Some(2), "messages between two looks: {seen:?}");
}

#[tokio::test]
async fn an_actor_that_stops_itself_through_its_ref_handles_no_further_message() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for _ in 0..10_000 {
        puppet.tell(act(|_, _| Ok(()))).await.unwrap();
    }
    call(&puppet, |_, _| ()).await;
    puppet
        .try_tell(act(|_, ctx| {
            ctx.self_ref().stop();
            Ok(())
        }))
        .unwrap();
    for n in 0..50 {
        puppet.try_tell(Order::Note(n)).unwrap();
    }
    puppet.stopped().await;
    assert_eq!(log.lines(), ["p started", "p stopping Requested"]);
}
