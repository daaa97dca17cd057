//! coerce under the workloads of `borough-bench`: its mailbox is unbounded, tells are `notify`, asks are `send`.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;

use async_trait::async_trait;
use coerce::actor::context::ActorContext;
use coerce::actor::message::{Handler, Message};
use coerce::actor::scheduler::ActorType;
use coerce::actor::system::ActorSystem;
use coerce::actor::{Actor, LocalActorRef, new_actor_id};
use std::ops::Range;
use std::process::ExitCode;

struct Counter {
    sum: u64,
}

#[async_trait]
impl Actor for Counter {
    async fn started(&mut self, _ctx: &mut ActorContext) {
        driver::started();
    }
}

struct Add(u64);

impl Message for Add {
    type Result = ();
}

#[async_trait]
impl Handler<Add> for Counter {
    async fn handle(&mut self, Add(number): Add, _ctx: &mut ActorContext) {
        self.sum += number;
    }
}

struct Sum;

impl Message for Sum {
    type Result = u64;
}

#[async_trait]
impl Handler<Sum> for Counter {
    async fn handle(&mut self, _: Sum, _ctx: &mut ActorContext) -> u64 {
        self.sum
    }
}

struct Coerce {
    system: ActorSystem,
}

impl driver::Subject for Coerce {
    type Ref = LocalActorRef<Counter>;

    async fn spawn(&self, sum: u64) -> Self::Ref {
        // Deferred, as waiting for each to start before the next is slower; the driver waits for all of them.
        self.system.new_actor_deferred(new_actor_id(), Counter { sum }, ActorType::Anonymous).await
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: driver::Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.notify(Add(number)).expect("told");
            breath.after(number).await;
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.notify(Add(number)).expect("told");
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        actor.send(Sum).await.expect("answered")
    }
}

fn main() -> ExitCode {
    let job = driver::Job::from_args(std::env::args().skip(1));
    driver::run_on_two_workers(job, || Coerce { system: ActorSystem::new() })
}
