//! A10: the event stream.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, DeadLetterReason, Fault, MailboxKind, Reply, System};

use crate::support::eventually;
use crate::worker::{Log, poll_once, soon};

#[derive(Clone, Debug, PartialEq)]
struct Rained(u64);

#[derive(Clone, Debug, PartialEq)]
struct Snowed(&'static str);

/// Writes down the rain it hears of, directly or through an adapter.
struct Gauge(Log);

impl Actor for Gauge {
    type Msg = Rained;
    async fn receive(&mut self, Rained(n): Rained, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.push(n);
        Ok(())
    }
}

fn gauge(system: &System, log: &Log) -> ActorRef<Rained> {
    let log = log.clone();
    system.spawn(move || Gauge(log.clone()))
}

#[tokio::test]
async fn a_subscriber_hears_the_events_of_its_type_in_order() {
    let system = System::new("test").unwrap();
    let mut rain = system.events().subscribe::<Rained>();
    let mut snow = system.events().subscribe::<Snowed>();
    system.events().publish(Rained(1));
    system.events().publish(Snowed("much"));
    system.events().publish(Rained(2));
    assert_eq!(soon(rain.next()).await, Some(Rained(1)));
    assert_eq!(soon(rain.next()).await, Some(Rained(2)));
    assert_eq!(soon(snow.next()).await, Some(Snowed("much")));
    assert!(poll_once(&mut Box::pin(rain.next())).is_pending());
    assert_eq!(rain.lost(), 0);
}

#[tokio::test]
async fn every_subscriber_hears_every_event_from_its_subscription_on() {
    let system = System::new("test").unwrap();
    system.events().publish(Rained(0));
    let mut early = system.events().subscribe::<Rained>();
    system.events().publish(Rained(1));
    let mut late = system.events().subscribe::<Rained>();
    system.events().publish(Rained(2));
    assert_eq!((soon(early.next()).await, soon(early.next()).await), (Some(Rained(1)), Some(Rained(2))));
    assert_eq!(soon(late.next()).await, Some(Rained(2)));
}

#[tokio::test]
async fn an_actor_hears_events_as_messages_until_it_is_unsubscribed() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let gauge = gauge(&system, &log);
    system.events().subscribe_actor(&gauge);
    for n in 0..3 {
        system.events().publish(Rained(n));
    }
    eventually("three are heard", || log.taken() == [0, 1, 2]).await;
    system.events().unsubscribe_actor(&gauge);
    system.events().publish(Rained(3));
    gauge.tell(Rained(4)).await.unwrap();
    eventually("the told one is heard", || log.taken().contains(&4)).await;
    assert_eq!(log.taken(), [0, 1, 2, 4]);
}

/// Subscribes to rain and to snow as it starts, through adapters.
struct Station(Log);

enum Weather {
    Rain(u64),
    Snow,
    Ready(Reply<()>),
}

impl Actor for Station {
    type Msg = Weather;

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.events().subscribe_actor(&ctx.adapter(|Rained(n)| Weather::Rain(n)));
        ctx.events().subscribe_actor(&ctx.adapter(|Snowed(_)| Weather::Snow));
        Ok(())
    }

    async fn receive(&mut self, msg: Weather, _: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Weather::Rain(n) => self.0.push(n),
            Weather::Snow => self.0.push(1000),
            Weather::Ready(reply) => reply.send(()),
        }
        Ok(())
    }
}

#[tokio::test]
async fn an_actor_hears_events_of_several_types_through_adapters() {
    let system = System::new("test").unwrap();
    let log = Log::default();
    let station = {
        let log = log.clone();
        system.spawn(move || Station(log.clone()))
    };
    station.ask(Weather::Ready).await.unwrap();
    system.events().publish(Rained(1));
    system.events().publish(Snowed("some"));
    system.events().publish(Rained(2));
    eventually("all three are heard", || log.taken() == [1, 1000, 2]).await;
}

#[tokio::test]
async fn a_subscriber_that_lags_loses_the_oldest_and_learns_how_many() {
    let system = System::new("test").unwrap();
    let mut rain = system.events().subscribe::<Rained>();
    for n in 0..1500 {
        system.events().publish(Rained(n));
    }
    assert_eq!(soon(rain.next()).await, Some(Rained(1500 - 1024)));
    assert_eq!(rain.lost(), 1500 - 1024);
    for n in 1500 - 1024 + 1..1500 {
        assert_eq!(soon(rain.next()).await, Some(Rained(n)));
    }
    assert_eq!(rain.lost(), 1500 - 1024);
}

#[tokio::test]
async fn a_subscriber_that_lags_holds_up_no_other() {
    let system = System::new("test").unwrap();
    let _lagging = system.events().subscribe::<Rained>();
    let mut keen = system.events().subscribe::<Rained>();
    for n in 0..3000 {
        system.events().publish(Rained(n));
        assert_eq!(soon(keen.next()).await, Some(Rained(n)));
    }
    assert_eq!(keen.lost(), 0);
}

