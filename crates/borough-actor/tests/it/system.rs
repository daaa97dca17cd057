//! The system: where it can be made, names and lookup, and that nothing is left of it.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::{
    Actor, ActorRef, AskError, Context, DeadLetterReason, Fault, LookupError, MailboxKind, NameError, Reply,
    SpawnError, StartError, StopReason, System, TryTellError,
};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;

use crate::puppet::{Log, Order, Puppet, act, call, hold};
use crate::support::{Recorder, eventually};

#[test]
fn a_system_outside_of_a_runtime_is_refused() {
    assert_eq!(System::new("test").unwrap_err(), StartError::NoRuntime);
}

#[test]
fn a_system_on_a_runtime_without_timers_is_refused() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    assert_eq!(System::new("test").unwrap_err(), StartError::NoTimers);
}

async fn works() {
    let (system, log) = (System::new("test").expect("there is a runtime"), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    for n in 0..5000 {
        puppet.tell(Order::Note(n)).await.expect("it lives");
    }
    assert_eq!(puppet.ask(Order::Notes).await.expect("it answers"), (0..5000).collect::<Vec<_>>());
    assert!(system.shutdown().await.is_clean());
}

#[tokio::test(flavor = "current_thread")]
async fn a_system_works_on_a_current_thread_runtime() {
    works().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_system_works_on_a_multi_thread_runtime() {
    works().await;
}

#[tokio::test]
async fn a_system_may_be_made_and_used_within_enter() {
    let runtime = Runtime::new().unwrap();
    let (system, puppet) = {
        let _entered = runtime.enter();
        let system = System::new("test").unwrap();
        let puppet = system.spawn(Puppet::new("p", &Log::default()).maker());
        (system, puppet)
    };
    puppet.tell(Order::Note(1)).await.unwrap();
    assert_eq!(puppet.ask(Order::Notes).await.unwrap(), [1]);
    system.shutdown().await;
    runtime.shutdown_background();
}

#[tokio::test]
async fn a_name_is_taken_while_its_actor_lives() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let first = system.actor(Puppet::new("p", &log).maker()).name("p").spawn().unwrap();
    let taken = system.actor(Puppet::new("p", &log).maker()).name("p").spawn();
    assert_eq!(taken.unwrap_err(), SpawnError::NameTaken { path: "/p".to_owned() });
    assert_eq!(system.actors(), 1);
    first.stop();
    first.stopped().await;
    let again = system.actor(Puppet::new("p", &log).maker()).name("p").spawn().unwrap();
    assert_eq!(again.path(), "/p");
    assert_ne!(again, first);
}

#[tokio::test]
async fn a_name_that_cannot_stand_in_a_path_is_refused() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    for (name, why) in [("", NameError::Empty), ("a/b", NameError::Slash), ("$1.0", NameError::Dollar)] {
        let refused = system.actor(Puppet::new("p", &log).maker()).name(name).spawn().unwrap_err();
        assert_eq!(refused, SpawnError::Name { name: name.to_owned(), why });
    }
    assert_eq!(system.actors(), 0);
}

#[tokio::test]
async fn siblings_need_different_names_and_cousins_do_not() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    for parent in ["one", "two"] {
        let child = Puppet::new("c", &log);
        let parent = system.actor(Puppet::new("p", &log).maker()).name(parent).spawn().unwrap();
        let (child, twin) = call(&parent, move |_, ctx| {
            let child = ctx.actor(child.clone().maker()).name("c").spawn();
            (child.unwrap().path(), ctx.actor(Recorder::default).name("c").spawn().unwrap_err())
        })
        .await;
        assert_eq!(child, format!("{}/c", parent.path()));
        assert_eq!(twin, SpawnError::NameTaken { path: child });
    }
}

#[tokio::test]
async fn a_path_leads_from_the_top_through_names_and_ids() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.spawn(Puppet::new("p", &log).maker());
    let child = Puppet::new("c", &log);
    let (named, nameless, own) = call(&parent, move |_, ctx| {
        let named = ctx.actor(child.clone().maker()).name("c").spawn().unwrap();
        (named, ctx.spawn(child.clone().maker()), ctx.path())
    })
    .await;
    assert_eq!(parent.path(), format!("/${}", parent.id()));
    assert_eq!(own, parent.path());
    assert_eq!(named.path(), format!("{own}/c"));
    assert_eq!(nameless.path(), format!("{own}/${}", nameless.id()));
    parent.stop();
    parent.stopped().await;
    assert_eq!(named.path(), format!("{own}/c"), "a path stays when the actor is gone");
}

