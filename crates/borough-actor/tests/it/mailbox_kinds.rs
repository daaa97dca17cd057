//! A8: the kinds of mailbox, and what each does at its bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use borough_actor::{
    Actor, ActorRef, AskError, Context, DEFAULT_CAPACITY, DeadLetterReason, Fault, MailboxKind, System,
    TellError,
};
use tokio::task::JoinSet;

use crate::support::eventually;
use crate::worker::{Held, Log, Work, Worker, hold, poll_once, soon};

/// A worker with this mailbox that is in a turn, so that what is sent to it waits.
async fn busy(system: &System, kind: MailboxKind<Work>) -> (ActorRef<Work>, Log, Held) {
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).name("worker").mailbox(kind).spawn().unwrap();
    let held = hold(&worker).await;
    (worker, log, held)
}

/// How many notes a busy worker takes before it is full.
fn fill(worker: &ActorRef<Work>) -> u32 {
    let mut taken = 0;
    while worker.try_tell(Work::Note(taken)).is_ok() {
        taken += 1;
    }
    u32::try_from(taken).unwrap()
}

#[tokio::test]
async fn a_mailbox_holds_1024_messages_unless_told_otherwise() {
    let system = System::new("test").unwrap();
    let (worker, _, _held) = busy(&system, MailboxKind::default()).await;
    assert_eq!(fill(&worker), DEFAULT_CAPACITY);
    assert_eq!(DEFAULT_CAPACITY, 1024);
}

#[tokio::test]
async fn a_bounded_mailbox_holds_as_many_messages_as_it_is_told() {
    let system = System::new("test").unwrap();
    let (worker, _, _held) = busy(&system, MailboxKind::bounded(7)).await;
    assert_eq!(fill(&worker), 7);
}

#[tokio::test]
async fn a_capacity_of_nothing_is_taken_as_one() {
    let system = System::new("test").unwrap();
    let (worker, _, _held) = busy(&system, MailboxKind::bounded(0)).await;
    assert_eq!(fill(&worker), 1);
}

