//! A6: timers and the receive timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault, Reply, Supervision, System, Timers};
use tokio::time::advance;

use crate::puppet::{Log, Order, Puppet, act, call, fail, hold};
use crate::support::eventually;

const SECOND: Duration = Duration::from_secs(1);

fn puppet(system: &System, log: &Log) -> ActorRef<Order> {
    let at_once = Supervision::default().backoff(Duration::ZERO, Duration::ZERO);
    system.actor(Puppet::new("p", log).maker()).supervision(at_once).spawn().expect("it needs no name")
}

async fn set<T: Send + 'static>(
    puppet: &ActorRef<Order>,
    set: impl FnOnce(&mut Timers<Order>) -> T + Send + 'static,
) -> T {
    call(puppet, move |_, ctx| set(ctx.timers())).await
}

/// Lets an actor that is due run, without sending it anything.
async fn let_run() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// What the puppet has noted once everything that is due has had its turn.
async fn notes(puppet: &ActorRef<Order>) -> Vec<u64> {
    let_run().await;
    puppet.ask(Order::Notes).await.expect("the puppet lives")
}

#[tokio::test(start_paused = true)]
async fn once_sends_once_after_its_delay_and_not_before() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| timers.once("a", SECOND, Order::Note(1))).await;
    advance(Duration::from_millis(999)).await;
    assert_eq!(notes(&puppet).await, [0_u64; 0]);
    advance(Duration::from_millis(1)).await;
    assert_eq!(notes(&puppet).await, [1]);
    advance(SECOND * 10).await;
    assert_eq!(notes(&puppet).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_timer_wakes_an_idle_actor() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    let stopping = act(|_, ctx| {
        ctx.stop();
        Ok(())
    });
    set(&puppet, |timers| timers.once("a", SECOND, stopping)).await;
    assert!(tokio::time::timeout(SECOND * 2, puppet.stopped()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_timer_set_to_ring_earlier_than_the_one_waited_for_rings_first() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| timers.once("late", SECOND * 100, Order::Note(100))).await;
    set(&puppet, |timers| timers.once("early", SECOND, Order::Note(1))).await;
    advance(SECOND).await;
    assert_eq!(notes(&puppet).await, [1]);
    advance(SECOND * 99).await;
    assert_eq!(notes(&puppet).await, [1, 100]);
}

#[tokio::test(start_paused = true)]
async fn timers_ring_in_the_order_they_are_due_and_equals_in_the_order_they_were_set() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| {
        timers.once(3, SECOND * 3, Order::Note(3));
        timers.once(1, SECOND, Order::Note(1));
        timers.once(20, SECOND * 2, Order::Note(20));
        timers.once(21, SECOND * 2, Order::Note(21));
        timers.once(22, SECOND * 2, Order::Note(22));
    })
    .await;
    advance(SECOND * 5).await;
    assert_eq!(notes(&puppet).await, [1, 20, 21, 22, 3]);
}

