//! The end that tells and asks.

use super::frames::Frames;
use super::{Answer, Request};
use crate::driver::Breath;
use crate::remote::{ASKERS, Item, Link, Total};

/// The client's end of the stream.
pub(in crate::raw) struct Client {
    frames: Frames,
}

impl Client {
    pub(super) fn new(frames: Frames) -> Self {
        Self { frames }
    }

    async fn answer(&mut self) -> u64 {
        match self.frames.next().await {
            Some(Answer::Seq(seq)) => seq,
            _ => panic!("the server answers something else"),
        }
    }
}

impl Link for Client {
    async fn flood(&mut self, count: u64, _breath: Breath) {
        for seq in 0..count {
            self.frames.push(&Request::Tell(Item::new(seq))).await;
        }
    }

    async fn ask(&mut self, seq: u64) -> u64 {
        self.frames.push(&Request::Ask(Item::new(seq))).await;
        self.frames.flush().await;
        self.answer().await
    }

    /// No tasks: whenever answers have come, as many new asks go out in one write.
    async fn ask_many(&mut self, count: u64) -> u64 {
        let (mut sum, mut asked, mut answered) = (0, 0, 0);
        while answered < count {
            let window = (answered + ASKERS).min(count);
            for seq in asked..window {
                self.frames.push(&Request::Ask(Item::new(seq))).await;
            }
            asked = window;
            self.frames.flush().await;
            let mut next = Some(Answer::Seq(self.answer().await));
            while let Some(Answer::Seq(seq)) = next {
                assert_eq!(seq, answered, "the answer to another ask");
                sum += seq;
                answered += 1;
                next = self.frames.pop();
            }
        }
        sum
    }

    async fn total(&mut self) -> Total {
        self.frames.push(&Request::Total).await;
        self.frames.flush().await;
        match self.frames.next().await {
            Some(Answer::Total(total)) => total,
            _ => panic!("the server answers something else"),
        }
    }
}