#[tokio::test]
async fn a_rejecting_mailbox_refuses_a_tell_at_once_and_gives_the_message_back() {
    let system = System::new("test").unwrap();
    let (worker, log, held) = busy(&system, MailboxKind::rejecting(2)).await;
    worker.tell(Work::Note(1)).await.unwrap();
    worker.tell(Work::Note(2)).await.unwrap();
    match poll_once(&mut worker.tell(Work::Note(3))) {
        Poll::Ready(Err(TellError::Full(Work::Note(3)))) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(system.dead_letters().total(), 0);
    held.release();
    eventually("there is room again", || worker.try_tell(Work::Note(4)).is_ok()).await;
    eventually("the accepted ones are handled", || log.taken() == [1, 2, 4]).await;
}

#[tokio::test]
async fn an_ask_of_a_full_rejecting_mailbox_fails_at_once() {
    let system = System::new("test").unwrap();
    let (worker, _, _held) = busy(&system, MailboxKind::rejecting(1)).await;
    worker.tell(Work::Note(1)).await.unwrap();
    let error = worker.ask(|reply| Work::Echo(2, reply)).await.unwrap_err();
    assert_eq!(error, AskError::Full { path: "/worker".into() });
    assert!(!error.may_have_been_handled());
}

#[tokio::test]
async fn a_mailbox_that_drops_the_oldest_keeps_the_newest() {
    let system = System::new("test").unwrap();
    let (worker, log, held) = busy(&system, MailboxKind::dropping_oldest(3)).await;
    for n in 0..10 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    assert_eq!(system.dead_letters().count(DeadLetterReason::Overflow), 7);
    assert_eq!(system.dead_letters().total(), 7);
    held.release();
    eventually("those kept are handled", || log.taken() == [7, 8, 9]).await;
}

#[tokio::test]
async fn a_mailbox_that_drops_the_newest_keeps_the_oldest() {
    let system = System::new("test").unwrap();
    let (worker, log, held) = busy(&system, MailboxKind::dropping_newest(3)).await;
    for n in 0..10 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    assert_eq!(system.dead_letters().count(DeadLetterReason::Overflow), 7);
    assert_eq!(system.dead_letters().total(), 7);
    held.release();
    eventually("those kept are handled", || log.taken() == [0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_is_pushed_out_fails_at_once() {
    let system = System::new("test").unwrap();
    let (worker, _, _held) = busy(&system, MailboxKind::dropping_oldest(1)).await;
    let begun = tokio::time::Instant::now();
    let mut pushed_out = worker.ask(|reply| Work::Echo(1, reply));
    assert!(poll_once(&mut pushed_out).is_pending());
    worker.tell(Work::Note(2)).await.unwrap();
    let error = pushed_out.await.unwrap_err();
    assert_eq!(error, AskError::Discarded { path: "/worker".into() });
    assert!(!error.may_have_been_handled());
    assert_eq!(begun.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_is_dropped_as_the_newest_fails_at_once() {
    let system = System::new("test").unwrap();
    let (worker, _, _held) = busy(&system, MailboxKind::dropping_newest(1)).await;
    worker.tell(Work::Note(1)).await.unwrap();
    let begun = tokio::time::Instant::now();
    let error = worker.ask(|reply| Work::Echo(2, reply)).await.unwrap_err();
    assert_eq!(error, AskError::Discarded { path: "/worker".into() });
    assert_eq!(begun.elapsed().as_millis(), 0);
}

#[tokio::test]
async fn a_mailbox_that_drops_keeps_its_bound_while_the_end_the_actor_was_told_of_waits_in_it() {
    let system = System::new("test").unwrap();
    let (worker, _, held) = busy(&system, MailboxKind::dropping_oldest(2)).await;
    worker.stop_when_drained();
    for n in 0..10_000 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    let kept = 10_000 - system.dead_letters().count(DeadLetterReason::Overflow);
    assert!(kept <= 2, "{kept} messages wait");
    held.release();
    soon(worker.stopped()).await;
}

#[tokio::test]
async fn an_unbounded_mailbox_takes_everything_in_order() {
    let system = System::new("test").unwrap();
    let (worker, log, held) = busy(&system, MailboxKind::unbounded()).await;
    for n in 0..100_000 {
        worker.try_tell(Work::Note(n)).unwrap();
    }
    held.release();
    eventually("all are handled", || log.len() == 100_000).await;
    assert!(log.taken().into_iter().eq(0..100_000));
}

/// Notes rank by their tens, everything else lowest.
fn by_tens(work: &Work) -> i64 {
    match work {
        Work::Note(n) | Work::Echo(n, _) => i64::try_from(*n / 10).unwrap(),
        _ => -1,
    }
}

#[tokio::test]
async fn higher_ranks_go_first_and_equal_ranks_in_order_of_arrival() {
    let system = System::new("test").unwrap();
    let (worker, _, held) = busy(&system, MailboxKind::priority(100, by_tens)).await;
    for n in [10, 30, 11, 20, 31, 12, 21, 0, 32] {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    held.release();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [30, 31, 32, 20, 21, 10, 11, 12, 0]);
}

#[tokio::test]
async fn an_urgent_message_overtakes_all_that_waits_even_behind_a_quick_actor() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let rank = |work: &Work| if matches!(work, Work::Hold(..)) { 1000 } else { by_tens(work) };
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::priority(5000, rank)).spawn().unwrap();
    // Quick enough to be given many messages at a time, were it not for their ranks.
    for _ in 0..2000 {
        worker.tell(Work::Note(0)).await.unwrap();
    }
    eventually("the first are handled", || log.len() == 2000).await;
    let first = hold(&worker).await;
    for n in 10..20 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    let mut second = Box::pin(hold(&worker));
    assert!(poll_once(&mut second).is_pending());
    first.release();
    let second = second.await;
    worker.tell(Work::Note(990)).await.unwrap();
    second.release();
    eventually("all are handled", || log.len() == 2011).await;
    assert_eq!(log.taken()[2000], 990);
}

#[tokio::test]
async fn senders_wait_for_room_in_a_priority_mailbox() {
    let system = System::new("test").unwrap();
    let (worker, log, held) = busy(&system, MailboxKind::priority(2, by_tens)).await;
    worker.tell(Work::Note(10)).await.unwrap();
    worker.tell(Work::Note(20)).await.unwrap();
    let mut third = worker.tell(Work::Note(30));
    assert!(poll_once(&mut third).is_pending());
    held.release();
    soon(third).await.unwrap();
    eventually("all are handled", || log.len() == 3).await;
}

#[tokio::test]
async fn asks_are_ranked_like_tells() {
    let system = System::new("test").unwrap();
    let (worker, log, held) = busy(&system, MailboxKind::priority(10, by_tens)).await;
    worker.tell(Work::Note(10)).await.unwrap();
    let mut ask = worker.ask(|reply| Work::Echo(20, reply));
    assert!(poll_once(&mut ask).is_pending());
    held.release();
    assert_eq!(ask.await.unwrap(), 20);
    eventually("both are handled", || log.taken() == [20, 10]).await;
}

#[tokio::test]
async fn an_actor_survives_a_rank_that_panics_for_a_sender_in_line() {
    let system = System::new("test").unwrap();
    let rank = |work: &Work| match work {
        Work::Note(13) => panic!("no rank for this one"),
        _ => 0,
    };
    let (worker, log, held) = busy(&system, MailboxKind::priority(1, rank)).await;
    worker.tell(Work::Note(1)).await.unwrap();
    let unlucky = tokio::spawn({
        let worker = worker.clone();
        async move { worker.tell(Work::Note(13)).await }
    });
    tokio::task::yield_now().await;
    held.release();
    // Whether the sender panics or is told `Ok` is not said; that it ends is.
    eventually("the sender ends", || unlucky.is_finished()).await;
    worker.tell(Work::Note(2)).await.unwrap();
    eventually("the actor goes on", || log.taken() == [1, 2]).await;
}

/// A message that knows how many of its kind there are, and how many there were at most.
struct Counted(Arc<Census>);

#[derive(Default)]
struct Census {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Counted {
    fn new(census: &Arc<Census>) -> Self {
        let now = census.now.fetch_add(1, Ordering::SeqCst) + 1;
        census.most.fetch_max(now, Ordering::SeqCst);
        Self(census.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Consumer;

impl Actor for Consumer {
    type Msg = Counted;
    async fn receive(&mut self, _: Counted, _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_more_messages_are_in_memory_than_the_capacity_and_a_quarter_of_it() {
    const CAPACITY: u32 = 64;
    const SENDERS: usize = 4;
    let system = System::new("test").unwrap();
    let consumer = system.actor(|| Consumer).mailbox(MailboxKind::bounded(CAPACITY)).spawn().unwrap();
    let census = Arc::new(Census::default());
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let (consumer, census) = (consumer.clone(), census.clone());
        senders.spawn(async move {
            for _ in 0..10_000 {
                consumer.tell(Counted::new(&census)).await.unwrap();
            }
        });
    }
    soon(senders.join_all()).await;
    let most = census.most.load(Ordering::SeqCst);
    let bound = (CAPACITY + CAPACITY / 4) as usize;
    assert!(most <= bound + SENDERS, "{most} at a time, beside one in the hands of each sender");
}
