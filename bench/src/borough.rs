//! Borough under the workloads, through the public API as its README shows it: a supervised actor with the default
//! bounded mailbox, dead letters and ask timeout. Nothing here is tuned for the benchmark.

use crate::driver::{self, Breath, Job, Subject};
use borough_actor::{Actor, ActorRef, Context, Fault, Reply, System};
use std::ops::Range;
use std::process::ExitCode;

enum Msg {
    Add(u64),
    Sum(Reply<u64>),
}

struct Counter {
    sum: u64,
}

impl Actor for Counter {
    type Msg = Msg;

    async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        driver::started();
        Ok(())
    }

    async fn receive(&mut self, msg: Msg, _ctx: &mut Context<Self>) -> Result<(), Fault> {
        match msg {
            Msg::Add(number) => self.sum += number,
            Msg::Sum(reply) => reply.send(self.sum),
        }
        Ok(())
    }
}

struct Borough {
    system: System,
}

impl Subject for Borough {
    type Ref = ActorRef<Msg>;

    async fn spawn(&self, sum: u64) -> Self::Ref {
        self.system.spawn(move || Counter { sum })
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, _breath: Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.tell(Msg::Add(number)).await.expect("told");
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.blocking_tell(Msg::Add(number)).expect("told");
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        actor.ask(Msg::Sum).await.expect("answered")
    }
}

/// Runs one workload.
pub(crate) fn run(job: Option<Job>) -> ExitCode {
    driver::run_on_two_workers(job, || Borough { system: System::new("bench").expect("a system") })
}
