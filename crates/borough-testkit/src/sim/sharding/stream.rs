//! What one life sends to another: in order, exactly once, until one of the two ends or the receiver takes nothing more.

use std::collections::VecDeque;

use borough_protocol::random::Random;

use super::message::Frame;
use crate::sim::moment::Moment;

/// The stream from one life to another.
#[derive(Debug, Default)]
pub(in crate::sim) struct Stream {
    frames: VecDeque<(Moment, Frame)>,
    last: Moment,
    pub(in crate::sim) is_closed: bool,
    /// Whether somebody will look at it.
    pub(in crate::sim) is_planned: bool,
}

impl Stream {
    /// One more frame, which arrives then, or after those before it.
    pub(in crate::sim) fn push(&mut self, at: Moment, frame: Frame) {
        self.last = self.last.max(at);
        self.frames.push_back((self.last, frame));
    }

    /// The next frame that has arrived by now.
    pub(in crate::sim) fn take(&mut self, now: Moment) -> Option<Frame> {
        self.next_at().filter(|at| *at <= now)?;
        self.frames.pop_front().map(|(_, frame)| frame)
    }

    /// When the next frame arrives.
    pub(in crate::sim) fn next_at(&self) -> Option<Moment> {
        self.frames.front().map(|(at, _)| *at)
    }

    /// The sender is no more: some of what it sent arrives, and nothing after that.
    pub(in crate::sim) fn cut_short(&mut self, random: &mut Random) -> Vec<Frame> {
        let kept = usize::try_from(random.below(self.frames.len() as u64 + 1)).unwrap_or(0);
        self.frames.drain(kept..).map(|(_, frame)| frame).collect()
    }

    /// Nothing arrives any more.
    pub(in crate::sim) fn close(&mut self) -> Vec<Frame> {
        self.is_closed = true;
        self.frames.drain(..).map(|(_, frame)| frame).collect()
    }
}
