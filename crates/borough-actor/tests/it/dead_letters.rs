//! A9: every message that reaches no handler is counted by reason, and told to whoever listens.

use std::any::type_name;
use std::env;
use std::process::Command;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use borough_actor::{
    Actor, ActorRef, Context, DeadLetter, DeadLetterReason, Fault, MailboxKind, Reply, Subscription, System,
};
use tokio::sync::{Semaphore, mpsc};

use crate::support::eventually;
use crate::worker::{Log, Work, Worker, hold, poll_once, soon};

/// The counts of the reasons that one system alone has, in the order of [`DeadLetterReason::ALL`].
fn counts(system: &System) -> [u64; 4] {
    let [stopped, unhandled, overflow, asker_gone, between_nodes @ ..] =
        DeadLetterReason::ALL.map(|reason| system.dead_letters().count(reason));
    assert_eq!(between_nodes, [0; 2]);
    [stopped, unhandled, overflow, asker_gone]
}

/// The next dead letter, which must be there already.
fn published(letters: &mut Subscription<DeadLetter>) -> (String, &'static str, DeadLetterReason) {
    match poll_once(&mut Box::pin(letters.next())) {
        Poll::Ready(Some(letter)) => (letter.recipient, letter.message_type, letter.reason),
        other => panic!("{other:?}"),
    }
}

fn named_worker(system: &System, kind: MailboxKind<Work>) -> ActorRef<Work> {
    system.actor(Worker::default).name("worker").mailbox(kind).spawn().unwrap()
}

#[tokio::test]
async fn a_message_to_an_actor_that_is_gone_is_counted_as_stopped() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::default());
    worker.stop();
    soon(worker.stopped()).await;
    let mut letters = system.events().subscribe::<DeadLetter>();
    worker.tell(Work::Note(1)).await.unwrap_err();
    worker.try_tell(Work::Note(2)).unwrap_err();
    worker.ask(|reply| Work::Echo(3, reply)).await.unwrap_err();
    assert_eq!(counts(&system), [3, 0, 0, 0]);
    assert_eq!(system.dead_letters().total(), 3);
    for _ in 0..3 {
        let letter = published(&mut letters);
        assert_eq!(letter, ("/worker".into(), type_name::<Work>(), DeadLetterReason::Stopped));
    }
}

#[tokio::test]
async fn what_waits_when_an_actor_stops_is_counted_as_unhandled() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::default());
    let held = hold(&worker).await;
    for n in 0..10 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    let mut letters = system.events().subscribe::<DeadLetter>();
    worker.stop();
    held.release();
    soon(worker.stopped()).await;
    assert_eq!(counts(&system), [0, 10, 0, 0]);
    for _ in 0..10 {
        let letter = published(&mut letters);
        assert_eq!(letter, ("/worker".into(), type_name::<Work>(), DeadLetterReason::Unhandled));
    }
}

#[tokio::test]
async fn what_a_quick_actor_has_in_hand_when_it_is_stopped_is_unhandled_too() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.spawn(Worker::with(&log));
    // It learns to take many at a time.
    for n in 0..5000 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    eventually("the first are handled", || log.len() == 5000).await;
    let first = hold(&worker).await;
    let mut second = Box::pin(hold(&worker));
    assert!(poll_once(&mut second).is_pending());
    for n in 0..50 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    first.release();
    // It is in a turn, and has some of the fifty in hand.
    let second = second.await;
    worker.stop();
    second.release();
    soon(worker.stopped()).await;
    assert_eq!(log.len(), 5000, "it stops after the message it is handling");
    assert_eq!(counts(&system), [0, 50, 0, 0]);
}

#[tokio::test]
async fn what_is_stashed_when_an_actor_stops_is_counted_as_unhandled() {
    struct Hoarder;
    impl Actor for Hoarder {
        type Msg = u64;
        async fn receive(&mut self, n: u64, ctx: &mut Context<Self>) -> Result<(), Fault> {
            match n {
                0 => ctx.stop(),
                n => ctx.stash(n)?,
            }
            Ok(())
        }
    }
    let system = System::new("test").unwrap();
    let hoarder = system.spawn(|| Hoarder);
    for n in [1, 2, 3, 0] {
        hoarder.tell(n).await.unwrap();
    }
    soon(hoarder.stopped()).await;
    assert_eq!(counts(&system), [0, 3, 0, 0]);
}

#[tokio::test]
async fn what_a_full_mailbox_drops_is_counted_as_overflow() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::dropping_newest(1));
    let _held = hold(&worker).await;
    let mut letters = system.events().subscribe::<DeadLetter>();
    for n in 0..4 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    assert_eq!(counts(&system), [0, 0, 3, 0]);
    for _ in 0..3 {
        let letter = published(&mut letters);
        assert_eq!(letter, ("/worker".into(), type_name::<Work>(), DeadLetterReason::Overflow));
    }
}

#[tokio::test]
async fn work_nobody_waits_for_any_more_is_counted_as_askers_gone() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::default());
    let held = hold(&worker).await;
    for n in 0..3 {
        let mut ask = worker.ask(|reply| Work::Echo(n, reply));
        assert!(poll_once(&mut ask).is_pending());
    }
    let mut letters = system.events().subscribe::<DeadLetter>();
    held.release();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [0_u64; 0]);
    assert_eq!(counts(&system), [0, 0, 0, 3]);
    for _ in 0..3 {
        let letter = published(&mut letters);
        assert_eq!(letter, ("/worker".into(), type_name::<Work>(), DeadLetterReason::AskerGone));
    }
}

