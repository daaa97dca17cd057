//! A1: telling.

use std::collections::HashMap;
use std::thread;

use borough_actor::{
    Actor, ActorRef, Context, DeadLetterReason, Fault, MailboxKind, System, TellError, TryTellError,
};
use proptest::prelude::*;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{JoinSet, spawn_blocking};

use crate::support::{Record, Recorder, eventually};
use crate::worker::{Load, Log, Work, Worker, hold, poll_once, soon};

/// Numbers of one sender: far from those of any other.
fn numbered(sender: u64, n: u64) -> u64 {
    sender * 1_000_000 + n
}

/// Splits what a recorder saw by sender, in the order seen.
fn by_sender(notes: &[u64]) -> HashMap<u64, Vec<u64>> {
    let mut senders: HashMap<u64, Vec<u64>> = HashMap::new();
    for note in notes {
        senders.entry(note / 1_000_000).or_default().push(note % 1_000_000);
    }
    senders
}

#[tokio::test]
async fn messages_of_one_sender_are_handled_in_order() {
    let system = System::new("test").unwrap();
    let recorder = system.spawn(Recorder::default);
    for n in 0..10_000 {
        recorder.tell(Record::Note(n)).await.unwrap();
    }
    assert_eq!(recorder.ask(Record::Notes).await.unwrap(), (0..10_000).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_order_of_each_of_many_senders_is_kept() {
    let system = System::new("test").unwrap();
    let recorder = system.actor(Recorder::default).mailbox(MailboxKind::bounded(16)).spawn().unwrap();
    let mut senders = JoinSet::new();
    for sender in 0..8 {
        let recorder = recorder.clone();
        senders.spawn(async move {
            for n in 0..2000 {
                recorder.tell(Record::Note(numbered(sender, n))).await.unwrap();
            }
        });
    }
    soon(senders.join_all()).await;
    let seen = by_sender(&recorder.ask(Record::Notes).await.unwrap());
    assert_eq!(seen.len(), 8);
    for (sender, notes) in seen {
        assert_eq!(notes, (0..2000).collect::<Vec<_>>(), "sender {sender}");
    }
}

#[tokio::test]
async fn a_tell_to_a_full_mailbox_waits_until_there_is_room() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(2)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.tell(Work::Note(1)).await.unwrap();
    worker.tell(Work::Note(2)).await.unwrap();

    let mut third = worker.tell(Work::Note(3));
    assert!(poll_once(&mut third).is_pending());
    held.release();
    soon(third).await.unwrap();
    eventually("all three are handled", || log.taken() == [1, 2, 3]).await;
}

#[tokio::test]
async fn a_tell_that_waits_in_line_gets_its_message_back_when_the_actor_stops() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.tell(Work::Note(1)).await.unwrap();
    let mut waiting = worker.tell(Work::Note(2));
    assert!(poll_once(&mut waiting).is_pending());

    worker.stop();
    held.release();
    let refused = soon(waiting).await.unwrap_err();
    assert!(matches!(refused, TellError::Stopped(Work::Note(2))));
}

#[tokio::test]
async fn a_message_for_which_there_is_room_is_accepted_by_the_call_itself() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.spawn(Worker::with(&log));
    drop(worker.tell(Work::Note(1)));
    eventually("the message is handled", || log.taken() == [1]).await;
}

#[tokio::test]
async fn try_tell_gives_the_message_back_when_the_mailbox_is_full() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();

    let refused = worker.try_tell(Work::Note(2)).unwrap_err();
    assert!(refused.is_full() && !refused.may_have_been_handled());
    assert!(matches!(refused.into_message(), Work::Note(2)));
    assert_eq!(system.dead_letters().total(), 0, "the sender has it, so it is not dead");
    held.release();
    eventually("the first is handled", || log.taken() == [1]).await;
}

#[tokio::test]
async fn try_tell_gives_the_message_back_when_the_actor_is_gone() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    worker.stop();
    soon(worker.stopped()).await;
    let refused = worker.try_tell(Work::Note(1)).unwrap_err();
    assert!(matches!(refused, TryTellError::Stopped(Work::Note(1))));
}

