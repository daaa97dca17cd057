//! A5: being told, once, that another actor is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use borough_actor::{
    Actor, ActorRef, Context, Directive, Fault, MailboxKind, StopReason, Supervision, System, Terminated,
};

use crate::puppet::{Log, Order, Puppet, call, fail, hold};
use crate::support::eventually;

/// A watcher `w` of an actor `/p`.
async fn pair(system: &System, log: &Log) -> (ActorRef<Order>, ActorRef<Order>) {
    let watcher = system.spawn(Puppet::new("w", log).maker());
    let mortal = named(system, "p", log);
    watch(&watcher, &mortal).await;
    (watcher, mortal)
}

fn named(system: &System, name: &'static str, log: &Log) -> ActorRef<Order> {
    system.actor(Puppet::new(name, log).maker()).name(name).spawn().expect("the name is free")
}

async fn watch(watcher: &ActorRef<Order>, mortal: &ActorRef<Order>) {
    let mortal = mortal.clone();
    call(watcher, move |_, ctx| ctx.watch(&mortal)).await;
}

async fn watch_with(watcher: &ActorRef<Order>, mortal: &ActorRef<Order>, n: u64) {
    let mortal = mortal.clone();
    call(watcher, move |_, ctx| ctx.watch_with(&mortal, Order::Note(n))).await;
}

/// Stops it, and waits until it is gone and its watchers have been told.
async fn end(actor: &ActorRef<Order>) {
    actor.stop();
    actor.stopped().await;
}

#[tokio::test]
async fn terminated_is_called_once_with_the_reason() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (watcher, mortal) = pair(&system, &log).await;
    end(&mortal).await;
    call(&watcher, |_, _| ()).await;
    assert_eq!(log.count("terminated"), 1);
    assert!(log.has("w terminated /p Some(Requested)"), "{:?}", log.lines());
}

#[tokio::test]
async fn watch_with_sends_the_message_in_place_of_the_call() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let mortal = named(&system, "p", &log);
    watch_with(&watcher, &mortal, 7).await;
    end(&mortal).await;
    assert_eq!(watcher.ask(Order::Notes).await.unwrap(), [7]);
    assert_eq!(log.count("terminated"), 0);
}

#[tokio::test]
async fn watching_an_actor_that_is_gone_tells_so_without_a_reason() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let mortal = named(&system, "p", &log);
    end(&mortal).await;
    watch(&watcher, &mortal).await;
    call(&watcher, |_, _| ()).await;
    assert!(log.has("w terminated /p None"), "{:?}", log.lines());
}

#[tokio::test]
async fn watching_with_a_message_an_actor_that_is_gone_sends_it() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let mortal = named(&system, "p", &log);
    end(&mortal).await;
    watch_with(&watcher, &mortal, 7).await;
    assert_eq!(watcher.ask(Order::Notes).await.unwrap(), [7]);
}

#[tokio::test]
async fn unwatch_ends_a_watch() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (watcher, mortal) = pair(&system, &log).await;
    let target = mortal.clone();
    call(&watcher, move |_, ctx| ctx.unwatch(&target)).await;
    end(&mortal).await;
    call(&watcher, |_, _| ()).await;
    assert_eq!(log.count("terminated"), 0);
}

#[tokio::test]
async fn nothing_arrives_after_unwatch_even_if_the_notification_was_queued() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (watcher, mortal) = pair(&system, &log).await;
    let gate = hold(&watcher);
    let target = mortal.clone();
    let unwatched = call(&watcher, move |_, ctx| ctx.unwatch(&target));
    let ended = async {
        eventually("the watcher is busy", || log.has("w waits")).await;
        end(&mortal).await;
        gate.send(()).unwrap();
    };
    tokio::join!(unwatched, ended);
    call(&watcher, |_, _| ()).await;
    assert_eq!(log.count("terminated"), 0);
}

#[tokio::test]
async fn watching_twice_is_watching_once() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (watcher, mortal) = pair(&system, &log).await;
    watch(&watcher, &mortal).await;
    end(&mortal).await;
    call(&watcher, |_, _| ()).await;
    assert_eq!(log.count("terminated"), 1);
}

