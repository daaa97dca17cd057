//! kameo under the workloads of `borough-bench`: `spawn` gives its default mailbox, bounded to 64.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;

use kameo::actor::{Actor, ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::message::{Context, Message};
use std::ops::Range;
use std::process::ExitCode;

struct Counter {
    sum: u64,
}

impl Actor for Counter {
    type Args = u64;
    type Error = Infallible;

    async fn on_start(sum: u64, _actor_ref: ActorRef<Self>) -> Result<Self, Infallible> {
        driver::started();
        Ok(Self { sum })
    }
}

struct Add(u64);

impl Message<Add> for Counter {
    type Reply = ();

    async fn handle(&mut self, Add(number): Add, _ctx: &mut Context<Self, ()>) {
        self.sum += number;
    }
}

struct Sum;

impl Message<Sum> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: Sum, _ctx: &mut Context<Self, u64>) -> u64 {
        self.sum
    }
}

struct Kameo;

impl driver::Subject for Kameo {
    type Ref = ActorRef<Counter>;

    async fn spawn(&self, sum: u64) -> Self::Ref {
        Counter::spawn(sum)
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, _breath: driver::Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.tell(Add(number)).await.expect("told");
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.tell(Add(number)).blocking_send().expect("told");
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        actor.ask(Sum).await.expect("answered")
    }
}

fn main() -> ExitCode {
    driver::run_on_two_workers(driver::Job::from_args(std::env::args().skip(1)), || Kameo)
}