#[tokio::test]
async fn an_actor_is_found_by_its_path_while_it_lives() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let parent = system.actor(Puppet::new("p", &log).maker()).name("p").spawn().unwrap();
    let child = Puppet::new("c", &log);
    let child = call(&parent, move |_, ctx| ctx.actor(child.maker()).name("c").spawn().unwrap()).await;
    assert_eq!(system.lookup::<Order>("/p").unwrap(), parent);
    assert_eq!(system.lookup::<Order>("/p/c").unwrap(), child);
    child.stop();
    child.stopped().await;
    let not_found = LookupError::NotFound { path: "/p/c".to_owned() };
    assert_eq!(system.lookup::<Order>("/p/c").unwrap_err(), not_found);
}

#[tokio::test]
async fn a_lookup_with_another_message_type_says_which_one_the_actor_takes() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let _p = system.actor(Puppet::new("p", &log).maker()).name("p").spawn().unwrap();
    match system.lookup::<u64>("/p").unwrap_err() {
        LookupError::OtherMessages { path, takes, wanted } => {
            assert_eq!((path.as_str(), &*wanted), ("/p", "u64"));
            assert!(takes.ends_with("Order"), "{takes}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn dropping_the_last_ref_does_not_stop_the_actor_and_a_shutdown_does() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    drop(system.actor(Puppet::new("p", &log).maker()).name("p").spawn().unwrap());
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    call(&system.lookup("/p").unwrap(), |puppet, _| puppet.log.add("alive")).await;
    system.shutdown().await;
    assert_eq!(log.lines(), ["p started", "alive", "p stopping SystemStopped"]);
}

/// How many tasks live on this runtime, the test itself not counted.
fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

#[tokio::test]
async fn dropping_the_system_kills_its_actors_and_leaves_no_task() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    for _ in 0..100 {
        let puppet = system.spawn(Puppet::new("p", &log).maker());
        let child = Puppet::new("c", &log);
        call(&puppet, move |_, ctx| drop(ctx.spawn(child.maker()))).await;
    }
    assert!(tasks() >= 200);
    drop(system);
    eventually("no task is left", || tasks() == 0).await;
    assert_eq!(log.count("stopping"), 0);
}

#[tokio::test]
async fn a_dropped_system_ends_turns_that_wait_and_buries_what_waits_in_mailboxes() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let _gate = hold(&puppet);
    puppet.tell(Order::Note(1)).await.unwrap();
    eventually("the turn has begun", || log.has("p waits")).await;
    let (handle, gone) = (system.handle(), puppet.stopped());
    drop(system);
    assert_eq!(gone.await.reason, Some(StopReason::Killed));
    assert_eq!(handle.dead_letters().count(DeadLetterReason::Unhandled), 1);
}

#[tokio::test]
async fn refs_and_handles_left_of_a_dropped_system_refuse_everything() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let handle = system.handle();
    drop(system);
    puppet.stopped().await;
    assert!(matches!(puppet.try_tell(Order::Note(1)), Err(TryTellError::Stopped(Order::Note(1)))));
    assert!(puppet.tell(Order::Note(1)).await.is_err());
    assert!(matches!(puppet.ask(Order::Notes).await, Err(AskError::Stopped { .. })));
    assert!(handle.spawn(Puppet::new("late", &log).maker()).is_stopped());
    let late = handle.actor(Puppet::new("late", &log).maker()).spawn();
    assert_eq!(late.unwrap_err(), SpawnError::Stopping);
    assert!(!log.has("late started"));
}

#[tokio::test]
async fn after_a_shutdown_and_a_drop_no_task_is_left() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    for _ in 0..100 {
        system.spawn(Puppet::new("p", &log).maker());
    }
    system.shutdown().await;
    drop(system);
    eventually("no task is left", || tasks() == 0).await;
}

/// Asks put the sweeper to work; idle, it sleeps. Either way it has to end.
#[tokio::test(start_paused = true)]
async fn the_sweeper_of_a_system_that_was_idle_for_long_ends_too() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    call(&puppet, |_, _| ()).await;
    assert!(timeout(Duration::from_secs(60), puppet.stopped()).await.is_err());
    drop((system, puppet));
    // Time stands still while somebody is busy, so this counts yields instead.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(tasks(), 0);
}