#[tokio::test(start_paused = true)]
async fn fixed_delay_sends_again_and_again() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    let mut n = 0;
    set(&puppet, move |timers| {
        timers.fixed_delay("a", SECOND, move || {
            n += 1;
            Order::Note(n)
        });
    })
    .await;
    for expected in [vec![1], vec![1, 2], vec![1, 2, 3]] {
        advance(SECOND).await;
        assert_eq!(notes(&puppet).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn fixed_delay_does_not_make_up_for_what_a_busy_actor_missed() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| timers.fixed_delay("a", SECOND, || Order::Note(1))).await;
    let gate = hold(&puppet);
    advance(SECOND * 10).await;
    gate.send(()).unwrap();
    assert_eq!(notes(&puppet).await, [1]);
    advance(Duration::from_millis(999)).await;
    assert_eq!(notes(&puppet).await, [1]);
    advance(Duration::from_millis(1)).await;
    assert_eq!(notes(&puppet).await, [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn fixed_rate_makes_up_for_what_a_busy_actor_missed() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| timers.fixed_rate("a", SECOND, || Order::Note(1))).await;
    let gate = hold(&puppet);
    advance(SECOND * 10 + SECOND / 2).await;
    gate.send(()).unwrap();
    assert_eq!(notes(&puppet).await, [1; 10]);
    advance(SECOND / 2).await;
    assert_eq!(notes(&puppet).await, [1; 11]);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_set_again_replaces_its_timer() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| {
        timers.fixed_rate("a", SECOND, || Order::Note(1));
        timers.once("a", SECOND * 2, Order::Note(2));
    })
    .await;
    advance(SECOND * 10).await;
    assert_eq!(notes(&puppet).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn keys_of_words_and_of_numbers_are_different_timers() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| {
        timers.once("1", SECOND, Order::Note(1));
        timers.once(1, SECOND, Order::Note(2));
        timers.once("1".to_owned(), SECOND, Order::Note(3));
    })
    .await;
    advance(SECOND).await;
    assert_eq!(notes(&puppet).await, [2, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_timer_does_not_ring() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    let cancelled = set(&puppet, |timers| {
        timers.once("a", SECOND, Order::Note(1));
        timers.once("b", SECOND, Order::Note(2));
        (timers.cancel("a"), timers.cancel("a"))
    })
    .await;
    assert_eq!(cancelled, (true, false));
    advance(SECOND).await;
    assert_eq!(notes(&puppet).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn cancel_all_ends_all_timers_and_leaves_the_receive_timeout() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    call(&puppet, |_, ctx| {
        ctx.set_receive_timeout(SECOND, || Order::Note(9));
        ctx.timers().once("a", SECOND, Order::Note(1));
        ctx.timers().fixed_rate("b", SECOND, || Order::Note(2));
        ctx.timers().cancel_all();
    })
    .await;
    advance(SECOND).await;
    assert_eq!(notes(&puppet).await, [9]);
}

#[tokio::test(start_paused = true)]
async fn is_set_says_whether_a_timer_will_send() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    let before = set(&puppet, |timers| {
        let before = timers.is_set("once");
        timers.once("once", SECOND, Order::Note(1));
        timers.fixed_delay("again", SECOND, || Order::Note(2));
        before
    })
    .await;
    assert!(!before);
    let both = |timers: &mut Timers<Order>| (timers.is_set("once"), timers.is_set("again"));
    assert_eq!(set(&puppet, both).await, (true, true));
    advance(SECOND).await;
    let_run().await;
    assert_eq!(set(&puppet, both).await, (false, true));
    set(&puppet, |timers| timers.cancel("again")).await;
    assert_eq!(set(&puppet, both).await, (false, false));
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_is_due_and_cancelled_by_another_due_at_the_same_instant_does_not_ring() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| {
        let cancelling = act(|puppet, ctx| {
            puppet.notes.push(1);
            assert!(ctx.timers().cancel("second"));
            Ok(())
        });
        timers.once("first", SECOND, cancelling);
        timers.once("second", SECOND, Order::Note(2));
    })
    .await;
    advance(SECOND).await;
    assert_eq!(notes(&puppet).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn the_timers_of_a_stopped_actor_are_dropped_and_never_ring() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    let token = Arc::new(());
    let (in_message, in_closure, in_idle) = (token.clone(), token.clone(), token.clone());
    call(&puppet, |_, ctx| {
        let holding = act(move |_, _| {
            drop(in_message);
            Ok(())
        });
        ctx.timers().once("a", SECOND, holding);
        ctx.timers().fixed_rate("b", SECOND, move || Order::Note(Arc::strong_count(&in_closure) as u64));
        ctx.set_receive_timeout(SECOND, move || Order::Note(Arc::strong_count(&in_idle) as u64));
    })
    .await;
    assert_eq!(Arc::strong_count(&token), 4);
    puppet.stop();
    puppet.stopped().await;
    assert_eq!(Arc::strong_count(&token), 1);
    advance(SECOND * 10).await;
    assert_eq!(log.lines(), ["p started", "p stopping Requested"]);
    assert_eq!(system.dead_letters().total(), 0);
}

/// Sends itself again until the flood is over.
fn flood(over: &Arc<AtomicBool>) -> Order {
    let over = over.clone();
    act(move |_, ctx| {
        if over.load(Ordering::SeqCst) {
            return Ok(());
        }
        ctx.self_ref().try_tell(flood(&over)).map_err(|_| Fault::new("no room"))
    })
}

#[tokio::test]
async fn a_timer_rings_although_messages_keep_coming() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| timers.once("a", Duration::from_millis(5), Order::Note(1))).await;
    let over = Arc::new(AtomicBool::new(false));
    for _ in 0..500 {
        puppet.tell(flood(&over)).await.unwrap();
    }
    eventually("the timer rings", || log.has("p 1")).await;
    over.store(true, Ordering::SeqCst);
    assert_eq!(log.count("restarted"), 0);
}

