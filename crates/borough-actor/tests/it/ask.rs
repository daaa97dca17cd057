//! A2: asking, answering, and every way in which no answer comes.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use borough_actor::{
    Actor, ActorRef, AskError, Context, DEFAULT_ASK_TIMEOUT, DeadLetterReason, Directive, Fault, MailboxKind,
    Reply, Supervision, System, TellError,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, advance};

use crate::support::eventually;
use crate::worker::{Held, Log, Work, Worker, hold, pass, poll_once, soon};

/// How much later than its timeout an ask may end: two sweeps, and the grain of tokio's clock.
const LATE: Duration = Duration::from_millis(23);

fn named_worker(system: &System) -> ActorRef<Work> {
    system.actor(Worker::default).name("worker").spawn().unwrap()
}

fn worker_path() -> String {
    "/worker".into()
}

#[tokio::test(start_paused = true)]
async fn an_ask_ends_after_five_seconds_unless_told_otherwise() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let begun = Instant::now();
    let error = worker.ask(Work::Keep).await.unwrap_err();
    let took = begun.elapsed();
    let timeout = Duration::from_secs(5);
    assert_eq!(DEFAULT_ASK_TIMEOUT, timeout);
    assert_eq!(error, AskError::Timeout { path: worker_path(), timeout, accepted: true });
    assert!(error.may_have_been_handled());
    assert!(took >= timeout && took <= timeout + LATE, "{took:?}");
}

