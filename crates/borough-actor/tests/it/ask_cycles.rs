//! A13: asks that wait for each other in a circle fail at once, and no other ask does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use borough_actor::{Actor, ActorRef, AskError, Context, Fault, Reply, System};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, advance};

use crate::worker::{Work, Worker, hold, poll_once, soon};

/// What a visit gives: how many actors it called at, or why one of them could not ask the next.
type Outcome = Result<u32, AskError>;

/// An actor that passes asks on.
#[derive(Default)]
struct Stop;

enum Visit {
    /// Ask the first of the route to visit the rest of it, within this turn.
    Along(Vec<ActorRef<Visit>>, Reply<Outcome>),
    /// Ask all of them at once, within this turn, each to visit the route.
    All(Vec<ActorRef<Visit>>, Vec<ActorRef<Visit>>, Reply<Outcome>),
    /// Ask in a task of its own, and do not wait for it.
    Apart(ActorRef<Visit>, Reply<Outcome>),
    /// Ask in a task of its own, and wait for that.
    ApartButAwaited(ActorRef<Visit>, Reply<Outcome>),
    /// Begin to ask in this turn, and have a task go on with it.
    BegunHere(ActorRef<Visit>, Vec<ActorRef<Visit>>, Reply<Outcome>),
    /// Ask a worker, within this turn.
    Echo(ActorRef<Work>, Reply<Result<u64, AskError>>),
}

/// Asks the first of the route to visit the rest.
async fn visit(mut route: Vec<ActorRef<Visit>>) -> Outcome {
    if route.is_empty() {
        return Ok(1);
    }
    let next = route.remove(0);
    ask_along(next, route).await.map(|calls| calls + 1)
}

async fn ask_along(next: ActorRef<Visit>, rest: Vec<ActorRef<Visit>>) -> Outcome {
    next.ask(|reply| Visit::Along(rest, reply)).await?
}

impl Actor for Stop {
    type Msg = Visit;

    async fn receive(&mut self, msg: Visit, _: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Visit::Along(route, reply) => reply.send(visit(route).await),
            Visit::All(stops, route, reply) => {
                let mut all: Vec<_> =
                    stops.into_iter().map(|stop| Box::pin(ask_along(stop, route.clone()))).collect();
                // Begun together, so that all are under way at once.
                let begun: Vec<_> = all.iter_mut().map(poll_once).collect();
                assert!(begun.iter().all(Poll::is_pending));
                let mut calls = 1;
                for outcome in all {
                    calls += outcome.await?;
                }
                reply.send(Ok(calls));
            }
            Visit::Apart(stop, reply) => {
                tokio::spawn(async move { reply.send(ask_along(stop, Vec::new()).await) });
            }
            Visit::ApartButAwaited(stop, reply) => {
                let apart = tokio::spawn(ask_along(stop, Vec::new()));
                reply.send(apart.await?);
            }
            Visit::BegunHere(stop, rest, reply) => {
                let mut begun = Box::pin(ask_along(stop, rest));
                assert!(poll_once(&mut begun).is_pending());
                tokio::spawn(async move { reply.send(begun.await) });
            }
            Visit::Echo(worker, reply) => reply.send(worker.ask(|reply| Work::Echo(1, reply)).await),
        }
        Ok(())
    }
}

fn stops<const N: usize>(system: &System, names: [&str; N]) -> [ActorRef<Visit>; N] {
    names.map(|name| system.actor(Stop::default).name(name).spawn().unwrap())
}