/// Does work that takes two seconds with each tick.
struct Slow;

enum Work {
    Tick,
    Ping(Reply<()>),
}

impl Actor for Slow {
    type Msg = Work;
    async fn receive(&mut self, work: Work, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match work {
            Work::Tick => advance(SECOND * 2).await,
            Work::Ping(reply) => reply.send(()),
        }
        Ok(())
    }
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.timers().fixed_rate("tick", SECOND, || Work::Tick);
        Ok(())
    }
}

/// Its ticks take longer than they are apart, so one is always due.
#[tokio::test(start_paused = true)]
async fn a_timer_that_is_always_due_does_not_keep_messages_out() {
    let system = System::new("test").unwrap();
    let slow = system.spawn(|| Slow);
    slow.ask(Work::Ping).timeout(SECOND * 600).await.unwrap();
    advance(SECOND).await;
    slow.ask(Work::Ping).timeout(SECOND * 600).await.unwrap();
}

#[tokio::test]
async fn a_timer_of_no_delay_set_in_each_turn_does_not_keep_messages_out() {
    fn again() -> Order {
        act(|_, ctx| {
            ctx.timers().once("again", Duration::ZERO, again());
            Ok(())
        })
    }
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    puppet.tell(again()).await.unwrap();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    puppet.tell(Order::Note(1)).await.unwrap();
    eventually("the message is handled", || log.has("p 1")).await;
}