#[tokio::test]
async fn a_system_dropped_with_shutdown_tasks_that_hold_refs_leaves_no_task() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (handle, puppet) = (system.handle(), system.spawn(Puppet::new("p", &log).maker()));
    let task = move || async move { drop((handle, puppet)) };
    system.on_shutdown("drain", "holds refs", task).unwrap();
    drop(system);
    eventually("no task is left", || tasks() == 0).await;
}

#[tokio::test]
async fn a_system_dropped_with_actors_subscribed_to_its_events_leaves_no_task() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let adapter = call(&puppet, |_, ctx| ctx.adapter(Order::Note)).await;
    system.events().subscribe_actor(&adapter);
    drop((system, puppet, adapter));
    eventually("no task is left", || tasks() == 0).await;
}

#[tokio::test]
async fn an_actor_that_holds_its_own_ref_and_its_system_is_freed() {
    let (system, token) = (System::new("test").unwrap(), Arc::new(()));
    let held = token.clone();
    let puppet = system.spawn(Puppet::new("p", &Log::default()).maker());
    let order = act(move |_, ctx| {
        let (itself, system) = (ctx.self_ref(), ctx.system());
        ctx.timers().fixed_rate("a", Duration::from_secs(1), move || {
            let _ = (&itself, &system, &held);
            Order::Note(1)
        });
        Ok(())
    });
    puppet.tell(order).await.unwrap();
    call(&puppet, |_, _| ()).await;
    drop((system, puppet));
    eventually("the timer is freed", || Arc::strong_count(&token) == 1).await;
    eventually("no task is left", || tasks() == 0).await;
}

/// The places of stopped actors are used again, their mailboxes and instances freed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_actors_that_came_and_went_leave_nothing() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let before = tasks();
    let token = Arc::new(());
    let mut places = 0;
    for n in 0..10_000_u64 {
        let (in_instance, in_mailbox) = (token.clone(), token.clone());
        let kind = MailboxKind::priority(10, move |_: &Order| i64::from(Arc::strong_count(&in_mailbox) == 0));
        let puppet = Puppet::new("p", &Log::default()).on_started(move |_| {
            let _ = &in_instance;
            Ok(())
        });
        let puppet = system.actor(puppet.maker()).mailbox(kind).name(format!("n{}", n % 7)).spawn().unwrap();
        puppet.tell(Order::Note(n)).await.unwrap();
        if n % 2 == 0 {
            puppet.stop();
        } else {
            puppet.kill();
        }
        puppet.stopped().await;
        let place = puppet.id().to_string().split_once('.').unwrap().0.parse::<u64>().unwrap();
        places = places.max(place + 1);
    }
    assert_eq!((system.actors(), places), (0, 1));
    eventually("all tasks have ended", || tasks() <= before).await;
    eventually("all is freed", || Arc::strong_count(&token) == 1).await;
    assert_eq!(log.lines().len(), 0);
}

/// Asks another actor within its own turn.
struct Proxy(ActorRef<Order>);

impl Actor for Proxy {
    type Msg = Reply<Result<Vec<u64>, AskError>>;
    async fn receive(&mut self, reply: Self::Msg, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(self.0.ask(Order::Notes).await);
        Ok(())
    }
}

/// Both are the first actor of their system; an id says nothing about another system.
#[tokio::test]
async fn an_actor_may_ask_one_of_another_system_in_its_turn() {
    let (here, there) = (System::new("here").unwrap(), System::new("there").unwrap());
    let far = there.spawn(Puppet::new("p", &Log::default()).maker());
    let proxy = here.spawn(move || Proxy(far.clone()));
    let answer = proxy.ask(|reply| reply).await.unwrap();
    assert_eq!(answer, Ok(vec![]));
}

#[tokio::test]
async fn refs_of_two_systems_are_never_equal() {
    let (here, there) = (System::new("here").unwrap(), System::new("there").unwrap());
    let log = Log::default();
    let (near, far) =
        (here.spawn(Puppet::new("p", &log).maker()), there.spawn(Puppet::new("p", &log).maker()));
    assert_eq!(near.id(), far.id());
    assert_ne!(near, far);
    assert_eq!(near, near.clone());
}

