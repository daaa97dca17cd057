//! A4: what becomes of an actor whose turn failed: restart, resume, stop, backoff, limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use borough_actor::{
    Actor, ActorFailed, ActorRef, AskError, Context, DeadLetterReason, Directive, Fault, StopReason,
    Supervision, System,
};
use tokio::time::{Instant, advance, timeout};

use crate::puppet::{Log, Order, Puppet, act, call, fail, hold, panic_with};
use crate::support::eventually;

/// Restarts without a wait.
fn at_once() -> Supervision {
    Supervision::default().backoff(Duration::ZERO, Duration::ZERO)
}

fn spawn(system: &System, puppet: Puppet, supervision: Supervision) -> ActorRef<Order> {
    system.actor(puppet.maker()).supervision(supervision).spawn().expect("it needs no name")
}

#[tokio::test]
async fn a_restart_makes_a_new_instance_and_tells_it_the_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
    puppet.tell(Order::Note(1)).await.unwrap();
    puppet.tell(fail("broken")).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [0_u64; 0]);
    assert_eq!(log.lines(), ["p started", "p 1", "p restarted after broken"]);
}

#[tokio::test]
async fn restarted_calls_started_unless_it_is_overridden() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once());
    puppet.tell(fail("broken")).await.unwrap();
    call(&puppet, |_, _| ()).await;
    assert_eq!(log.lines(), ["p started", "p restarted after broken", "p started"]);
}

#[tokio::test]
async fn a_panic_is_a_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
    puppet.tell(panic_with("ouch")).await.unwrap();
    call(&puppet, |_, _| ()).await;
    assert_eq!(log.lines(), ["p started", "p restarted after panicked: ouch"]);
}

#[tokio::test]
async fn a_panic_with_a_value_that_is_no_text_is_a_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
    puppet.tell(act(|_, _| std::panic::panic_any(42_u64))).await.unwrap();
    call(&puppet, |_, _| ()).await;
    assert!(log.has("p restarted after panicked: a value that is no text"), "{:?}", log.lines());
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test]
async fn a_panic_whose_value_panics_when_dropped_is_a_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once());
    puppet.tell(act(|_, _| std::panic::panic_any(PanicsWhenDropped))).await.unwrap();
    call(&puppet, |_, _| ()).await;
    assert_eq!(log.count("restarted"), 1);
}

#[tokio::test]
async fn a_restart_loses_the_message_that_failed_and_no_other() {
    for failing in [0, 1, 50, 99] {
        let (system, log) = (System::new("test").unwrap(), Log::default());
        let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
        for n in 0..100 {
            let order = if n == failing { panic_with("ouch") } else { Order::Note(n) };
            puppet.try_tell(order).unwrap();
        }
        call(&puppet, |_, _| ()).await;
        let mut expected: Vec<_> = (0..100).map(|n| format!("p {n}")).collect();
        expected[usize::try_from(failing).unwrap()] = "p restarted after panicked: ouch".to_owned();
        assert_eq!(log.lines()[1..], expected);
        assert_eq!(system.dead_letters().total(), 0);
    }
}

#[tokio::test]
async fn the_ask_whose_message_failed_fails_at_once() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once());
    let asked = puppet
        .ask(|reply: borough_actor::Reply<()>| {
            act(move |_, _| {
                let _reply = reply;
                Err(Fault::new("broken"))
            })
        })
        .await;
    assert!(matches!(asked, Err(AskError::NoAnswer { .. })), "{asked:?}");
}

#[tokio::test]
async fn a_restart_puts_the_stash_back_in_front_in_order() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
    for n in 0..3 {
        let stashing = act(move |_, ctx| ctx.stash(Order::Note(n)).map_err(|_| Fault::new("full")));
        puppet.try_tell(stashing).unwrap();
    }
    puppet.try_tell(fail("broken")).unwrap();
    puppet.try_tell(Order::Note(3)).unwrap();
    call(&puppet, |_, _| ()).await;
    assert_eq!(log.lines(), ["p started", "p restarted after broken", "p 0", "p 1", "p 2", "p 3"]);
}

#[tokio::test]
async fn resume_keeps_the_state() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), Supervision::always(Directive::Resume));
    puppet.tell(Order::Note(1)).await.unwrap();
    puppet.tell(panic_with("ouch")).await.unwrap();
    puppet.tell(fail("broken")).await.unwrap();
    puppet.tell(Order::Note(2)).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1, 2]);
    assert_eq!(log.lines(), ["p started", "p 1", "p 2"]);
}

