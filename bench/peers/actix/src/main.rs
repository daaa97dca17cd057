//! actix under the workloads of `borough-bench`, on two arbiters: senders in the first, the actors they tell and ask in
//! the second. Tells are `do_send`, which goes past the bound of its mailbox (16). `spawn` and `memory` start the actors
//! in the arbiter that spawns them, which is the faster way.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;

use actix::prelude::*;
use std::ops::Range;
use std::process::ExitCode;

struct Counter {
    sum: u64,
}

impl Actor for Counter {
    type Context = Context<Self>;

    fn started(&mut self, _ctx: &mut Context<Self>) {
        driver::started();
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Add(u64);

impl Handler<Add> for Counter {
    type Result = ();

    fn handle(&mut self, Add(number): Add, _ctx: &mut Context<Self>) {
        self.sum += number;
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Sum;

impl Handler<Sum> for Counter {
    type Result = u64;

    fn handle(&mut self, _: Sum, _ctx: &mut Context<Self>) -> u64 {
        self.sum
    }
}

enum Actix {
    OneArbiter,
    TwoArbiters(ArbiterHandle),
}

impl driver::Subject for Actix {
    type Ref = Addr<Counter>;

    async fn spawn(&self, sum: u64) -> Self::Ref {
        match self {
            Self::OneArbiter => Counter { sum }.start(),
            Self::TwoArbiters(second) => Counter::start_in_arbiter(second, move |_| Counter { sum }),
        }
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: driver::Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.do_send(Add(number));
            breath.after(number).await;
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.do_send(Add(number));
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        actor.send(Sum).await.expect("answered")
    }
}

fn main() -> ExitCode {
    let Some(job) = driver::Job::from_args(std::env::args().skip(1)) else {
        return driver::refuse("usage: <workload> <count>");
    };
    driver::report(System::new().block_on(async {
        let second = Arbiter::new();
        let actix = match job.workload.as_str() {
            "spawn" | "memory" => Actix::OneArbiter,
            _ => Actix::TwoArbiters(second.handle()),
        };
        driver::run(&actix, &job).await
    }))
}