/// Never answers, and never ends its turn.
struct Silent;

impl Actor for Silent {
    type Msg = Reply<()>;
    async fn receive(&mut self, _reply: Reply<()>, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        std::future::pending().await
    }
}

/// A system and a silent actor on a runtime that can be dropped, used from the test's own.
fn elsewhere() -> (Runtime, System, ActorRef<Reply<()>>) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("it can be made");
    let entered = runtime.enter();
    let system = System::new("elsewhere").expect("there is a runtime");
    let silent = system.spawn(|| Silent);
    drop(entered);
    (runtime, system, silent)
}

const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_watcher_from_another_runtime_hears_that_the_actors_runtime_is_gone() {
    let (runtime, _system, silent) = elsewhere();
    let gone = silent.stopped();
    runtime.shutdown_background();
    assert_eq!(timeout(SOON, gone).await.unwrap().reason, Some(StopReason::SystemStopped));
    assert!(silent.is_stopped());
}

#[tokio::test]
async fn asks_from_another_runtime_fail_when_the_actors_runtime_is_gone() {
    let (runtime, system, silent) = elsewhere();
    let ask = |actor: &ActorRef<Reply<()>>| {
        let actor = actor.clone();
        tokio::spawn(async move { actor.ask(|reply| reply).timeout(SOON * 6).await })
    };
    let handled = ask(&silent);
    // The second waits in the mailbox once it is neither refused nor in the actor's hands.
    eventually("the first is sent", || handled.is_finished() || system.actors() == 1).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let waiting = ask(&silent);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    runtime.shutdown_background();
    let (handled, waiting) = timeout(SOON, async { tokio::join!(handled, waiting) }).await.unwrap();
    let errors = (handled.unwrap().unwrap_err(), waiting.unwrap().unwrap_err());
    assert!(matches!(errors.0, AskError::NoAnswer { .. } | AskError::Discarded { .. }), "{errors:?}");
    assert!(matches!(errors.1, AskError::Discarded { .. }), "{errors:?}");
    assert!(matches!(silent.ask(|reply| reply).await, Err(AskError::Stopped { .. })));
}

#[tokio::test]
async fn an_actor_spawned_when_the_systems_runtime_is_gone_is_gone_at_once() {
    let (runtime, system, _silent) = elsewhere();
    runtime.shutdown_background();
    let late = system.spawn(|| Silent);
    assert!(timeout(SOON, late.stopped()).await.is_ok());
    assert!(late.is_stopped());
}

#[tokio::test]
async fn a_shutdown_begun_when_the_systems_runtime_is_gone_does_not_hang() {
    let (runtime, system, _silent) = elsewhere();
    runtime.shutdown_background();
    assert!(timeout(Duration::from_secs(2), system.shutdown()).await.is_ok());
}

#[tokio::test]
async fn whoever_waits_for_a_shutdown_hears_that_the_systems_runtime_is_gone() {
    let (runtime, system, _silent) = elsewhere();
    system.on_shutdown("unbind", "waits", std::future::pending).unwrap();
    system.begin_shutdown();
    runtime.shutdown_background();
    assert!(timeout(Duration::from_secs(2), system.terminated()).await.is_ok());
}

#[tokio::test]
async fn whoever_waits_for_a_shutdown_hears_that_the_system_was_dropped() {
    let system = System::new("test").unwrap();
    let handle = system.handle();
    drop(system);
    assert!(timeout(Duration::from_secs(2), handle.terminated()).await.is_ok());
}

/// The actor that is asked blocks its thread, so that it outlives its system and still takes messages in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ask_under_way_when_the_system_is_dropped_keeps_its_timeout() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = system.spawn(Puppet::new("p", &log).maker());
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let block = move |_: &mut Puppet, _: &mut Context<Puppet>| {
        begun.send(()).unwrap();
        let _ = released.recv();
        Ok(())
    };
    puppet.tell(act(block)).await.unwrap();
    has_begun.await.unwrap();
    drop(system);
    let asked = puppet.ask(Order::Notes).timeout(Duration::from_millis(50));
    let outcome = timeout(Duration::from_secs(10), asked).await.expect("the ask ends by itself");
    drop(release);
    assert!(matches!(outcome, Err(AskError::Timeout { .. } | AskError::Stopped { .. })), "{outcome:?}");
}