#[tokio::test]
async fn stop_ends_the_actor_because_of_the_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), Supervision::always(Directive::Stop));
    puppet.try_tell(fail("broken")).unwrap();
    puppet.try_tell(Order::Note(1)).unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
    assert_eq!(log.lines(), ["p started", "p stopping Fault"]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 1);
}

#[derive(Debug, thiserror::Error)]
#[error("a small thing")]
struct Small;

#[tokio::test]
async fn supervision_tells_one_kind_of_fault_from_another() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let by_kind = Supervision::by(|fault| match fault.downcast_ref::<Small>() {
        Some(Small) => Directive::Resume,
        None if fault.is_panic() => Directive::Stop,
        None => Directive::Restart,
    });
    let puppet = spawn(&system, Puppet::new("p", &log), by_kind.backoff(Duration::ZERO, Duration::ZERO));
    puppet.tell(Order::Note(1)).await.unwrap();
    puppet.tell(act(|_, _| Err(Small.into()))).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
    puppet.tell(fail("a large thing")).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [0_u64; 0]);
    puppet.tell(panic_with("the largest")).await.unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
}

#[tokio::test]
async fn a_supervision_that_panics_stops_the_actor() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), Supervision::by(|_| panic!("undecided")));
    puppet.tell(fail("broken")).await.unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
}

#[tokio::test]
async fn every_fault_is_published_with_what_is_done_about_it() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mut failures = system.events().subscribe::<ActorFailed>();
    let by_words = Supervision::by(|fault| match fault.to_string().as_str() {
        "one" => Directive::Resume,
        "two" => Directive::Restart,
        _ => Directive::Stop,
    });
    let supervision = by_words.backoff(Duration::ZERO, Duration::ZERO);
    let puppet =
        system.actor(Puppet::new("p", &log).maker()).name("p").supervision(supervision).spawn().unwrap();
    for words in ["one", "two", "three"] {
        puppet.tell(fail(words)).await.unwrap();
    }
    let expected = [("one", Directive::Resume), ("two", Directive::Restart), ("three", Directive::Stop)];
    for (words, directive) in expected {
        let failed = failures.next().await.unwrap();
        assert_eq!((failed.path.as_str(), failed.fault.as_str(), failed.directive), ("/p", words, directive));
    }
}

#[tokio::test]
async fn a_fault_in_started_restarts() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let failures = AtomicUsize::new(2);
    let puppet = Puppet::new("p", &log).on_started(move |_| {
        let fails =
            failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if fails { Err(Fault::new("not yet")) } else { Ok(()) }
    });
    let puppet = spawn(&system, puppet, at_once());
    puppet.tell(Order::Note(1)).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
    assert_eq!(log.count("p restarted after not yet"), 2);
}

#[tokio::test]
async fn a_panic_in_started_is_answered_like_any_other_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = Puppet::new("p", &log).on_started(|_| panic!("ouch"));
    let puppet = spawn(&system, puppet, Supervision::always(Directive::Stop));
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
}

#[tokio::test]
async fn resume_of_a_fault_in_started_means_restart() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = Puppet::new("p", &log).on_started(|_| Err(Fault::new("not yet"))).on_restarted(|_| Ok(()));
    let resuming = Supervision::always(Directive::Resume).backoff(Duration::ZERO, Duration::ZERO);
    let puppet = spawn(&system, puppet, resuming);
    puppet.tell(Order::Note(1)).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
    assert_eq!(log.lines(), ["p started", "p restarted after not yet", "p 1"]);
}

#[tokio::test]
async fn a_fault_in_restarted_restarts_again() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let failing = AtomicUsize::new(1);
    let puppet = Puppet::new("p", &log)
        .on_restarted(move |_| if failing.swap(0, Ordering::SeqCst) == 1 { panic!("again") } else { Ok(()) });
    let puppet = spawn(&system, puppet, at_once());
    puppet.tell(fail("once")).await.unwrap();
    puppet.tell(Order::Note(1)).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
    let expected = ["p started", "p restarted after once", "p restarted after panicked: again", "p 1"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn a_panic_in_the_factory_is_answered_like_any_other_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (puppet, mut calls) = (Puppet::new("p", &log), 0);
    let make = move || {
        calls += 1;
        assert!(calls > 2, "no instance yet");
        puppet.clone()
    };
    let puppet = system.actor(make).supervision(at_once()).spawn().unwrap();
    puppet.tell(Order::Note(1)).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
    assert!(log.has("p restarted after panicked: no instance yet"), "{:?}", log.lines());
}

