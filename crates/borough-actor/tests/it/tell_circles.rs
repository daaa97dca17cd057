//! G15: tells awaited in turns cannot deadlock.

use std::time::Duration;

use borough_actor::{
    Actor, ActorRef, AskError, Context, Fault, MailboxKind, NoRoom, Reply, System, TellError,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::support::eventually;
use crate::worker::{Log, poll_once};

/// Longer than anything here takes, in simulated time.
const BOUND: Duration = Duration::from_secs(60);

/// Tells and asks others in its turns.
struct Link(Log);

/// How a tell went.
type Told = Result<(), NoRoom>;

enum Msg {
    Note(u64),
    /// In one turn: says that it has begun, waits until it may go on, and tells that one; says how that went.
    TellOnce {
        begun: oneshot::Sender<()>,
        go: oneshot::Receiver<()>,
        to: ActorRef<Msg>,
        went: oneshot::Sender<Told>,
    },
    /// The same with an ask.
    AskOnce {
        begun: oneshot::Sender<()>,
        go: oneshot::Receiver<()>,
        recipient: ActorRef<Msg>,
        went: oneshot::Sender<Result<(), AskError>>,
    },
    /// Answers at once.
    Answer(Reply<()>),
    /// As many tells to that one, in one turn.
    TellMany(ActorRef<Msg>, u64, oneshot::Sender<Vec<Told>>),
    /// Tells that one within the turn that handles this ask.
    TellFor(ActorRef<Msg>, Reply<Told>),
    /// In one turn: says that it has begun, waits until it may go on, and asks the first to tell the second.
    AskFor {
        begun: oneshot::Sender<()>,
        go: oneshot::Receiver<()>,
        recipient: ActorRef<Msg>,
        to: ActorRef<Msg>,
        went: oneshot::Sender<Result<Told, AskError>>,
    },
    /// Has a task of its own tell that one.
    TellApart(ActorRef<Msg>, oneshot::Sender<Told>),
}

async fn told(to: &ActorRef<Msg>, number: u64) -> Told {
    to.tell(Msg::Note(number)).await.map_err(|error| {
        assert!(!error.may_have_been_handled());
        let TellError::NoRoom(Msg::Note(back), why) = error else { panic!("{error}") };
        assert_eq!(back, number, "the message comes back");
        why
    })
}

impl Actor for Link {
    type Msg = Msg;

    async fn receive(&mut self, msg: Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Msg::Note(number) => self.0.push(number),
            Msg::TellOnce { begun, go, to, went } => {
                let _ = begun.send(());
                let _ = go.await;
                let _ = went.send(told(&to, 7).await);
            }
            Msg::AskOnce { begun, go, recipient, went } => {
                let _ = begun.send(());
                let _ = go.await;
                let _ = went.send(recipient.ask(Msg::Answer).await);
            }
            Msg::Answer(reply) => reply.send(()),
            Msg::TellMany(to, number, went) => {
                let mut all = Vec::new();
                for number in 0..number {
                    all.push(told(&to, number).await);
                }
                let _ = went.send(all);
            }
            Msg::TellFor(to, reply) => reply.send(told(&to, 7).await),
            Msg::AskFor { begun, go, recipient, to, went } => {
                let _ = begun.send(());
                let _ = go.await;
                let _ = went.send(recipient.ask(|reply| Msg::TellFor(to, reply)).await);
            }
            Msg::TellApart(to, went) => {
                tokio::spawn(async move { went.send(told(&to, 7).await) });
            }
        }
        Ok(())
    }
}

/// Actors with room for one message each, and what they noted.
fn links<const N: usize>(system: &System, names: [&str; N]) -> ([ActorRef<Msg>; N], Log) {
    let log = Log::default();
    let links = names.map(|name| {
        let log = log.clone();
        let link = system.actor(move || Link(log.clone())).name(name);
        link.mailbox(MailboxKind::bounded(1)).spawn().unwrap()
    });
    (links, log)
}

async fn within<F: Future>(future: F) -> F::Output {
    timeout(BOUND, future).await.expect("still waiting at the bound")
}

/// A turn that will tell another once it may.
struct Turn {
    go: oneshot::Sender<()>,
    went: oneshot::Receiver<Told>,
}