#[tokio::test]
async fn a_second_watch_takes_the_place_of_the_first() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (watcher, mortal) = pair(&system, &log).await;
    watch_with(&watcher, &mortal, 7).await;
    end(&mortal).await;
    assert_eq!(watcher.ask(Order::Notes).await.unwrap(), [7]);
    assert_eq!(log.count("terminated"), 0);
}

#[tokio::test]
async fn an_adapter_is_watched_as_the_actor_behind_it() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (watcher, mortal) = pair(&system, &log).await;
    let adapter = call(&mortal, |_, ctx| ctx.adapter(Order::Note)).await;
    call(&watcher, move |_, ctx| ctx.watch(&adapter)).await;
    end(&mortal).await;
    call(&watcher, |_, _| ()).await;
    assert_eq!(log.count("terminated"), 1);
}

/// One that sends a last word to `to` as it stops.
fn talker(log: &Log, to: &ActorRef<Order>) -> Puppet {
    let to = to.clone();
    Puppet::new("p", log)
        .on_stopping(move |_| to.try_tell(Order::Note(1000)).map_err(|_| Fault::new("no room")))
}

async fn last_words_come_first(kind: fn() -> MailboxKind<Order>) {
    for _ in 0..50 {
        let (system, log) = (System::new("test").expect("there is a runtime"), Log::default());
        let watcher =
            system.actor(Puppet::new("w", &log).maker()).mailbox(kind()).spawn().expect("it needs no name");
        let mortal = system.spawn(talker(&log, &watcher).maker());
        watch(&watcher, &mortal).await;
        let gate = hold(&watcher);
        let to = watcher.clone();
        call(&mortal, move |_, ctx| {
            for n in 0..10 {
                to.try_tell(Order::Note(n)).expect("there is room");
            }
            ctx.stop();
        })
        .await;
        mortal.stopped().await;
        gate.send(()).expect("the watcher waits");
        eventually("the watcher was told", || log.count("w terminated") == 1).await;
        let heard = log.lines().iter().filter(|line| line.starts_with("w ")).cloned().collect::<Vec<_>>();
        assert_eq!(heard.len(), 14, "{heard:?}");
        assert!(heard[13].starts_with("w terminated"), "{heard:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_the_actor_sent_is_handled_before_terminated() {
    last_words_come_first(MailboxKind::default).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_the_actor_sent_is_handled_before_terminated_in_a_priority_mailbox_too() {
    last_words_come_first(|| MailboxKind::priority(100, |_| 0)).await;
}

#[tokio::test]
async fn a_full_mailbox_keeps_no_termination_out() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher =
        system.actor(Puppet::new("w", &log).maker()).mailbox(MailboxKind::rejecting(2)).spawn().unwrap();
    let mortal = named(&system, "p", &log);
    watch(&watcher, &mortal).await;
    let gate = hold(&watcher);
    eventually("the watcher is busy", || log.has("w waits")).await;
    while watcher.try_tell(Order::Note(1)).is_ok() {}
    end(&mortal).await;
    gate.send(()).unwrap();
    eventually("the watcher was told", || log.has("w terminated /p Some(Requested)")).await;
}

#[tokio::test]
async fn a_mailbox_that_drops_its_oldest_drops_no_termination() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let kind = MailboxKind::dropping_oldest(2);
    let watcher = system.actor(Puppet::new("w", &log).maker()).mailbox(kind).spawn().unwrap();
    let mortal = named(&system, "p", &log);
    watch(&watcher, &mortal).await;
    let gate = hold(&watcher);
    eventually("the watcher is busy", || log.has("w waits")).await;
    end(&mortal).await;
    for n in 0..5 {
        watcher.try_tell(Order::Note(n)).unwrap();
    }
    gate.send(()).unwrap();
    call(&watcher, |_, _| ()).await;
    assert!(log.has("w terminated /p Some(Requested)"), "{:?}", log.lines());
}

#[tokio::test]
async fn a_mailbox_that_drops_its_oldest_drops_no_stop_when_drained() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let kind = MailboxKind::dropping_oldest(2);
    let puppet = system.actor(Puppet::new("p", &log).maker()).mailbox(kind).spawn().unwrap();
    let gate = hold(&puppet);
    eventually("the actor is busy", || log.has("p waits")).await;
    puppet.stop_when_drained();
    for n in 0..5 {
        puppet.try_tell(Order::Note(n)).unwrap();
    }
    gate.send(()).unwrap();
    eventually("it stops", || puppet.is_stopped()).await;
}