/// Four threads against a mailbox of two messages: they block more often than not.
async fn threads_tell_and_block() {
    let system = System::new("test").unwrap();
    let recorder = system.actor(Recorder::default).mailbox(MailboxKind::bounded(2)).spawn().unwrap();
    let threads: Vec<_> = (0..4)
        .map(|sender| {
            let recorder = recorder.clone();
            thread::spawn(move || {
                for n in 0..1000 {
                    recorder.blocking_tell(Record::Note(numbered(sender, n))).unwrap();
                }
            })
        })
        .collect();
    spawn_blocking(|| threads.into_iter().for_each(|thread| thread.join().unwrap())).await.unwrap();
    let seen = by_sender(&recorder.ask(Record::Notes).await.unwrap());
    assert_eq!(seen.len(), 4);
    for (sender, notes) in seen {
        assert_eq!(notes, (0..1000).collect::<Vec<_>>(), "thread {sender}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_tells_of_threads_lose_nothing_and_keep_each_threads_order() {
    threads_tell_and_block().await;
}

#[tokio::test(flavor = "current_thread")]
async fn blocking_tells_reach_an_actor_on_a_current_thread_runtime() {
    threads_tell_and_block().await;
}

#[tokio::test]
async fn a_blocking_tell_that_waits_gets_its_message_back_when_the_actor_stops() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let blocked = {
        let worker = worker.clone();
        spawn_blocking(move || worker.blocking_tell(Work::Note(2)).map_err(TellError::into_message))
    };
    worker.stop();
    held.release();
    assert!(matches!(soon(blocked).await.unwrap(), Err(Work::Note(2))));
}

#[tokio::test]
async fn every_message_is_dropped_exactly_once_whatever_becomes_of_it() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(8)).spawn().unwrap();
    let load = Load::new(24);
    let carry = |n: usize| Work::Carry(n as u64, load.parcel(n));

    for n in 0..4 {
        worker.tell(carry(n)).await.unwrap(); // handled
    }
    eventually("four are handled", || log.len() == 4).await;
    let held = hold(&worker).await;
    for n in 4..12 {
        worker.tell(carry(n)).await.unwrap(); // in the queue when the actor stops
    }
    let mut waiting: Vec<_> = (12..16).map(|n| worker.tell(carry(n))).collect();
    for tell in &mut waiting {
        assert!(poll_once(tell).is_pending());
    }
    waiting.truncate(2); // two withdrawn, two in line when the actor stops
    let refused: Vec<_> = (16..20).map(|n| worker.try_tell(carry(n)).unwrap_err()).collect();
    assert_eq!(load.dropped(), 4 + 2, "the others are in the mailbox, in line, or given back");
    drop(refused);
    assert_eq!(load.dropped(), 4 + 2 + 4);

    worker.stop();
    held.release();
    soon(worker.stopped()).await;
    for tell in waiting {
        drop(soon(tell).await.unwrap_err());
    }
    for n in 20..24 {
        drop(worker.tell(carry(n)).await.unwrap_err());
    }
    assert_eq!(load.drops(), vec![1; 24]);
    assert_eq!(log.taken(), [0, 1, 2, 3]);
}

#[tokio::test]
async fn of_a_hundred_waiting_senders_those_not_cancelled_enter_in_line() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(4)).spawn().unwrap();
    let held = hold(&worker).await;
    for n in 1000..1004 {
        worker.tell(Work::Note(n)).await.unwrap();
    }
    let load = Load::new(100);
    let mut line: Vec<_> = (0..100)
        .map(|n| (n, worker.tell(Work::Carry(n, load.parcel(usize::try_from(n).unwrap())))))
        .collect();
    for (_, tell) in &mut line {
        assert!(poll_once(tell).is_pending());
    }

    let cancelled = |n: u64| n.is_multiple_of(3) || (40..60).contains(&n) || n == 98;
    line.retain(|(n, _)| !cancelled(*n));
    for (n, drops) in (0..).zip(load.drops()) {
        assert_eq!(drops, usize::from(cancelled(n)), "message {n}");
    }
    held.release();
    // Awaited from the back: the order is that of the line, not that of the awaits.
    for (_, tell) in line.into_iter().rev() {
        soon(tell).await.unwrap();
    }
    let arrive: Vec<_> = (1000..1004).chain((0..100).filter(|n| !cancelled(*n))).collect();
    eventually("all that are left are handled", || log.len() >= arrive.len()).await;
    assert_eq!(log.taken(), arrive);
    assert_eq!(load.drops(), vec![1; 100]);
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn senders_cancelled_while_others_are_admitted_hold_up_nobody() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.actor(Worker::with(&log)).mailbox(MailboxKind::bounded(2)).spawn().unwrap();
    let load = Load::new(4000);
    let mut senders = JoinSet::new();
    let mut cancelled = Vec::new();
    for n in 0..4000_usize {
        let worker = worker.clone();
        let carry = Work::Carry(n as u64, load.parcel(n));
        let sender = senders.spawn(async move { worker.tell(carry).await.unwrap() });
        if n % 4 == 0 {
            cancelled.push(n as u64);
            sender.abort();
        }
    }
    while let Some(sent) = soon(senders.join_next()).await {
        assert!(sent.is_ok() || sent.unwrap_err().is_cancelled());
    }
    eventually("every message is dropped", || load.dropped() >= 4000).await;
    assert_eq!(load.drops(), vec![1; 4000]);
    let mut handled = log.taken();
    handled.sort_unstable();
    assert!(handled.is_sorted_by(|a, b| a < b), "a message was handled twice");
    let missing: Vec<_> =
        (0..4000).filter(|n| handled.binary_search(n).is_err() && !cancelled.contains(n)).collect();
    assert_eq!(missing, [0_u64; 0], "accepted and not handled");
}