impl Turn {
    /// Ready once the actor is in it, and its mailbox is full.
    async fn of(actor: &ActorRef<Msg>, to: &ActorRef<Msg>) -> Self {
        let (begun, has_begun) = oneshot::channel();
        let (go, goes) = oneshot::channel();
        let (say, went) = oneshot::channel();
        let to = to.clone();
        within(actor.tell(Msg::TellOnce { begun, go: goes, to, went: say })).await.unwrap();
        within(has_begun).await.unwrap();
        actor.try_tell(Msg::Note(1)).unwrap();
        assert!(actor.try_tell(Msg::Note(2)).unwrap_err().is_full());
        Self { go, went }
    }

    fn goes_on(self) -> oneshot::Receiver<Told> {
        self.go.send(()).unwrap();
        self.went
    }
}

fn circle(path: &str, circle: &[&str]) -> Told {
    Err(NoRoom::Circle { path: path.into(), circle: circle.iter().map(ToString::to_string).collect() })
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_tells_itself_never_waits_and_is_refused_beyond_twice_its_bound() {
    let system = System::new("test").unwrap();
    let ([a], log) = links(&system, ["a"]);
    let (say, went) = oneshot::channel();
    within(a.tell(Msg::TellMany(a.clone(), 3, say))).await.unwrap();
    let begun = Instant::now();
    let went = within(went).await.unwrap();
    assert_eq!(went, [Ok(()), Ok(()), circle("/a", &["/a", "/a"])]);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    eventually("what was accepted is handled in order", || log.taken() == [0, 1]).await;
}

#[tokio::test(start_paused = true)]
async fn two_full_actors_that_tell_each_other_go_on_and_the_second_gets_its_message_back() {
    let system = System::new("test").unwrap();
    let ([a, b], log) = links(&system, ["a", "b"]);
    let (of_a, of_b) = (Turn::of(&a, &b).await, Turn::of(&b, &a).await);
    let begun = Instant::now();
    let mut of_a = of_a.goes_on();
    tokio::task::yield_now().await;
    assert!(poll_once(&mut of_a).is_pending(), "b has no room");
    let of_b = of_b.goes_on();
    let went = within(of_b).await.unwrap();
    assert_eq!(went, circle("/a", &["/a", "/b", "/a"]));
    let words = went.unwrap_err().to_string();
    assert!(words.contains("/a waits for /b, which waits for /a"), "{words}");
    assert_eq!(within(of_a).await.unwrap(), Ok(()));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    eventually("all that was accepted is handled", || log.len() == 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_circle_of_three_is_found_and_named_in_order() {
    let system = System::new("test").unwrap();
    let ([a, b, c], log) = links(&system, ["a", "b", "c"]);
    let turns = [Turn::of(&a, &b).await, Turn::of(&b, &c).await, Turn::of(&c, &a).await];
    let [of_a, of_b, of_c] = turns;
    let begun = Instant::now();
    let (of_a, of_b) = (of_a.goes_on(), of_b.goes_on());
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    let of_c = of_c.goes_on();
    assert_eq!(within(of_c).await.unwrap(), circle("/a", &["/a", "/b", "/c", "/a"]));
    assert_eq!((within(of_a).await.unwrap(), within(of_b).await.unwrap()), (Ok(()), Ok(())));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    eventually("all that was accepted is handled", || log.len() == 5).await;
}

#[tokio::test(start_paused = true)]
async fn a_tell_to_an_actor_that_awaits_the_tellers_answer_fails_at_once() {
    let system = System::new("test").unwrap();
    let ([a, b], _) = links(&system, ["a", "b"]);
    let (begun, has_begun) = oneshot::channel();
    let (go, goes) = oneshot::channel();
    let (say, went) = oneshot::channel();
    let (recipient, to) = (b.clone(), a.clone());
    within(a.tell(Msg::AskFor { begun, go: goes, recipient, to, went: say })).await.unwrap();
    within(has_begun).await.unwrap();
    a.try_tell(Msg::Note(1)).unwrap();
    let begun = Instant::now();
    go.send(()).unwrap();
    let went = within(went).await.unwrap().unwrap();
    assert_eq!(went, circle("/a", &["/a", "/b", "/a"]));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_ask_of_an_actor_that_waits_for_the_askers_room_fails_at_once() {
    let system = System::new("test").unwrap();
    let ([a, b], _) = links(&system, ["a", "b"]);
    let of_b = Turn::of(&b, &a).await;
    let (begun, has_begun) = oneshot::channel();
    let (go, goes) = oneshot::channel();
    let (say, went) = oneshot::channel();
    within(a.tell(Msg::AskOnce { begun, go: goes, recipient: b.clone(), went: say })).await.unwrap();
    within(has_begun).await.unwrap();
    a.try_tell(Msg::Note(1)).unwrap();
    let mut of_b = of_b.goes_on();
    tokio::task::yield_now().await;
    assert!(poll_once(&mut of_b).is_pending(), "a has no room");
    let begun = Instant::now();
    go.send(()).unwrap();
    let error = within(went).await.unwrap().unwrap_err();
    let names = ["/b", "/a", "/b"].map(str::to_owned).to_vec();
    assert_eq!(error, AskError::Cycle { path: "/b".into(), circle: names });
    assert_eq!(within(of_b).await.unwrap(), Ok(()));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_tell_in_a_turn_waits_as_long_as_an_ask_at_most_and_gives_the_message_back() {
    let system = System::builder("test").ask_timeout(Duration::from_secs(7)).start().unwrap();
    let ([a, b, c], _) = links(&system, ["a", "b", "c"]);
    // It ends with the test.
    let _stuck = Turn::of(&b, &c).await;
    let of_a = Turn::of(&a, &b).await;
    let begun = Instant::now();
    let of_a = of_a.goes_on();
    assert!(timeout(Duration::from_secs(4), std::future::pending::<()>()).await.is_err());
    let waiting = system.long_waits();
    let [wait] = waiting.as_slice() else { panic!("{waiting:?}") };
    assert_eq!((wait.sender.as_str(), wait.recipient.as_str()), ("/a", "/b"));
    assert!(wait.waited >= Duration::from_secs(3), "{wait:?}");
    let error = within(of_a).await.unwrap().unwrap_err();
    assert_eq!(error, NoRoom::Timeout { path: "/b".into(), timeout: Duration::from_secs(7) });
    assert_eq!(begun.elapsed(), Duration::from_secs(7));
    assert!(system.long_waits().is_empty());
    assert_eq!(system.long_waits_total(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tell_from_outside_of_turns_waits_for_as_long_as_it_is_awaited() {
    let system = System::new("test").unwrap();
    let ([a, b], _) = links(&system, ["a", "b"]);
    let of_a = Turn::of(&a, &b).await;
    let waits = tokio::spawn({
        let a = a.clone();
        async move { told(&a, 3).await }
    });
    assert!(timeout(Duration::from_secs(600), std::future::pending::<()>()).await.is_err());
    assert!(!waits.is_finished());
    assert_eq!(within(of_a.goes_on()).await.unwrap(), Ok(()));
    assert_eq!(within(waits).await.unwrap(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_tell_from_a_task_that_a_turn_began_holds_up_nobody_and_is_in_no_circle() {
    let system = System::new("test").unwrap();
    let ([a, b], _) = links(&system, ["a", "b"]);
    let (say, apart) = oneshot::channel();
    within(a.tell(Msg::TellApart(b.clone(), say))).await.unwrap();
    assert_eq!(within(apart).await.unwrap(), Ok(()));
    let of_b = Turn::of(&b, &a).await;
    let (say, apart) = oneshot::channel();
    within(a.tell(Msg::TellApart(b.clone(), say))).await.unwrap();
    let went = within(of_b.goes_on()).await.unwrap();
    assert_eq!((went, within(apart).await.unwrap()), (Ok(()), Ok(())));
}

/// Many that tell one another in one direction are never refused, however full they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_busy_chain_without_a_circle_is_never_refused() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let last = {
        let log = log.clone();
        system.actor(move || Link(log.clone())).mailbox(MailboxKind::bounded(2)).spawn().unwrap()
    };
    let tellers: Vec<_> = (0..8)
        .map(|_| {
            let log = Log::default();
            let teller = system.spawn(move || Link(log.clone()));
            let (say, went) = oneshot::channel();
            teller.try_tell(Msg::TellMany(last.clone(), 500, say)).unwrap();
            went
        })
        .collect();
    for went in tellers {
        let went = timeout(BOUND, went).await.unwrap().unwrap();
        assert!(went.iter().all(Result::is_ok));
    }
    eventually("all are handled", || log.len() == 4000).await;
}
