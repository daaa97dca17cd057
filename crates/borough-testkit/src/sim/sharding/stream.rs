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

#[cfg(test)]
mod tests {
    use borough_protocol::sharding::region::Word;

    use super::*;

    fn stream() -> Stream {
        let mut stream = Stream::default();
        for (at, nonce) in [(5, 0), (3, 1), (9, 2)] {
            stream.push(Moment::at(at), Frame::Word(Word::BarrierDone { nonce }));
        }
        stream
    }

    fn nonce(frame: &Frame) -> u64 {
        match frame {
            Frame::Word(Word::BarrierDone { nonce }) => *nonce,
            other => panic!("{other:?} was not sent"),
        }
    }

    #[test]
    fn nothing_overtakes_what_was_sent_before() {
        let mut stream = stream();
        assert!(stream.take(Moment::at(4)).is_none(), "the first is on its way");
        let arrived: Vec<u64> =
            std::iter::from_fn(|| stream.take(Moment::at(5))).map(|frame| nonce(&frame)).collect();
        assert_eq!(arrived, [0, 1]);
        assert_eq!(stream.next_at(), Some(Moment::at(9)));
    }

    #[test]
    fn a_stream_that_is_cut_short_has_lost_its_end() {
        for seed in 0..20 {
            let mut stream = stream();
            let lost: Vec<u64> = stream.cut_short(&mut Random::seeded(seed)).iter().map(nonce).collect();
            let kept: Vec<u64> =
                std::iter::from_fn(|| stream.take(Moment::at(9))).map(|frame| nonce(&frame)).collect();
            assert_eq!([kept, lost].concat(), [0, 1, 2]);
        }
    }
}