/// The memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_million_messages_to_a_stopped_actor_come_back_and_cost_no_memory() {
    struct Sink;
    impl Actor for Sink {
        type Msg = [u64; 32];
        async fn receive(&mut self, _: [u64; 32], _: &mut Context<Self>) -> Result<(), Fault> {
            Ok(())
        }
    }
    let system = System::new("test").unwrap();
    let sink = system.spawn(|| Sink);
    sink.stop();
    soon(sink.stopped()).await;
    let before = resident();
    for n in 0..1_000_000 {
        match sink.tell([n; 32]).await {
            Err(TellError::Stopped(message)) => assert_eq!(message, [n; 32]),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(system.dead_letters().count(DeadLetterReason::Stopped), 1_000_000);
    assert_eq!(system.dead_letters().total(), 1_000_000);
    // Kept, they would be 256 MB; tests that run at the same time need some too.
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "{} MB more", grown >> 20);
}

/// Each thread tries each of its numbers once; gives those that were accepted, thread by thread.
fn try_from_threads(recorder: &ActorRef<Record>, counts: &[u64]) -> Vec<Vec<u64>> {
    let threads: Vec<_> = (0..)
        .zip(counts.iter().copied())
        .map(|(sender, count)| {
            let recorder = recorder.clone();
            thread::spawn(move || {
                let mut accepted = Vec::new();
                for n in 0..count {
                    match recorder.try_tell(Record::Note(numbered(sender, n))) {
                        Ok(()) => accepted.push(n),
                        Err(TryTellError::Full(Record::Note(back))) => {
                            assert_eq!(back, numbered(sender, n));
                            thread::yield_now();
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
                accepted
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn try_tell_under_contention_loses_nothing_and_doubles_nothing(
        capacity in 1_u32..8,
        counts in prop::collection::vec(1_u64..400, 2..5),
    ) {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (accepted, handled) = runtime.block_on(async {
            let system = System::new("test").unwrap();
            let recorder =
                system.actor(Recorder::default).mailbox(MailboxKind::bounded(capacity)).spawn().unwrap();
            let telling = recorder.clone();
            let accepted = spawn_blocking(move || try_from_threads(&telling, &counts)).await.unwrap();
            (accepted, recorder.ask(Record::Notes).await.unwrap())
        });
        let handled = by_sender(&handled);
        for (sender, accepted) in (0_u64..).zip(accepted) {
            prop_assert_eq!(handled.get(&sender).cloned().unwrap_or_default(), accepted);
        }
    }
}

/// With the mailbox nearly full, and its actor waiting for the very sender that stands in line.
#[tokio::test(start_paused = true)]
async fn a_sender_in_line_is_let_in_while_the_handler_awaits_it() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    let (begun, has_begun) = oneshot::channel();
    let (release, released) = oneshot::channel();
    worker.try_tell(Work::Hold(begun, released)).unwrap();
    for n in 0..1023 {
        worker.try_tell(Work::Note(n)).unwrap();
    }
    let mut in_line = worker.tell(Work::Note(1023));
    assert!(poll_once(&mut in_line).is_pending(), "the mailbox is full");
    soon(has_begun).await.unwrap();
    soon(in_line).await.unwrap();
    release.send(()).unwrap();
    assert_eq!(soon(worker.ask(Work::Log)).await.unwrap(), (0..1024).collect::<Vec<_>>());
}
