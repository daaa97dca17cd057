//! The stopped clock moves as far as it is told, and everybody runs at their own moment.

use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault, System};
use borough_testkit::{ManualTime, Probe};

/// Tells when it was woken, every so often, and when it heard nothing for long.
struct Sleeper {
    time: ManualTime,
    tell: ActorRef<(&'static str, Duration)>,
}

#[derive(Clone)]
enum Wake {
    Tick,
    Silence,
}

impl Actor for Sleeper {
    type Msg = Wake;

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.timers().once("once", Duration::from_secs(10), Wake::Tick);
        ctx.set_receive_timeout(Duration::from_secs(30), || Wake::Silence);
        Ok(())
    }

    async fn receive(&mut self, wake: Wake, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let word = match wake {
            Wake::Tick => "tick",
            Wake::Silence => {
                ctx.cancel_receive_timeout();
                "silence"
            }
        };
        self.tell.tell((word, self.time.elapsed())).await?;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn timers_and_receive_timeouts_ring_at_their_own_moments_within_one_step() {
    let system = System::new("test").unwrap();
    let time = ManualTime::new();
    let mut probe = Probe::new(&system);
    let tell = probe.actor_ref();
    system.spawn(move || Sleeper { time, tell: tell.clone() });
    time.advance(Duration::from_secs(9)).await;
    assert_eq!(probe.drain(), []);
    time.advance(Duration::from_secs(60)).await;
    let rang: Vec<_> = probe.drain().into_iter().map(|(word, at)| (word, at.as_secs())).collect();
    assert_eq!(rang, [("tick", 10), ("silence", 40)]);
    assert_eq!(time.elapsed().as_secs(), 69);
}

#[tokio::test(start_paused = true)]
async fn settling_lets_a_long_chain_of_messages_end() {
    let system = System::new("test").unwrap();
    let mut probe = Probe::new(&system);
    let mut next = probe.actor_ref();
    for _ in 0..200 {
        let to = next.clone();
        let relay = Probe::answering(&system, move |number: u32| {
            to.try_tell(number + 1).unwrap();
            None
        });
        next = relay.actor_ref();
        std::mem::forget(relay);
    }
    next.tell(0).await.unwrap();
    ManualTime::new().settle().await;
    assert_eq!(probe.drain(), [200]);
}

#[tokio::test]
#[should_panic(expected = "time is not frozen")]
async fn a_clock_that_runs_is_not_moved() {
    ManualTime::new().advance(Duration::from_secs(1)).await;
}
