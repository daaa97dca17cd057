//! xtra under the workloads of `borough-bench`: unbounded mailbox as in its README, tells are `send(..).detach()`.
//!
//! Its mailbox is a heap by priority without a sequence number, so messages of one priority come in no order. Tells
//! therefore have priority 1: the sum, asked with priority 0, is answered after them.

#[allow(dead_code, unused_imports, reason = "shared with programs that need more of it")]
#[path = "../../../src/driver/mod.rs"]
mod driver;

use std::ops::Range;
use std::process::ExitCode;
use xtra::prelude::*;

struct Counter {
    sum: u64,
}

impl Actor for Counter {
    type Stop = ();

    async fn started(&mut self, _mailbox: &Mailbox<Self>) -> Result<(), Self::Stop> {
        driver::started();
        Ok(())
    }

    async fn stopped(self) {}
}

struct Add(u64);

impl Handler<Add> for Counter {
    type Return = ();

    async fn handle(&mut self, Add(number): Add, _ctx: &mut Context<Self>) {
        self.sum += number;
    }
}

struct Sum;

impl Handler<Sum> for Counter {
    type Return = u64;

    async fn handle(&mut self, _: Sum, _ctx: &mut Context<Self>) -> u64 {
        self.sum
    }
}

struct Xtra;

impl driver::Subject for Xtra {
    type Ref = Address<Counter>;

    async fn spawn(&self, sum: u64) -> Self::Ref {
        xtra::spawn_tokio(Counter { sum }, Mailbox::unbounded())
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: driver::Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            let _unread = actor.send(Add(number)).priority(1).detach().await.expect("told");
            breath.after(number).await;
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        tokio::runtime::Handle::current().block_on(async {
            for number in numbers {
                let _unread = actor.send(Add(number)).priority(1).detach().await.expect("told");
            }
        });
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        actor.send(Sum).await.expect("answered")
    }
}

fn main() -> ExitCode {
    driver::run_on_two_workers(driver::Job::from_args(std::env::args().skip(1)), || Xtra)
}