#[tokio::test]
async fn what_waits_when_the_system_is_dropped_is_counted_as_unhandled() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::default());
    let _held = hold(&worker).await;
    for n in 0..5 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    let handle = system.handle();
    drop(system);
    soon(worker.stopped()).await;
    assert_eq!(handle.dead_letters().count(DeadLetterReason::Unhandled), 5);
}

#[tokio::test]
async fn a_message_that_is_handled_or_given_back_is_no_dead_letter() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::bounded(1));
    worker.tell(Work::Note(1)).await.unwrap();
    worker.ask(Work::Log).await.unwrap();
    worker.ask(Work::Forget).await.unwrap_err();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(2)).unwrap();
    worker.try_tell(Work::Note(3)).unwrap_err();
    let mut withdrawn = worker.tell(Work::Note(4));
    assert!(poll_once(&mut withdrawn).is_pending());
    drop(withdrawn);
    held.release();
    worker.ask(Work::Log).await.unwrap();
    assert_eq!(counts(&system), [0; 4]);
}

#[tokio::test]
async fn a_dead_letter_sent_through_an_adapter_is_counted_once() {
    enum Adapting {
        Adapter(Reply<ActorRef<u64>>),
        Number,
    }
    struct Adapted;
    impl Actor for Adapted {
        type Msg = Adapting;
        async fn receive(&mut self, msg: Adapting, ctx: &mut Context<Self>) -> Result<(), Fault> {
            if let Adapting::Adapter(reply) = msg {
                reply.send(ctx.adapter(|_| Adapting::Number));
            }
            Ok(())
        }
    }
    let system = System::new("test").unwrap();
    let adapted = system.spawn(|| Adapted);
    let address = adapted.ask(Adapting::Adapter).await.unwrap();
    adapted.stop();
    soon(adapted.stopped()).await;
    assert_eq!(address.tell(5).await.unwrap_err().into_message(), 5);
    assert_eq!(counts(&system), [1, 0, 0, 0]);
}

/// Hears of dead letters, one for each permit.
struct Undertaker {
    permits: Arc<Semaphore>,
    heard: mpsc::UnboundedSender<DeadLetter>,
}

impl Actor for Undertaker {
    type Msg = DeadLetter;
    async fn receive(&mut self, letter: DeadLetter, _: &mut Context<Self>) -> Result<(), Fault> {
        self.permits.acquire().await?.forget();
        self.heard.send(letter)?;
        Ok(())
    }
}

#[tokio::test]
async fn an_actor_can_listen_to_dead_letters() {
    let system = System::new("test").unwrap();
    let (heard, mut letters) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(100));
    let undertaker = system.spawn(move || Undertaker { permits: permits.clone(), heard: heard.clone() });
    system.events().subscribe_actor(&undertaker);
    let worker = named_worker(&system, MailboxKind::default());
    worker.stop();
    soon(worker.stopped()).await;
    worker.tell(Work::Note(1)).await.unwrap_err();
    let letter = soon(letters.recv()).await.unwrap();
    assert_eq!(letter.recipient, "/worker");
    assert_eq!(letter.reason, DeadLetterReason::Stopped);
}

#[tokio::test]
async fn the_log_of_dead_letters_does_not_slow_their_count() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system, MailboxKind::dropping_oldest(1));
    let _held = hold(&worker).await;
    let counted = tokio::time::timeout(Duration::from_secs(10), async {
        for n in 0..100_000 {
            worker.tell(Work::Note(n)).await.unwrap();
        }
    });
    counted.await.unwrap();
    assert_eq!(counts(&system), [0, 0, 99_999, 0]);
}

/// Fails by a stack overflow, which would end all other tests too: so it runs in a process of its own.
#[test]
fn a_listener_that_is_full_does_not_hear_of_its_own_dead_letters_without_end() {
    const NAME: &str =
        "dead_letters::a_listener_that_is_full_does_not_hear_of_its_own_dead_letters_without_end";
    const CHILD: &str = "BOROUGH_TEST_CHILD";
    if env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(a_full_listener());
    }
    let child =
        Command::new(env::current_exe().unwrap()).args([NAME, "--exact"]).env(CHILD, "1").output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}

async fn a_full_listener() {
    let system = System::new("test").unwrap();
    let (heard, _letters) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let make = move || Undertaker { permits: permits.clone(), heard: heard.clone() };
    let undertaker = system.actor(make).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    system.events().subscribe_actor(&undertaker);
    let worker = named_worker(&system, MailboxKind::default());
    worker.stop();
    soon(worker.stopped()).await;
    for n in 0..10 {
        worker.tell(Work::Note(n)).await.unwrap_err();
    }
    assert_eq!(system.dead_letters().count(DeadLetterReason::Stopped), 10);
    let overflown = system.dead_letters().count(DeadLetterReason::Overflow);
    assert!(overflown <= 10, "{overflown} letters about letters");
}