fn circle(path: &str, circle: &[&str]) -> Outcome {
    Err(AskError::Cycle { path: path.into(), circle: circle.iter().map(ToString::to_string).collect() })
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_asks_itself_fails_at_once() {
    let system = System::new("test").unwrap();
    let [a] = stops(&system, ["a"]);
    let begun = Instant::now();
    assert_eq!(ask_along(a.clone(), vec![a.clone()]).await, circle("/a", &["/a", "/a"]));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(ask_along(a, Vec::new()).await, Ok(1), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn a_circle_of_two_fails_at_once_and_names_both() {
    let system = System::new("test").unwrap();
    let [a, b] = stops(&system, ["a", "b"]);
    let begun = Instant::now();
    let outcome = ask_along(a.clone(), vec![b.clone(), a.clone()]).await;
    assert_eq!(outcome, circle("/a", &["/a", "/b", "/a"]));
    assert!(!outcome.unwrap_err().may_have_been_handled());
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(ask_along(a, vec![b]).await, Ok(2), "both go on");
}

#[tokio::test(start_paused = true)]
async fn a_circle_of_three_fails_at_once_and_names_them_in_order() {
    let system = System::new("test").unwrap();
    let [a, b, c] = stops(&system, ["a", "b", "c"]);
    let begun = Instant::now();
    let outcome = ask_along(a.clone(), vec![b.clone(), c.clone(), a.clone()]).await;
    assert_eq!(outcome, circle("/a", &["/a", "/b", "/c", "/a"]));
    let words = outcome.unwrap_err().to_string();
    assert!(words.contains("/a asks /b asks /c asks /a"), "{words}");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(ask_along(a, vec![b, c]).await, Ok(3), "all go on");
}

#[tokio::test(start_paused = true)]
async fn a_circle_that_is_entered_from_outside_names_only_those_in_it() {
    let system = System::new("test").unwrap();
    let [x, a, b] = stops(&system, ["x", "a", "b"]);
    let outcome = ask_along(x, vec![a.clone(), b, a]).await;
    assert_eq!(outcome, circle("/a", &["/a", "/b", "/a"]));
}

#[tokio::test(start_paused = true)]
async fn a_circle_is_found_by_one_of_several_asks_of_a_turn() {
    let system = System::new("test").unwrap();
    let [a, b, c] = stops(&system, ["a", "b", "c"]);
    let begun = Instant::now();
    // Both b and c ask a, which waits for both.
    let error = a.ask(|reply| Visit::All(vec![b, c], vec![a.clone()], reply)).await.unwrap_err();
    assert!(matches!(error, AskError::NoAnswer { .. }), "a's turn failed with the circle: {error:?}");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

/// Asks itself before its first message.
struct Eager(mpsc::UnboundedSender<AskError>);

impl Actor for Eager {
    type Msg = Reply<()>;

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if let Err(error) = ctx.self_ref().ask(|reply| reply).await {
            self.0.send(error)?;
        }
        Ok(())
    }

    async fn receive(&mut self, reply: Reply<()>, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_asks_itself_as_it_starts_fails_at_once() {
    let system = System::new("test").unwrap();
    let (tell, mut errors) = mpsc::unbounded_channel();
    let eager = system.actor(move || Eager(tell.clone())).name("eager").spawn().unwrap();
    assert!(matches!(soon(errors.recv()).await, Some(AskError::Cycle { .. })));
    assert_eq!(eager.ask(|reply| reply).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn an_actor_may_ask_the_one_that_asked_it_before_and_is_done() {
    let system = System::new("test").unwrap();
    let [a, b] = stops(&system, ["a", "b"]);
    for _ in 0..3 {
        assert_eq!(ask_along(b.clone(), vec![a.clone()]).await, Ok(2));
        assert_eq!(ask_along(a.clone(), vec![b.clone()]).await, Ok(2));
    }
}

#[tokio::test(start_paused = true)]
async fn an_actor_may_ask_another_twice_at_once() {
    let system = System::new("test").unwrap();
    let [a, b] = stops(&system, ["a", "b"]);
    let outcome = a.ask(|reply| Visit::All(vec![b.clone(), b], Vec::new(), reply)).await;
    assert_eq!(outcome, Ok(Ok(3)));
}

#[tokio::test(start_paused = true)]
async fn two_ways_to_the_same_actor_are_no_circle() {
    let system = System::new("test").unwrap();
    let [a, b, c, d] = stops(&system, ["a", "b", "c", "d"]);
    let outcome = a.ask(|reply| Visit::All(vec![b, c], vec![d], reply)).await;
    assert_eq!(outcome, Ok(Ok(5)));
}

#[tokio::test(start_paused = true)]
async fn an_ask_of_a_task_the_turn_spawned_is_no_part_of_the_chain() {
    let system = System::new("test").unwrap();
    let [a] = stops(&system, ["a"]);
    let outcome = a.ask(|reply| Visit::Apart(a.clone(), reply)).await;
    assert_eq!(outcome, Ok(Ok(1)));
}

#[tokio::test(start_paused = true)]
async fn an_ask_of_a_task_the_turn_waits_for_ends_by_its_timeout() {
    let system = System::builder("test").ask_timeout(Duration::from_secs(1)).start().unwrap();
    let [a] = stops(&system, ["a"]);
    let outcome =
        a.ask(|reply| Visit::ApartButAwaited(a.clone(), reply)).timeout(Duration::from_secs(9)).await;
    assert!(matches!(outcome, Ok(Err(AskError::Timeout { .. }))), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn an_ask_begun_in_a_turn_and_carried_on_by_a_task_is_no_part_of_the_chain() {
    let system = System::new("test").unwrap();
    let [a, b] = stops(&system, ["a", "b"]);
    // When b asks a, a's turn is over, and a is free to answer.
    let outcome = a.ask(|reply| Visit::BegunHere(b, vec![a.clone()], reply)).await;
    assert_eq!(outcome, Ok(Ok(2)));
}

#[tokio::test(start_paused = true)]
async fn asks_that_cross_end_by_their_timeout_at_the_latest() {
    let system = System::builder("test").ask_timeout(Duration::from_secs(1)).start().unwrap();
    let [a, b] = stops(&system, ["a", "b"]);
    let (one, other) =
        tokio::join!(ask_along(a.clone(), vec![b.clone()]), ask_along(b.clone(), vec![a.clone()]));
    assert!(one.is_err() || other.is_err());
    assert_eq!(ask_along(a, vec![b]).await, Ok(2), "both go on");
}

#[tokio::test(start_paused = true)]
async fn an_actor_of_another_system_is_another_actor_whatever_its_id() {
    let systems = [System::new("one").unwrap(), System::new("two").unwrap()];
    let asker = systems[0].spawn(Stop::default);
    let worker = systems[1].spawn(Worker::default);
    assert_eq!(asker.id(), worker.id(), "the first of each system");
    let outcome = asker.ask(|reply| Visit::Echo(worker, reply)).await;
    assert_eq!(outcome, Ok(Ok(1)));
}

#[tokio::test(start_paused = true)]
async fn an_ask_of_another_system_is_another_ask_whatever_its_place() {
    let systems = [System::new("one").unwrap(), System::new("two").unwrap()];
    // In system two `busy` keeps `target` waiting, by the second ask of that system.
    let busy = systems[1].spawn(Worker::default);
    let held = hold(&busy).await;
    let target = systems[1].spawn(Stop::default);
    let mut waits = target.ask(|reply| Visit::Echo(busy.clone(), reply));
    assert!(poll_once(&mut waits).is_pending());
    tokio::task::yield_now().await;

    // In system one `asker` handles the second ask too, and asks `target`, which is free once it has its answer.
    let asker = systems[0].spawn(Stop::default);
    let keeper = systems[0].spawn(Worker::default);
    let mut first = keeper.ask(Work::Keep);
    assert!(poll_once(&mut first).is_pending());
    assert_ne!(asker.id(), target.id());
    let mut second = asker.ask(|reply| Visit::Along(vec![target.clone()], reply));
    assert!(poll_once(&mut second).is_pending());
    tokio::task::yield_now().await;
    held.release();
    assert_eq!(second.await, Ok(Ok(2)));
    assert_eq!(waits.await, Ok(Ok(1)));
}

/// Handled once the gate is open.
type Gated = (oneshot::Receiver<()>, Reply<()>);

/// What may be said to a [`Relapsing`] actor.
enum Relapse {
    /// Begin an ask of the other in this turn, and fail.
    AskAndFail(ActorRef<Gated>, oneshot::Receiver<()>),
    Ping(Reply<()>),
}

struct Relapsing;

impl Actor for Relapsing {
    type Msg = Relapse;

    async fn receive(&mut self, msg: Relapse, _: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Relapse::Ping(reply) => reply.send(()),
            Relapse::AskAndFail(other, gate) => {
                let mut begun = Box::pin(async move { other.ask(|reply| (gate, reply)).await });
                assert!(poll_once(&mut begun).is_pending());
                // Kept, and not polled again: it stays an ask of this turn.
                std::mem::forget(begun);
                return Err(Fault::new("told to fail"));
            }
        }
        Ok(())
    }
}

/// Asks the other back once the gate is open, and says how that went.
struct AskingBack(ActorRef<Relapse>, mpsc::UnboundedSender<Result<(), AskError>>);

impl Actor for AskingBack {
    type Msg = Gated;

    async fn receive(&mut self, (gate, _reply): Self::Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        gate.await?;
        self.1.send(self.0.ask(Relapse::Ping).await)?;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_was_restarted_and_is_idle_is_not_taken_for_one_that_waits() {
    let system = System::new("test").unwrap();
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let relapsing = system.spawn(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Relapsing
    });
    let (tell, mut outcomes) = mpsc::unbounded_channel();
    let back = relapsing.clone();
    let other = system.spawn(move || AskingBack(back.clone(), tell.clone()));
    let (open, gate) = oneshot::channel();
    relapsing.tell(Relapse::AskAndFail(other, gate)).await.unwrap();
    // Longer than the backoff, shorter than the ask that is still under way.
    for _ in 0..100 {
        advance(Duration::from_millis(10)).await;
    }
    assert_eq!(made.load(Ordering::SeqCst), 2, "it is restarted");
    open.send(()).unwrap();
    assert_eq!(soon(outcomes.recv()).await, Some(Ok(())));
}
