//! A task behind one of tokio's channels, answering through a oneshot.

use super::Msg;
use crate::driver::{self, Breath, Subject};
use std::ops::Range;
use tokio::sync::{mpsc, oneshot};

/// A task behind tokio's bounded channel.
#[derive(Debug)]
pub(super) struct Bounded;

impl Bounded {
    const CAPACITY: usize = 1024;
}

impl Subject for Bounded {
    type Ref = mpsc::Sender<Msg>;

    async fn spawn(&self, mut sum: u64) -> Self::Ref {
        let (sender, mut mailbox) = mpsc::channel::<Msg>(Self::CAPACITY);
        tokio::spawn(async move {
            driver::started();
            while let Some(msg) = mailbox.recv().await {
                msg.apply(&mut sum);
            }
        });
        sender
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, _breath: Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.send(Msg::Add(number)).await.expect("the task lives");
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.blocking_send(Msg::Add(number)).expect("the task lives");
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        let (reply, answer) = oneshot::channel();
        actor.send(Msg::Sum(reply)).await.expect("the task lives");
        answer.await.expect("the task answers")
    }
}

/// A task behind tokio's unbounded channel.
#[derive(Debug)]
pub(super) struct Unbounded;

impl Subject for Unbounded {
    type Ref = mpsc::UnboundedSender<Msg>;

    async fn spawn(&self, mut sum: u64) -> Self::Ref {
        let (sender, mut mailbox) = mpsc::unbounded_channel::<Msg>();
        tokio::spawn(async move {
            driver::started();
            while let Some(msg) = mailbox.recv().await {
                msg.apply(&mut sum);
            }
        });
        sender
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.send(Msg::Add(number)).expect("the task lives");
            breath.after(number).await;
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.send(Msg::Add(number)).expect("the task lives");
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        let (reply, answer) = oneshot::channel();
        actor.send(Msg::Sum(reply)).expect("the task lives");
        answer.await.expect("the task answers")
    }
}