#[tokio::test]
async fn a_factory_that_panics_for_good_stops_the_actor_with_its_mail() {
    let system = System::new("test").unwrap();
    let make = || -> Puppet { panic!("no instance ever") };
    let stopping = Supervision::always(Directive::Stop);
    let puppet = system.actor(make).supervision(stopping).spawn().unwrap();
    puppet.try_tell(Order::Note(1)).unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 1);
}

#[tokio::test]
async fn a_fault_in_stopping_does_not_keep_the_actor() {
    for panics in [false, true] {
        let (system, log) = (System::new("test").unwrap(), Log::default());
        let puppet = Puppet::new("p", &log).on_stopping(move |_| {
            assert!(!panics, "ouch");
            Err(Fault::new("broken"))
        });
        let puppet = spawn(&system, puppet, at_once());
        puppet.stop();
        assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
        assert_eq!(log.lines(), ["p started", "p stopping Requested"]);
    }
}

#[tokio::test]
async fn a_fault_in_terminated_is_answered_like_any_other() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = Puppet::new("w", &log).on_terminated(|_| panic!("ouch")).on_restarted(|_| Ok(()));
    let watcher = spawn(&system, watcher, at_once());
    let mortal = system.spawn(Puppet::new("p", &log).maker());
    let target = mortal.clone();
    call(&watcher, move |_, ctx| ctx.watch(&target)).await;
    mortal.stop();
    eventually("the watcher is restarted", || log.has("w restarted after panicked: ouch")).await;
    watcher.tell(Order::Note(1)).await.unwrap();
    assert_eq!(watcher.ask(Order::Notes).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_panic_in_an_adapter_is_the_actors_fault_and_loses_that_message_only() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
    let adapter = call(&puppet, |_, ctx| {
        ctx.adapter(|n: u64| {
            assert_ne!(n, 2, "not two");
            Order::Note(n)
        })
    })
    .await;
    for n in 1..=3 {
        adapter.try_tell(n).unwrap();
    }
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [3]);
    assert_eq!(log.lines()[1], "p 1");
    assert!(log.lines()[2].starts_with("p restarted after panicked"), "{:?}", log.lines());
}

/// An instance that panics as it is dropped, in a restart.
struct Fragile(Log);

impl Actor for Fragile {
    type Msg = &'static str;
    async fn receive(&mut self, msg: &'static str, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        if msg == "fail" {
            return Err(Fault::new("broken"));
        }
        self.0.add(msg);
        Ok(())
    }
    async fn restarted(&mut self, _fault: &Fault, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.0.add("restarted");
        Ok(())
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test]
async fn an_instance_that_panics_as_it_is_dropped_is_still_followed_by_the_next() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let seen = log.clone();
    let fragile = system.actor(move || Fragile(seen.clone())).supervision(at_once()).spawn().unwrap();
    fragile.try_tell("fail").unwrap();
    fragile.try_tell("hello").unwrap();
    eventually("the next instance works, or the actor is gone", || log.has("hello") || fragile.is_stopped())
        .await;
    assert_eq!(log.lines(), ["restarted", "hello"]);
}

#[tokio::test]
async fn a_message_that_panics_as_it_is_buried_does_not_keep_the_actor_from_its_farewell() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once());
    let fragile = PanicsWhenDropped;
    let gate = hold(&puppet);
    puppet
        .try_tell(act(move |_, _| {
            std::mem::forget(fragile);
            Ok(())
        }))
        .unwrap();
    eventually("the turn has begun", || log.has("p waits")).await;
    puppet.stop();
    gate.send(()).unwrap();
    puppet.stopped().await;
    assert!(log.has("p stopping Requested"), "{:?}", log.lines());
}

#[tokio::test(start_paused = true)]
async fn backoff_doubles_from_100_ms_to_10_s_and_the_eleventh_fault_in_a_minute_stops() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let times: Arc<std::sync::Mutex<Vec<Instant>>> = Arc::default();
    let starts = times.clone();
    let puppet = Puppet::new("p", &log).on_started(move |_| {
        starts.lock().unwrap().push(Instant::now());
        Ok(())
    });
    let puppet = spawn(&system, puppet, Supervision::default());
    for _ in 0..11 {
        puppet.try_tell(panic_with("ouch")).unwrap();
    }
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 11);
    for (n, pair) in times.windows(2).enumerate() {
        let (waited, middle) =
            (pair[1] - pair[0], Duration::from_millis(100 << n).min(Duration::from_secs(10)));
        let tick = Duration::from_millis(2);
        assert!(waited >= middle * 4 / 5 && waited <= middle * 6 / 5 + tick, "restart {n} after {waited:?}");
    }
    assert!(log.has("p stopping Fault"));
}