#[tokio::test]
async fn a_reply_that_was_handed_on_to_one_who_never_saw_it_may_have_been_handled() {
    let system = System::new("test").unwrap();
    let (worker, other) = (system.spawn(Worker::default), system.spawn(Worker::default));
    let held = hold(&other).await;
    let mut asked = Box::pin(worker.ask(|reply| Work::PassOn(Box::new(other.clone()), reply)));
    assert!(poll_once(&mut asked).is_pending());
    soon(worker.ask(|reply| Work::Echo(1, reply))).await.unwrap();
    other.stop();
    drop(held);
    let error = soon(asked).await.unwrap_err();
    assert!(matches!(error, AskError::NoAnswer { .. }) && error.may_have_been_handled(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_system_may_have_a_timeout_of_its_own() {
    let timeout = Duration::from_millis(300);
    let system = System::builder("test").ask_timeout(timeout).start().unwrap();
    let worker = system.spawn(Worker::default);
    let begun = Instant::now();
    worker.ask(Work::Keep).await.unwrap_err();
    let took = begun.elapsed();
    assert!(took >= timeout && took <= timeout + LATE, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_never_comes_early_and_hardly_late() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    for millis in [0, 1, 5, 9, 10, 11, 50, 99, 1000, 3333] {
        for offset in [0, 3, 7] {
            advance(Duration::from_millis(offset)).await;
            let timeout = Duration::from_millis(millis);
            let begun = Instant::now();
            let error = worker.ask(Work::Keep).timeout(timeout).await.unwrap_err();
            let took = begun.elapsed();
            assert!(matches!(error, AskError::Timeout { timeout: said, .. } if said == timeout));
            assert!(took >= timeout && took <= timeout + LATE, "{timeout:?} took {took:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_come_in_time_after_the_sweeper_has_gone_to_rest() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    for _ in 0..3 {
        pass(Duration::from_secs(10)).await;
        let begun = Instant::now();
        worker.ask(Work::Keep).timeout(Duration::from_millis(500)).await.unwrap_err();
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(500) && took <= Duration::from_millis(500) + LATE, "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_beats_the_longest_timeout_and_the_shortest() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    for timeout in [Duration::MAX, Duration::from_millis(1)] {
        assert_eq!(worker.ask(|reply| Work::Echo(1, reply)).timeout(timeout).await, Ok(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_reply_fails_the_ask_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let begun = Instant::now();
    let error = worker.ask(Work::Forget).await.unwrap_err();
    assert_eq!(error, AskError::NoAnswer { path: worker_path() });
    assert!(error.may_have_been_handled());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_fails_the_ask_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let begun = Instant::now();
    let error = worker.ask(Work::Fail).await.unwrap_err();
    assert_eq!(error, AskError::NoAnswer { path: worker_path() });
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_is_gone_fails_the_ask_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    worker.stop();
    soon(worker.stopped()).await;
    let begun = Instant::now();
    let error = worker.ask(|reply| Work::Echo(1, reply)).await.unwrap_err();
    assert_eq!(error, AskError::Stopped { path: worker_path() });
    assert!(!error.may_have_been_handled());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_waits_in_the_mailbox_of_an_actor_that_stops_is_discarded_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let held = hold(&worker).await;
    let mut ask = worker.ask(|reply| Work::Echo(1, reply));
    assert!(poll_once(&mut ask).is_pending());
    let begun = Instant::now();
    worker.stop();
    held.release();
    let error = ask.await.unwrap_err();
    assert_eq!(error, AskError::Discarded { path: worker_path() });
    assert!(!error.may_have_been_handled());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_waits_for_room_of_an_actor_that_stops_fails_at_once() {
    let system = System::new("test").unwrap();
    let worker =
        system.actor(Worker::default).name("worker").mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let mut ask = worker.ask(|reply| Work::Echo(2, reply));
    assert!(poll_once(&mut ask).is_pending());
    let begun = Instant::now();
    worker.stop();
    held.release();
    let error = ask.await.unwrap_err();
    assert_eq!(error, AskError::Stopped { path: worker_path() });
    assert!(!error.may_have_been_handled());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_reply_kept_by_an_actor_that_is_killed_fails_the_ask_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let mut ask = worker.ask(Work::Keep);
    assert!(poll_once(&mut ask).is_pending());
    worker.ask(|reply| Work::Echo(1, reply)).await.unwrap();
    let begun = Instant::now();
    worker.kill();
    let error = ask.await.unwrap_err();
    assert_eq!(error, AskError::NoAnswer { path: worker_path() });
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_finds_no_room_in_time_is_withdrawn() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker =
        system.actor(Worker::with(&log)).name("worker").mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let timeout = Duration::from_millis(100);
    let begun = Instant::now();
    let error = worker.ask(|reply| Work::Echo(2, reply)).timeout(timeout).await.unwrap_err();
    let took = begun.elapsed();
    assert_eq!(error, AskError::Timeout { path: worker_path(), timeout, accepted: false });
    assert!(!error.may_have_been_handled());
    assert!(took >= timeout && took <= timeout + LATE, "{took:?}");

    held.release();
    worker.tell(Work::Note(3)).await.unwrap();
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [1, 3]);
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_time_spent_waiting_for_room_counts() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let timeout = Duration::from_secs(1);
    let begun = Instant::now();
    let mut ask = worker.ask(Work::Keep).timeout(timeout);
    assert!(poll_once(&mut ask).is_pending());
    pass(Duration::from_millis(700)).await;
    held.release();
    let error = ask.await.unwrap_err();
    let took = begun.elapsed();
    assert!(error.may_have_been_handled());
    assert!(took >= timeout && took <= timeout + LATE, "{took:?}");
}

#[tokio::test]
async fn an_ask_that_waited_for_room_is_answered() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    let mut ask = worker.ask(|reply| Work::Echo(2, reply));
    assert!(poll_once(&mut ask).is_pending());
    held.release();
    assert_eq!(ask.await, Ok(2));
}

#[tokio::test]
async fn nothing_is_sent_before_the_ask_is_polled() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    drop(worker.ask(|reply| Work::Echo(1, reply)));
    assert_eq!(worker.ask(Work::Log).await.unwrap(), [0_u64; 0]);
}

/// Hands its replies out, so that a test can answer them.
struct Clerk(mpsc::UnboundedSender<Reply<u64>>);

impl Actor for Clerk {
    type Msg = Reply<u64>;
    async fn receive(&mut self, reply: Reply<u64>, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.send(reply)?;
        Ok(())
    }
}

fn clerk(system: &System) -> (ActorRef<Reply<u64>>, mpsc::UnboundedReceiver<Reply<u64>>) {
    let (hand_out, replies) = mpsc::unbounded_channel();
    (system.spawn(move || Clerk(hand_out.clone())), replies)
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_timeout_is_given_back() {
    let system = System::new("test").unwrap();
    let (clerk, mut replies) = clerk(&system);
    clerk.ask(|reply| reply).timeout(Duration::from_millis(50)).await.unwrap_err();
    let late = soon(replies.recv()).await.unwrap();
    assert!(!late.is_wanted());
    assert_eq!(late.try_send(7), Err(7));
}

#[tokio::test]
async fn an_answer_to_an_ask_that_was_dropped_is_given_back() {
    let system = System::new("test").unwrap();
    let (clerk, mut replies) = clerk(&system);
    let mut ask = clerk.ask(|reply| reply);
    assert!(poll_once(&mut ask).is_pending());
    let reply = soon(replies.recv()).await.unwrap();
    assert!(reply.is_wanted());
    drop(ask);
    assert!(!reply.is_wanted());
    assert_eq!(reply.try_send(7), Err(7));
}

#[tokio::test]
async fn a_late_answer_does_not_reach_the_next_ask() {
    let system = System::new("test").unwrap();
    let (clerk, mut replies) = clerk(&system);
    let mut first = clerk.ask(|reply| reply);
    assert!(poll_once(&mut first).is_pending());
    let late = soon(replies.recv()).await.unwrap();
    drop(first);
    let mut second = clerk.ask(|reply| reply);
    assert!(poll_once(&mut second).is_pending());
    let reply = soon(replies.recv()).await.unwrap();
    assert_eq!(late.try_send(1), Err(1));
    assert!(poll_once(&mut second).is_pending());
    reply.send(2);
    assert_eq!(second.await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn work_whose_asker_ran_out_of_time_is_dropped_unhandled() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.spawn(Worker::with(&log));
    let held = hold(&worker).await;
    worker.ask(|reply| Work::Echo(1, reply)).timeout(Duration::from_millis(50)).await.unwrap_err();
    held.release();
    assert_eq!(worker.ask(|reply| Work::Echo(2, reply)).await, Ok(2));
    assert_eq!(log.taken(), [2]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 1);
    assert_eq!(system.dead_letters().total(), 1);
}

#[tokio::test]
async fn work_whose_asker_gave_up_is_dropped_unhandled() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let worker = system.spawn(Worker::with(&log));
    let held = hold(&worker).await;
    let mut given_up = worker.ask(|reply| Work::Echo(1, reply));
    assert!(poll_once(&mut given_up).is_pending());
    let mut still_wanted = worker.ask(|reply| Work::Echo(2, reply));
    assert!(poll_once(&mut still_wanted).is_pending());
    drop(given_up);
    held.release();
    assert_eq!(still_wanted.await, Ok(2));
    assert_eq!(log.taken(), [2]);
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 1);
    assert_eq!(system.dead_letters().total(), 1);
}

#[tokio::test]
async fn asks_given_up_long_ago_do_not_make_later_ones_look_given_up() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    for round in 0..2000 {
        let mut kept = worker.ask(Work::Keep);
        assert!(poll_once(&mut kept).is_pending());
        drop(kept);
        assert_eq!(worker.ask(|reply| Work::Echo(round, reply)).await, Ok(round));
    }
}

#[tokio::test]
async fn a_reply_may_be_kept_and_answered_in_a_later_turn() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    let mut ask = worker.ask(Work::Keep);
    assert!(poll_once(&mut ask).is_pending());
    worker.tell(Work::Note(1)).await.unwrap();
    worker.tell(Work::AnswerKept(9)).await.unwrap();
    assert_eq!(ask.await, Ok(9));
}

#[tokio::test]
async fn a_reply_may_be_handed_to_another_actor() {
    let system = System::new("test").unwrap();
    let front = system.spawn(Worker::default);
    let back = system.spawn(Worker::default);
    assert_eq!(front.ask(|reply| Work::PassOn(Box::new(back.clone()), reply)).await, Ok(7));
}

#[tokio::test]
async fn a_reply_may_be_answered_from_a_thread_that_is_no_runtimes() {
    let system = System::new("test").unwrap();
    let (clerk, mut replies) = clerk(&system);
    let answering = std::thread::spawn(move || replies.blocking_recv().unwrap().send(3));
    assert_eq!(clerk.ask(|reply| reply).await, Ok(3));
    answering.join().unwrap();
}

#[tokio::test]
async fn a_reply_to_an_actor_sends_it_the_answer() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let taker = system.spawn(Taker::with(&log));
    let worker = system.spawn(Worker::default);
    let reply = Reply::to_actor(adapter_of(&taker).await);
    assert!(reply.is_wanted());
    worker.tell(Work::Echo(5, reply)).await.unwrap();
    eventually("the answer arrives", || log.taken() == [5]).await;
}

#[tokio::test]
async fn an_answer_to_an_actor_that_is_gone_is_a_dead_letter() {
    let system = System::new("test").unwrap();
    let taker = system.spawn(Taker::with(&Log::default()));
    let reply = Reply::to_actor(adapter_of(&taker).await);
    taker.stop();
    soon(taker.stopped()).await;
    reply.send(5);
    assert_eq!(system.dead_letters().count(DeadLetterReason::Stopped), 1);
}

#[tokio::test]
async fn an_answer_to_a_full_actor_does_not_wait_and_is_a_dead_letter() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let _held = hold(&worker).await;
    worker.try_tell(Work::Note(1)).unwrap();
    Reply::to_actor(worker.clone()).send(Work::Note(2));
    assert_eq!(system.dead_letters().count(DeadLetterReason::Overflow), 1);
}

#[tokio::test]
async fn an_adapted_reply_turns_the_answer_into_the_one_wanted() {
    let system = System::new("test").unwrap();
    let worker = system.spawn(Worker::default);
    let words =
        worker.ask(|reply: Reply<String>| Work::Echo(12, reply.adapt(|n: u64| format!("{n} it is")))).await;
    assert_eq!(words, Ok("12 it is".to_owned()));
}

#[tokio::test]
async fn an_adapted_reply_that_is_dropped_fails_the_ask() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let error = worker.ask(|reply: Reply<String>| Work::Forget(reply.adapt(|n: u64| n.to_string()))).await;
    assert_eq!(error, Err(AskError::NoAnswer { path: worker_path() }));
}

#[tokio::test]
async fn an_adapted_reply_that_no_handler_saw_says_so() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let held = hold(&worker).await;
    let mut ask = worker.ask(|reply: Reply<String>| Work::Forget(reply.adapt(|n: u64| n.to_string())));
    assert!(poll_once(&mut ask).is_pending());
    worker.stop();
    held.release();
    assert_eq!(ask.await, Err(AskError::Discarded { path: worker_path() }));
}

#[tokio::test]
async fn an_adapted_reply_knows_whether_it_is_wanted() {
    let system = System::new("test").unwrap();
    let (clerk, mut replies) = clerk(&system);
    let mut ask = clerk.ask(|reply: Reply<String>| reply.adapt(|n: u64| n.to_string()));
    assert!(poll_once(&mut ask).is_pending());
    let reply = soon(replies.recv()).await.unwrap();
    assert!(reply.is_wanted());
    drop(ask);
    assert!(!reply.is_wanted(), "the asker gave up");
    assert_eq!(reply.try_send(7), Err(7));
}

/// Takes numbers through adapters.
struct Taker(Log);

enum Take {
    Adapter(Reply<ActorRef<u64>>),
    Questions(Reply<ActorRef<Question>>),
    Number(u64),
    Answer(Question),
    Hold(Arc<Mutex<Option<oneshot::Receiver<()>>>>, Reply<()>),
}

/// A foreign message that is an ask.
struct Question(u64, Reply<u64>);

impl Taker {
    fn with(log: &Log) -> impl FnMut() -> Self + Send + 'static + use<> {
        let log = log.clone();
        move || Self(log.clone())
    }
}