#[tokio::test]
async fn each_of_several_watchers_is_told() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mortal = named(&system, "p", &log);
    let watchers: Vec<_> = (0..10).map(|_| system.spawn(Puppet::new("w", &log).maker())).collect();
    for watcher in &watchers {
        watch(watcher, &mortal).await;
    }
    end(&mortal).await;
    for watcher in &watchers {
        call(watcher, |_, _| ()).await;
    }
    assert_eq!(log.count("w terminated /p Some(Requested)"), 10);
}

#[tokio::test]
async fn one_watcher_is_told_of_each_of_several_actors() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let mortals: Vec<_> = (0..10).map(|_| system.spawn(Puppet::new("p", &log).maker())).collect();
    for actor in &mortals {
        watch(&watcher, actor).await;
    }
    for actor in &mortals {
        end(actor).await;
    }
    call(&watcher, |_, _| ()).await;
    for actor in &mortals {
        assert!(log.has(&format!("w terminated {} Some(Requested)", actor.path())));
    }
}

#[tokio::test]
async fn actors_of_two_systems_are_watched_each_for_itself() {
    let (here, there) = (System::new("here").unwrap(), System::new("there").unwrap());
    let log = Log::default();
    let watcher = here.spawn(Puppet::new("w", &log).maker());
    let (near, far) = (named(&here, "near", &log), named(&there, "far", &log));
    watch_with(&watcher, &near, 1).await;
    watch_with(&watcher, &far, 2).await;
    end(&near).await;
    assert_eq!(watcher.ask(Order::Notes).await.unwrap(), [1]);
    end(&far).await;
    assert_eq!(watcher.ask(Order::Notes).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_watcher_that_is_gone_leaves_nothing_at_the_actor_it_watched() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mortal = named(&system, "p", &log);
    // The rank function lives as long as the watcher's mailbox.
    let token = Arc::new(());
    let held = token.clone();
    let kind = MailboxKind::priority(10, move |_: &Order| i64::from(Arc::strong_count(&held) == 0));
    let watcher = system.actor(Puppet::new("w", &log).maker()).mailbox(kind).spawn().unwrap();
    watch(&watcher, &mortal).await;
    end(&watcher).await;
    drop(watcher);
    eventually("the watcher's mailbox is freed", || Arc::strong_count(&token) == 1).await;
    assert!(!mortal.is_stopped());
}

#[tokio::test]
async fn a_dropped_stopped_future_ends_its_watch_and_nothing_else() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mortal = named(&system, "p", &log);
    drop(mortal.stopped());
    let kept = mortal.stopped();
    mortal.stop();
    assert_eq!(kept.await.reason, Some(StopReason::Requested));
}

#[tokio::test]
async fn stopped_says_who_and_why() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mortal = named(&system, "p", &log);
    let stopped = mortal.stopped();
    mortal.kill();
    let terminated = stopped.await;
    assert_eq!((terminated.id, terminated.path.as_str()), (mortal.id(), "/p"));
    assert_eq!(terminated.reason, Some(StopReason::Killed));
}

#[tokio::test]
async fn stopped_of_an_actor_that_is_gone_is_ready_without_a_reason() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let mortal = named(&system, "p", &log);
    end(&mortal).await;
    let terminated = mortal.stopped().await;
    assert_eq!((terminated.path.as_str(), terminated.reason), ("/p", None));
}

#[tokio::test]
async fn a_killed_actor_is_told_of_as_killed() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (_watcher, mortal) = pair(&system, &log).await;
    mortal.kill();
    eventually("the watcher was told", || log.has("w terminated /p Some(Killed)")).await;
}

#[tokio::test]
async fn an_actor_that_failed_for_good_is_told_of_as_failed() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let failing = system.actor(Puppet::new("p", &log).maker()).name("p");
    let mortal = failing.supervision(Supervision::always(Directive::Stop)).spawn().unwrap();
    watch(&watcher, &mortal).await;
    mortal.tell(fail("broken")).await.unwrap();
    eventually("the watcher was told", || log.has("w terminated /p Some(Fault)")).await;
}