#[tokio::test(start_paused = true)]
async fn periods_of_nothing_are_a_millisecond_and_do_not_spin() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| {
        timers.fixed_delay("a", Duration::ZERO, || Order::Note(1));
        timers.fixed_rate("b", Duration::ZERO, || Order::Note(2));
    })
    .await;
    call(&puppet, |_, ctx| ctx.set_receive_timeout(Duration::ZERO, || Order::Note(3))).await;
    assert_eq!(notes(&puppet).await, [0_u64; 0]);
    advance(Duration::from_millis(10)).await;
    let notes = notes(&puppet).await;
    assert_eq!(notes.iter().filter(|n| **n == 1).count(), 1);
    assert_eq!(notes.iter().filter(|n| **n == 2).count(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_longest_durations_there_are_do_not_panic() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    call(&puppet, |_, ctx| {
        ctx.timers().once("a", Duration::MAX, Order::Note(1));
        ctx.timers().fixed_delay("b", Duration::MAX, || Order::Note(2));
        ctx.timers().fixed_rate("c", Duration::MAX, || Order::Note(3));
        ctx.set_receive_timeout(Duration::MAX, || Order::Note(4));
        ctx.timers().once("soon", SECOND, Order::Note(5));
    })
    .await;
    advance(SECOND * 3600).await;
    assert_eq!(notes(&puppet).await, [5]);
    assert_eq!(log.count("restarted"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_panic_where_a_timer_makes_its_message_is_a_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    set(&puppet, |timers| timers.fixed_delay("a", SECOND, || panic!("ouch"))).await;
    advance(SECOND).await;
    let_run().await;
    assert!(!puppet.is_stopped(), "{:?}", log.lines());
    notes(&puppet).await;
    assert!(log.has("p restarted after panicked: ouch"), "{:?}", log.lines());
}

#[tokio::test(start_paused = true)]
async fn a_panic_where_the_receive_timeout_makes_its_message_is_a_fault() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let puppet = puppet(&system, &log);
    call(&puppet, |_, ctx| ctx.set_receive_timeout(SECOND, || panic!("ouch"))).await;
    advance(SECOND).await;
    let_run().await;
    assert!(!puppet.is_stopped(), "{:?}", log.lines());
    notes(&puppet).await;
    assert!(log.has("p restarted after panicked: ouch"), "{:?}", log.lines());
}

/// Notes 9 whenever it was idle for a second.
async fn idler(system: &System, log: &Log) -> ActorRef<Order> {
    let puppet = puppet(system, log);
    call(&puppet, |_, ctx| ctx.set_receive_timeout(SECOND, || Order::Note(9))).await;
    puppet
}

#[tokio::test(start_paused = true)]
async fn the_receive_timeout_sends_after_idle_time_again_and_again() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let _idler = idler(&system, &log).await;
    for n in 1..=3 {
        advance(Duration::from_millis(999)).await;
        let_run().await;
        assert_eq!(log.count("p 9"), n - 1);
        advance(Duration::from_millis(1)).await;
        let_run().await;
        assert_eq!(log.count("p 9"), n);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_begins_the_receive_timeout_anew() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let idler = idler(&system, &log).await;
    for n in 0..10 {
        advance(SECOND * 3 / 4).await;
        idler.tell(Order::Note(n % 9)).await.unwrap();
        let_run().await;
    }
    assert_eq!(log.count("p 9"), 0);
    advance(SECOND).await;
    let_run().await;
    assert_eq!(log.count("p 9"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_turn_is_not_idle_time() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let idler = idler(&system, &log).await;
    let gate = hold(&idler);
    let_run().await;
    advance(SECOND * 10).await;
    gate.send(()).unwrap();
    let_run().await;
    assert_eq!(log.count("p 9"), 0);
    advance(SECOND).await;
    let_run().await;
    assert_eq!(log.count("p 9"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_receive_timeout_sends_nothing() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let idler = idler(&system, &log).await;
    call(&idler, |_, ctx| ctx.cancel_receive_timeout()).await;
    advance(SECOND * 10).await;
    let_run().await;
    assert_eq!(log.count("p 9"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_receive_timeout_set_again_replaces_the_one_before() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let idler = idler(&system, &log).await;
    call(&idler, |_, ctx| ctx.set_receive_timeout(SECOND * 5, || Order::Note(5))).await;
    advance(SECOND * 5).await;
    let_run().await;
    assert_eq!((log.count("p 9"), log.count("p 5")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_new_instance_may_set_timers_of_its_own() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let at_once = Supervision::default().backoff(Duration::ZERO, Duration::ZERO);
    let timed = Puppet::new("p", &log).on_started(|ctx| {
        ctx.timers().fixed_rate("a", SECOND, || Order::Note(1));
        Ok(())
    });
    let puppet = system.actor(timed.maker()).supervision(at_once).spawn().unwrap();
    puppet.tell(fail("broken")).await.unwrap();
    notes(&puppet).await;
    advance(SECOND * 2).await;
    assert_eq!(notes(&puppet).await, [1, 1]);
}

/// Panics as it is dropped unhandled.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a bomb goes off");
    }
}

struct Bomber(Arc<AtomicUsize>);

impl Actor for Bomber {
    type Msg = Option<Bomb>;

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.0.fetch_add(1, Ordering::SeqCst);
        ctx.timers().once("bomb", Duration::from_secs(3600), Some(Bomb));
        Ok(())
    }

    async fn receive(&mut self, _: Option<Bomb>, _: &mut Context<Self>) -> Result<(), Fault> {
        Err(Fault::new("told to fail"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_timers_message_that_panics_as_it_is_dropped_does_not_stop_a_restart() {
    let system = System::new("test").unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let share = begun.clone();
    let bomber = system.spawn(move || Bomber(share.clone()));
    bomber.tell(None).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), async {
        while begun.load(Ordering::SeqCst) < 2 {
            advance(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("it is restarted");
}