impl Actor for Taker {
    type Msg = Take;

    async fn receive(&mut self, msg: Take, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Take::Adapter(reply) => reply.send(ctx.adapter(|n: u64| {
                assert_ne!(n, u64::MAX, "an adapter that cannot");
                Take::Number(n)
            })),
            Take::Questions(reply) => reply.send(ctx.adapter(Take::Answer)),
            Take::Number(n) => self.0.push(n),
            Take::Answer(Question(n, reply)) => reply.send(n + 1),
            Take::Hold(release, begun) => {
                let release = release.lock().unwrap().take().unwrap();
                begun.send(());
                let _ = release.await;
            }
        }
        Ok(())
    }
}

async fn adapter_of(taker: &ActorRef<Take>) -> ActorRef<u64> {
    taker.ask(Take::Adapter).await.unwrap()
}

#[tokio::test]
async fn messages_through_an_adapter_keep_their_place_among_the_actors_own() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let taker = system.spawn(Taker::with(&log));
    let adapter = adapter_of(&taker).await;
    for n in (0..100).step_by(2) {
        taker.tell(Take::Number(n)).await.unwrap();
        adapter.tell(n + 1).await.unwrap();
    }
    eventually("all are handled", || log.len() == 100).await;
    assert!(log.taken().into_iter().eq(0..100));
}

