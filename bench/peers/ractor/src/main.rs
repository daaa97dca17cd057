//! ractor under the workloads of `borough-bench`: its mailbox is unbounded, tells are `cast`, asks are `call!`.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};
use std::ops::Range;
use std::process::ExitCode;

enum Msg {
    Add(u64),
    Sum(RpcReplyPort<u64>),
}

struct Counter;

impl Actor for Counter {
    type Msg = Msg;
    type State = u64;
    type Arguments = u64;

    async fn pre_start(&self, _myself: ActorRef<Msg>, sum: u64) -> Result<u64, ActorProcessingErr> {
        driver::started();
        Ok(sum)
    }

    async fn handle(
        &self,
        _myself: ActorRef<Msg>,
        msg: Msg,
        sum: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        match msg {
            Msg::Add(number) => *sum += number,
            Msg::Sum(reply) => reply.send(*sum)?,
        }
        Ok(())
    }
}

struct Ractor;

impl driver::Subject for Ractor {
    type Ref = ActorRef<Msg>;

    async fn spawn(&self, sum: u64) -> Self::Ref {
        Counter::spawn(None, Counter, sum).await.expect("spawned").0
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: driver::Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.cast(Msg::Add(number)).expect("told");
            breath.after(number).await;
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.cast(Msg::Add(number)).expect("told");
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        call!(actor, Msg::Sum).expect("answered")
    }
}

fn main() -> ExitCode {
    driver::run_on_two_workers(driver::Job::from_args(std::env::args().skip(1)), || Ractor)
}