#[tokio::test(start_paused = true)]
async fn restarts_older_than_the_window_do_not_count() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once().limit(1, Duration::from_secs(60)));
    for _ in 0..5 {
        puppet.tell(fail("broken")).await.unwrap();
        call(&puppet, |_, _| ()).await;
        advance(Duration::from_secs(60)).await;
    }
    assert_eq!(log.count("restarted"), 5);
}

#[tokio::test]
async fn a_limit_of_no_restarts_stops_at_the_first_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once().limit(0, Duration::from_secs(60)));
    puppet.tell(fail("broken")).await.unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Fault));
}

/// Restarts after an hour, give or take.
fn slowly() -> Supervision {
    Supervision::default().backoff(Duration::from_secs(3600), Duration::from_secs(3600))
}

#[tokio::test(start_paused = true)]
async fn messages_sent_during_the_backoff_are_handled_after_it() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let begun = Instant::now();
    let puppet = spawn(&system, Puppet::new("p", &log), slowly());
    puppet.tell(fail("broken")).await.unwrap();
    advance(Duration::from_secs(1)).await;
    for n in 0..100 {
        puppet.tell(Order::Note(n)).await.unwrap();
    }
    let notes = puppet.ask(Order::Notes).timeout(Duration::from_secs(7200)).await.unwrap();
    assert_eq!(notes, (0..100).collect::<Vec<_>>());
    assert!(begun.elapsed() > Duration::from_secs(2800), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn stop_during_the_backoff_ends_the_actor_at_once() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mut failures = system.events().subscribe::<ActorFailed>();
    let puppet = spawn(&system, Puppet::new("p", &log), slowly());
    puppet.tell(fail("broken")).await.unwrap();
    puppet.tell(Order::Note(1)).await.unwrap();
    failures.next().await.unwrap();
    puppet.stop();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
    assert_eq!(system.dead_letters().count(DeadLetterReason::Unhandled), 1);
    // The failed instance is gone; there is none to call.
    assert_eq!(log.lines(), ["p started"]);
}

#[tokio::test]
async fn kill_during_the_backoff_ends_the_actor_at_once() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mut failures = system.events().subscribe::<ActorFailed>();
    let puppet = spawn(&system, Puppet::new("p", &log), slowly());
    puppet.tell(fail("broken")).await.unwrap();
    failures.next().await.unwrap();
    puppet.kill();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Killed));
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_backoff() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mut failures = system.events().subscribe::<ActorFailed>();
    let puppet = spawn(&system, Puppet::new("p", &log), slowly());
    puppet.tell(fail("broken")).await.unwrap();
    failures.next().await.unwrap();
    let report = system.shutdown().await;
    assert!(report.is_clean(), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn the_longest_backoff_there_is_does_not_panic() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet =
        spawn(&system, Puppet::new("p", &log), Supervision::default().backoff(Duration::MAX, Duration::MAX));
    puppet.tell(fail("broken")).await.unwrap();
    assert!(timeout(Duration::from_secs(3600), puppet.stopped()).await.is_err());
    puppet.stop();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
}

#[tokio::test]
async fn children_are_gone_before_the_new_instance_starts() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let child = Puppet::new("c", &log);
    let parent = Puppet::new("p", &log).on_started(move |ctx| {
        ctx.spawn(child.clone().maker());
        Ok(())
    });
    let parent = spawn(&system, parent.on_restarted(|_| Ok(())), at_once());
    eventually("the child has started", || log.has("c started")).await;
    parent.tell(fail("broken")).await.unwrap();
    assert_eq!(call(&parent, |_, ctx| ctx.children()).await, 0);
    let expected = ["p started", "c started", "c stopping ParentStopped", "p restarted after broken"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn a_restart_waits_for_a_child_that_is_slow_to_stop() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = spawn(&system, Puppet::new("p", &log), at_once());
    let child = Puppet::new("c", &log);
    let child = call(&parent, move |_, ctx| ctx.spawn(child.maker())).await;
    let gate = hold(&child);
    eventually("the child is busy", || log.has("c waits")).await;
    parent.tell(fail("broken")).await.unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(log.count("restarted"), 0);
    gate.send(()).unwrap();
    call(&parent, |_, _| ()).await;
    assert_eq!(log.count("restarted"), 1);
}

