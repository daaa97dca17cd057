//! What dropping each public future half way leaves behind: nothing but what it says.

use std::time::Duration;

use borough_actor::{DeadLetterReason, MailboxKind, StopReason, System};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::support::eventually;
use crate::worker::{Load, Log, Work, Worker, hold, pass, poll_once, soon};

#[tokio::test]
async fn a_tell_dropped_while_it_waits_is_withdrawn() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let load = Load::new(1);
    let mut waiting = worker.tell(Work::Carry(2, load.parcel(0)));
    assert!(poll_once(&mut waiting).is_pending());
    drop(waiting);
    assert_eq!(load.drops(), [1], "the message goes with its future");
    held.release();
    worker.tell(Work::Note(3)).await.unwrap();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [1, 3]);
}

#[tokio::test]
async fn a_tell_dropped_before_it_is_polled_is_withdrawn_too() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    drop(worker.tell(Work::Note(2)));
    held.release();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_tell_dropped_after_its_message_was_let_in_stays_sent() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let mut waiting = worker.tell(Work::Note(2));
    assert!(poll_once(&mut waiting).is_pending());
    held.release();
    eventually("both are handled", || log.taken() == [1, 2]).await;
    drop(waiting);
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [1, 2]);
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test]
async fn an_ask_dropped_while_it_waits_for_room_is_withdrawn() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let mut ask = worker.ask(|reply| Work::Echo(2, reply));
    assert!(poll_once(&mut ask).is_pending());
    drop(ask);
    held.release();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [1]);
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test]
async fn an_ask_dropped_while_its_message_waits_is_not_handled_but_counted() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    let held = hold(&worker).await;
    let mut ask = worker.ask(|reply| Work::Echo(1, reply));
    assert!(poll_once(&mut ask).is_pending());
    drop(ask);
    held.release();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [0_u64; 0]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 1);
}

#[tokio::test]
async fn an_ask_dropped_while_it_is_handled_is_handled_to_the_end() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    let mut ask = worker.ask(Work::Keep);
    assert!(poll_once(&mut ask).is_pending());
    assert_eq!(worker.ask(|reply| Work::Echo(1, reply)).await, Ok(1));
    drop(ask);
    worker.tell(Work::AnswerKept(2)).await.unwrap();
    assert_eq!(worker.ask(|reply| Work::Echo(3, reply)).await, Ok(3));
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test]
async fn an_ask_dropped_with_its_answer_unread_leaves_the_next_one_alone() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.spawn(Worker::with(&log));
    for n in 0..100 {
        let mut ask = worker.ask(|reply| Work::Echo(2 * n, reply));
        assert!(poll_once(&mut ask).is_pending());
        eventually("it is answered", || log.taken().contains(&(2 * n))).await;
        drop(ask);
        assert_eq!(worker.ask(|reply| Work::Echo(2 * n + 1, reply)).await, Ok(2 * n + 1));
    }
}

#[tokio::test]
async fn waiting_for_an_end_can_be_given_up_and_begun_again() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    for _ in 0..100 {
        let mut stopped = worker.stopped();
        assert!(poll_once(&mut stopped).is_pending());
    }
    assert!(!worker.is_stopped(), "giving up a wait stops nobody");
    let mut other = worker.stopped();
    assert!(poll_once(&mut other).is_pending());
    worker.stop();
    assert_eq!(soon(worker.stopped()).await.id, worker.id());
    assert_eq!(soon(other).await.reason, Some(StopReason::Requested));
}

#[tokio::test]
async fn no_event_is_lost_with_a_next_that_is_given_up() {
    let system = System::new("test").unwrap();
    let mut events = system.events().subscribe::<u64>();
    for n in 0..100 {
        assert!(poll_once(&mut Box::pin(events.next())).is_pending());
        let waiting = timeout(Duration::from_secs(10), async {
            tokio::select! {
                biased;
                () = tokio::task::yield_now() => None,
                event = events.next() => event,
            }
        });
        assert_eq!(soon(waiting).await, Ok(None), "nothing was published yet");
        system.events().publish(n);
        assert_eq!(events.next().await, Some(n));
    }
    assert_eq!(events.lost(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_goes_on_when_nobody_waits_for_it() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    let (done, is_done) = oneshot::channel();
    system
        .on_shutdown("release", "say so", move || async move {
            pass(Duration::from_secs(1)).await;
            done.send(()).unwrap();
        })
        .unwrap();
    let begun = Instant::now();
    assert!(poll_once(&mut Box::pin(system.shutdown())).is_pending());
    soon(is_done).await.unwrap();
    assert!(worker.is_stopped());
    let report = system.shutdown().await;
    assert!(report.is_clean());
    assert_eq!(begun.elapsed(), Duration::from_secs(1), "it was run once");
}

#[tokio::test]
async fn waiting_for_a_shutdown_can_be_given_up_and_begins_none() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    assert!(poll_once(&mut Box::pin(system.terminated())).is_pending());
    assert_eq!(worker.ask(|reply| Work::Echo(1, reply)).await, Ok(1));
    let mut other = Box::pin(system.terminated());
    assert!(poll_once(&mut other).is_pending());
    system.begin_shutdown();
    assert!(soon(other).await.is_clean());
    assert!(system.terminated().await.is_clean(), "also for one who comes late");
}