#[tokio::test]
async fn a_restart_is_no_termination() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let at_once = Supervision::default().backoff(std::time::Duration::ZERO, std::time::Duration::ZERO);
    let mortal = system.actor(Puppet::new("p", &log).maker()).name("p").supervision(at_once).spawn().unwrap();
    watch(&watcher, &mortal).await;
    mortal.tell(fail("broken")).await.unwrap();
    call(&mortal, |_, _| ()).await;
    call(&watcher, |_, _| ()).await;
    assert_eq!((log.count("p restarted"), log.count("terminated")), (1, 0));
    end(&mortal).await;
    eventually("the watcher was told", || log.has("w terminated /p Some(Requested)")).await;
}

#[tokio::test]
async fn a_child_that_goes_with_its_parent_is_told_of_so() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let watcher = system.spawn(Puppet::new("w", &log).maker());
    let parent = named(&system, "p", &log);
    let child = Puppet::new("c", &log);
    let child = call(&parent, move |_, ctx| ctx.actor(child.maker()).name("c").spawn().unwrap()).await;
    watch(&watcher, &child).await;
    end(&parent).await;
    eventually("the watcher was told", || log.has("w terminated /p/c Some(ParentStopped)")).await;
}

#[tokio::test]
async fn an_actor_of_a_system_that_shuts_down_is_told_of_to_another_system() {
    let (here, there) = (System::new("here").unwrap(), System::new("there").unwrap());
    let log = Log::default();
    let watcher = here.spawn(Puppet::new("w", &log).maker());
    watch(&watcher, &named(&there, "p", &log)).await;
    there.shutdown().await;
    eventually("the watcher was told", || log.has("w terminated /p Some(SystemStopped)")).await;
}

#[tokio::test]
async fn two_actors_may_watch_each_other() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let (one, two) = (named(&system, "one", &log), named(&system, "two", &log));
    watch(&one, &two).await;
    watch(&two, &one).await;
    end(&one).await;
    call(&two, |_, _| ()).await;
    assert!(log.has("two terminated /one Some(Requested)"));
    end(&two).await;
    assert_eq!(log.count("terminated"), 1);
}

#[tokio::test]
async fn an_actor_that_watches_itself_stops_all_the_same() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = named(&system, "p", &log);
    watch(&puppet, &puppet).await;
    end(&puppet).await;
    assert_eq!(log.count("terminated"), 0);
}

#[tokio::test]
async fn an_actor_may_watch_again_in_terminated() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let other = named(&system, "other", &log);
    let next = other.clone();
    let watcher = Puppet::new("w", &log).on_terminated(move |ctx| {
        if !next.is_stopped() {
            ctx.watch(&next);
        }
        Ok(())
    });
    let watcher = system.spawn(watcher.maker());
    let mortal = named(&system, "p", &log);
    watch(&watcher, &mortal).await;
    end(&mortal).await;
    call(&watcher, |_, _| ()).await;
    end(&other).await;
    eventually("the watcher was told", || log.has("w terminated /other Some(Requested)")).await;
}

/// Feeds itself without end, at a rank above all else.
struct Feeder(Arc<AtomicBool>);

impl Actor for Feeder {
    type Msg = Option<ActorRef<()>>;

    async fn terminated(&mut self, _: Terminated, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn receive(&mut self, watched: Self::Msg, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if let Some(watched) = watched {
            ctx.watch(&watched);
        }
        ctx.self_ref().try_tell(None)?;
        Ok(())
    }
}

struct Idler;

impl Actor for Idler {
    type Msg = ();
    async fn receive(&mut self, (): (), _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test]
async fn a_priority_mailbox_that_never_empties_does_not_hold_a_termination_back() {
    let system = System::new("test").unwrap();
    let (heard, idler) = (Arc::new(AtomicBool::new(false)), system.spawn(|| Idler));
    let share = heard.clone();
    let feeder = system
        .actor(move || Feeder(share.clone()))
        .mailbox(MailboxKind::priority(100, |_| i64::MAX))
        .spawn()
        .unwrap();
    feeder.tell(Some(idler.clone())).await.unwrap();
    idler.stop();
    eventually("the termination is heard", || heard.load(Ordering::SeqCst)).await;
    feeder.kill();
    feeder.stopped().await;
}