#[tokio::test]
async fn an_actor_that_is_gone_is_unsubscribed() {
    /// Alive for as long as an event of it is.
    #[derive(Clone)]
    struct Traced(#[expect(dead_code, reason = "counted by its references")] Arc<()>);
    struct Ear;
    impl Actor for Ear {
        type Msg = Traced;
        async fn receive(&mut self, _: Traced, _: &mut Context<Self>) -> Result<(), Fault> {
            Ok(())
        }
    }
    let system = System::new("test").unwrap();
    let ear = system.spawn(|| Ear);
    system.events().subscribe_actor(&ear);
    ear.stop();
    soon(ear.stopped()).await;
    let trace = Arc::new(());
    for _ in 0..10 {
        system.events().publish(Traced(trace.clone()));
    }
    assert_eq!(system.dead_letters().total(), 0, "nothing is sent to it any more");
    assert_eq!(Arc::strong_count(&trace), 1);
}

#[tokio::test]
async fn publishing_does_not_wait_for_an_actor_that_is_full() {
    #[derive(Clone)]
    struct Never;
    struct Full;
    impl Actor for Full {
        type Msg = Never;
        async fn receive(&mut self, _: Never, _: &mut Context<Self>) -> Result<(), Fault> {
            std::future::pending().await
        }
    }
    let system = System::new("test").unwrap();
    let full = system.actor(|| Full).mailbox(MailboxKind::bounded(2)).spawn().unwrap();
    system.events().subscribe_actor(&full);
    let mut beside = system.events().subscribe::<Never>();
    for _ in 0..10 {
        system.events().publish(Never);
    }
    for _ in 0..10 {
        assert!(soon(beside.next()).await.is_some());
    }
    let overflown = system.dead_letters().count(DeadLetterReason::Overflow);
    assert!((7..=8).contains(&overflown), "two wait, one may be in its turn: {overflown}");
}

#[tokio::test]
async fn a_subscription_ends_after_the_last_event_of_its_system() {
    let system = System::new("test").unwrap();
    let mut rain = system.events().subscribe::<Rained>();
    system.events().publish(Rained(1));
    system.shutdown().await;
    assert_eq!(soon(rain.next()).await, Some(Rained(1)));
    assert_eq!(soon(rain.next()).await, None);
}

#[tokio::test]
async fn a_subscription_ends_when_its_system_is_dropped() {
    let system = System::new("test").unwrap();
    let mut rain = system.events().subscribe::<Rained>();
    let handle = system.handle();
    drop(system);
    assert_eq!(soon(rain.next()).await, None);
    handle.events().publish(Rained(1));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_to_a_system_that_is_gone_ends_at_once() {
    let system = System::new("test").unwrap();
    system.shutdown().await;
    let mut rain = system.events().subscribe::<Rained>();
    let next = tokio::time::timeout(Duration::from_secs(60), rain.next()).await;
    assert_eq!(next, Ok(None));
}

#[tokio::test]
async fn actors_of_two_systems_with_one_id_are_two_subscribers() {
    let systems = [System::new("one").unwrap(), System::new("two").unwrap()];
    let logs = [Log::default(), Log::default()];
    let gauges = [gauge(&systems[0], &logs[0]), gauge(&systems[1], &logs[1])];
    assert_eq!(gauges[0].id(), gauges[1].id(), "the first of each system");
    systems[0].events().subscribe_actor(&gauges[0]);
    systems[0].events().subscribe_actor(&gauges[1]);
    systems[0].events().unsubscribe_actor(&gauges[1]);
    systems[0].events().publish(Rained(1));
    gauges[0].tell(Rained(2)).await.unwrap();
    eventually("the last is heard", || logs[0].taken().contains(&2)).await;
    assert_eq!(logs[0].taken(), [1, 2]);
    assert_eq!(logs[1].taken(), [0_u64; 0]);
}

#[tokio::test]
async fn an_actor_of_another_system_that_is_gone_takes_no_other_subscriber_along() {
    let systems = [System::new("one").unwrap(), System::new("two").unwrap()];
    let logs = [Log::default(), Log::default()];
    let gauges = [gauge(&systems[0], &logs[0]), gauge(&systems[1], &logs[1])];
    systems[0].events().subscribe_actor(&gauges[0]);
    systems[0].events().subscribe_actor(&gauges[1]);
    gauges[1].stop();
    soon(gauges[1].stopped()).await;
    systems[0].events().publish(Rained(1));
    systems[0].events().publish(Rained(2));
    gauges[0].tell(Rained(3)).await.unwrap();
    eventually("the last is heard", || logs[0].taken().contains(&3)).await;
    assert_eq!(logs[0].taken(), [1, 2, 3]);
}

#[tokio::test]
async fn subscribing_twice_is_subscribing_once() {
    let (system, log) = (System::new("test").unwrap(), Log::default());
    let gauge = gauge(&system, &log);
    for _ in 0..3 {
        system.events().subscribe_actor(&gauge);
    }
    system.events().publish(Rained(1));
    system.events().publish(Rained(2));
    gauge.stop_when_drained();
    soon(gauge.stopped()).await;
    assert_eq!(log.taken(), [1, 2]);
}

/// Subscribes an adapter that holds on to something.
struct Holder(Arc<()>);

impl Actor for Holder {
    type Msg = ();

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let held = self.0.clone();
        ctx.events().subscribe_actor(&ctx.adapter(move |Rained(_)| drop(held.clone())));
        Ok(())
    }

    async fn receive(&mut self, (): (), _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test]
async fn subscribers_that_are_gone_are_let_go_of_without_another_event() {
    let system = System::new("test").unwrap();
    let held = Arc::new(());
    for _ in 0..1000 {
        let share = held.clone();
        let holder = system.spawn(move || Holder(share.clone()));
        holder.stop_when_drained();
        soon(holder.stopped()).await;
    }
    let kept = Arc::strong_count(&held);
    assert!(kept <= 130, "{kept} subscribers of a thousand are kept");
}