#[tokio::test]
async fn a_child_may_have_the_name_of_one_of_the_instance_before() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let child = Puppet::new("c", &log);
    let parent = Puppet::new("p", &log).on_started(move |ctx| {
        ctx.actor(child.clone().maker()).name("only").spawn()?;
        Ok(())
    });
    let parent = spawn(&system, parent, at_once());
    parent.tell(fail("broken")).await.unwrap();
    assert_eq!(call(&parent, |_, ctx| ctx.children()).await, 1);
    assert_eq!(log.count("p started"), 2);
}

#[tokio::test(start_paused = true)]
async fn timers_and_the_receive_timeout_end_with_the_instance() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once());
    call(&puppet, |_, ctx| {
        ctx.timers().once("a", Duration::from_secs(1), Order::Note(1));
        ctx.timers().fixed_rate("b", Duration::from_secs(1), || Order::Note(2));
        ctx.set_receive_timeout(Duration::from_secs(1), || Order::Note(3));
    })
    .await;
    puppet.tell(fail("broken")).await.unwrap();
    call(&puppet, |_, _| ()).await;
    advance(Duration::from_secs(10)).await;
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [0_u64; 0]);
    let set = call(&puppet, |_, ctx| (ctx.timers().is_set("a"), ctx.timers().is_set("b"))).await;
    assert_eq!(set, (false, false));
}

#[tokio::test]
async fn watches_end_with_the_instance() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = spawn(&system, Puppet::new("w", &log), at_once());
    let mortal = system.spawn(Puppet::new("p", &log).maker());
    let target = mortal.clone();
    call(&watcher, move |_, ctx| ctx.watch(&target)).await;
    watcher.tell(fail("broken")).await.unwrap();
    call(&watcher, |_, _| ()).await;
    mortal.stop();
    mortal.stopped().await;
    call(&watcher, |_, _| ()).await;
    assert_eq!(log.count("terminated"), 0);
}

/// The notification waits in the mailbox, which a restart keeps; the watch it belongs to is gone.
#[tokio::test]
async fn a_termination_queued_for_the_instance_before_is_not_delivered() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = spawn(&system, Puppet::new("w", &log), at_once());
    let mortal = system.spawn(Puppet::new("p", &log).maker());
    let target = mortal.clone();
    call(&watcher, move |_, ctx| ctx.watch(&target)).await;
    let gate = hold(&watcher);
    watcher.tell(fail("broken")).await.unwrap();
    eventually("the watcher is busy", || log.has("w waits")).await;
    mortal.stop();
    mortal.stopped().await;
    gate.send(()).unwrap();
    call(&watcher, |_, _| ()).await;
    assert_eq!((log.count("restarted"), log.count("terminated")), (1, 0));
}

#[tokio::test]
async fn an_actor_that_wanted_to_stop_and_then_failed_in_the_same_turn_stops() {
    for directive in [Directive::Restart, Directive::Resume, Directive::Stop] {
        let (system, log) = (System::new("test").unwrap(), Log::default());
        let supervision = Supervision::always(directive).backoff(Duration::ZERO, Duration::ZERO);
        let puppet = spawn(&system, Puppet::new("p", &log), supervision);
        puppet
            .try_tell(act(|_, ctx| {
                ctx.stop();
                Err(Fault::new("broken"))
            }))
            .unwrap();
        let ended = timeout(Duration::from_secs(5), puppet.stopped()).await;
        assert!(ended.is_ok(), "{directive:?}: {:?}", log.lines());
        assert_eq!(log.count("restarted"), 0, "{directive:?}");
    }
}

#[tokio::test]
async fn stop_by_another_while_the_turn_fails_wins_over_the_restart() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log), at_once());
    let itself = puppet.clone();
    puppet
        .try_tell(act(move |_, _| {
            itself.stop();
            Err(Fault::new("broken"))
        }))
        .unwrap();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
    assert_eq!(log.count("restarted"), 0);
}

#[tokio::test]
async fn stop_when_drained_outlives_a_restart() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = spawn(&system, Puppet::new("p", &log).on_restarted(|_| Ok(())), at_once());
    puppet.try_tell(fail("broken")).unwrap();
    puppet.try_tell(Order::Note(1)).unwrap();
    puppet.stop_when_drained();
    assert_eq!(puppet.stopped().await.reason, Some(StopReason::Requested));
    assert_eq!(log.lines(), ["p started", "p restarted after broken", "p 1", "p stopping Requested"]);
}