#[tokio::test]
async fn an_adapter_can_be_asked() {
    let system = System::new("test").unwrap();
    let taker = system.spawn(Taker::with(&Log::default()));
    let questions = taker.ask(Take::Questions).await.unwrap();
    assert_eq!(questions.ask(|reply| Question(41, reply)).await, Ok(42));
}

#[tokio::test]
async fn work_asked_through_an_adapter_is_dropped_when_the_asker_gives_up() {
    let system = System::new("test").unwrap();
    let taker = system.spawn(Taker::with(&Log::default()));
    let questions = taker.ask(Take::Questions).await.unwrap();
    let (release, released) = oneshot::channel();
    let released = Arc::new(Mutex::new(Some(released)));
    taker.ask(|begun| Take::Hold(released, begun)).await.unwrap();
    let mut given_up = questions.ask(|reply| Question(1, reply));
    assert!(poll_once(&mut given_up).is_pending());
    drop(given_up);
    release.send(()).unwrap();
    assert_eq!(questions.ask(|reply| Question(2, reply)).await, Ok(3));
    assert_eq!(system.dead_letters().count(DeadLetterReason::AskerGone), 1);
}

#[tokio::test]
async fn an_adapter_gives_the_foreign_message_back() {
    let system = System::new("test").unwrap();
    let taker = system.actor(Taker::with(&Log::default())).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let adapter = adapter_of(&taker).await;
    let (release, released) = oneshot::channel();
    let released = Arc::new(Mutex::new(Some(released)));
    taker.ask(|begun| Take::Hold(released, begun)).await.unwrap();
    adapter.try_tell(1).unwrap();
    assert_eq!(adapter.try_tell(2).unwrap_err().into_message(), 2);
    let mut waiting = adapter.tell(3);
    assert!(poll_once(&mut waiting).is_pending());
    taker.stop();
    release.send(()).unwrap();
    assert!(matches!(soon(waiting).await, Err(TellError::Stopped(3))));
    assert!(matches!(adapter.tell(4).await, Err(TellError::Stopped(4))));
}

#[tokio::test]
async fn an_adapter_that_panics_is_its_actors_fault() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let taker =
        system.actor(Taker::with(&log)).supervision(Supervision::always(Directive::Resume)).spawn().unwrap();
    let adapter = adapter_of(&taker).await;
    for n in [1, u64::MAX, 2] {
        adapter.tell(n).await.unwrap();
    }
    eventually("it goes on", || log.taken() == [1, 2]).await;
}

/// Asks `count` times at once, from `tasks` tasks, and checks that each gets its own answer.
async fn ask_all(worker: &ActorRef<Work>, tasks: u64, count: u64) {
    let mut asking = JoinSet::new();
    for task in 0..tasks {
        let worker = worker.clone();
        asking.spawn(async move {
            let mut asks: Vec<_> = (0..count)
                .map(|n| task * count + n)
                .map(|n| {
                    let worker = worker.clone();
                    (n, tokio::spawn(async move { worker.ask(|reply| Work::Echo(n, reply)).await }))
                })
                .collect();
            for (n, ask) in asks.drain(..) {
                assert_eq!(ask.await.unwrap(), Ok(n));
            }
        });
    }
    while let Some(task) = soon(asking.join_next()).await {
        task.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_ten_thousand_asks_at_once_each_gets_its_own_answer_round_after_round() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(100)).spawn().unwrap();
    for _ in 0..3 {
        ask_all(&worker, 10, 1000).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn asks_through_a_mailbox_of_one_message_each_get_their_own_answer() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    ask_all(&worker, 4, 1000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn an_answer_is_not_lost_on_an_asker_that_looks_while_it_is_let_in() {
    let system = System::new("test").unwrap();
    let worker = system.actor(Worker::default).mailbox(MailboxKind::bounded(1)).spawn().unwrap();
    let mut askers = JoinSet::new();
    for asker in 0..8 {
        let worker = worker.clone();
        askers.spawn(async move {
            for round in 0..1500 {
                let n = asker * 1_000_000 + round;
                let mut ask = worker.ask(|reply| Work::Echo(n, reply));
                // Looks again and again, not only when it is woken, as an ask beside others in a `join!` does.
                let answer = poll_fn(|cx| {
                    let polled = Pin::new(&mut ask).poll(cx);
                    cx.waker().wake_by_ref();
                    polled
                });
                assert_eq!(answer.await, Ok(n));
            }
        });
    }
    while let Some(asker) = soon(askers.join_next()).await {
        asker.unwrap();
    }
}

/// Answers in three types.
struct Oracle;

enum Oracular {
    Number(u64, Reply<u64>),
    Word(u64, Reply<String>),
    Nothing(Reply<()>),
}

impl Actor for Oracle {
    type Msg = Oracular;
    async fn receive(&mut self, msg: Oracular, _: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Oracular::Number(n, reply) => reply.send(n),
            Oracular::Word(n, reply) => reply.send(n.to_string()),
            Oracular::Nothing(reply) => reply.send(()),
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn asks_for_answers_of_several_types_do_not_get_in_each_others_way() {
    let system = System::new("test").unwrap();
    let oracle = system.spawn(|| Oracle);
    let mut askers = JoinSet::new();
    for asker in 0..8_u64 {
        let oracle = oracle.clone();
        askers.spawn(async move {
            for n in asker * 1000..asker * 1000 + 500 {
                let (number, word, nothing) = tokio::join!(
                    oracle.ask(|reply| Oracular::Number(n, reply)),
                    oracle.ask(|reply| Oracular::Word(n, reply)),
                    oracle.ask(Oracular::Nothing),
                );
                assert_eq!((number, word, nothing), (Ok(n), Ok(n.to_string()), Ok(())));
            }
        });
    }
    while let Some(asker) = soon(askers.join_next()).await {
        asker.unwrap();
    }
}

#[tokio::test]
async fn asks_of_two_systems_on_one_thread_do_not_mix() {
    let systems = [System::new("one").unwrap(), System::new("two").unwrap()];
    let workers: Vec<_> = systems.iter().map(|system| system.spawn(Worker::default)).collect();
    for n in 0..2000 {
        let [one, two] = [&workers[0], &workers[1]];
        let both = tokio::join!(
            one.ask(|reply| Work::Echo(n, reply)),
            two.ask(|reply| Work::Echo(n + 1, reply)),
            one.ask(|reply| Work::Echo(n + 2, reply)),
        );
        assert_eq!(both, (Ok(n), Ok(n + 1), Ok(n + 2)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_ask_given_up_in_one_system_is_not_dropped_in_another() {
    let systems = [System::new("one").unwrap(), System::new("two").unwrap()];
    let workers: Vec<_> = systems.iter().map(|system| system.spawn(Worker::default)).collect();
    let holds = [hold(&workers[0]).await, hold(&workers[1]).await];
    let mut given_up = workers[0].ask(|reply| Work::Echo(1, reply));
    let mut wanted = workers[1].ask(|reply| Work::Echo(2, reply));
    assert!(poll_once(&mut given_up).is_pending() && poll_once(&mut wanted).is_pending());
    drop(given_up);
    holds.into_iter().for_each(Held::release);
    assert_eq!(wanted.await, Ok(2));
    assert_eq!(systems[1].dead_letters().total(), 0);
}

#[tokio::test]
async fn asks_of_a_new_system_work_after_those_of_one_that_is_gone() {
    for n in 0..50 {
        let system = System::new("test").unwrap();
        let worker = system.spawn(Worker::default);
        assert_eq!(worker.ask(|reply| Work::Echo(n, reply)).await, Ok(n));
        drop(system);
    }
}

#[tokio::test(start_paused = true)]
async fn an_ask_after_the_shutdown_fails_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    worker.ask(|reply| Work::Echo(1, reply)).await.unwrap();
    system.shutdown().await;
    let begun = Instant::now();
    let error = worker.ask(|reply| Work::Echo(2, reply)).await.unwrap_err();
    assert_eq!(error, AskError::Stopped { path: worker_path() });
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_after_the_system_was_dropped_fails_at_once() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    worker.ask(|reply| Work::Echo(1, reply)).await.unwrap();
    drop(system);
    soon(worker.stopped()).await;
    let begun = Instant::now();
    let error = worker.ask(|reply| Work::Echo(2, reply)).await.unwrap_err();
    assert_eq!(error, AskError::Stopped { path: worker_path() });
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_under_way_when_the_system_shuts_down_ends() {
    let system = System::new("test").unwrap();
    let worker = named_worker(&system);
    let mut ask = worker.ask(Work::Keep);
    assert!(poll_once(&mut ask).is_pending());
    yield_now().await;
    system.shutdown().await;
    assert_eq!(ask.await, Err(AskError::NoAnswer { path: worker_path() }));
}
