//! A node yields only to a greeting that answers a question of its own life, asked at most 1 s ago.
//!
//! A greeting that was on its way for long may speak of a cluster that is gone, and one that answers an earlier life says nothing of now.

use std::collections::VecDeque;

use borough_protocol::node::Message;
use borough_protocol::settings::Checked;

use crate::sim::meeting::Meeting;
use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::violation::Violation;

/// So old a question may be, by the clock of the node that asked.
const FRESH: Nanos = SECOND;

/// The questions of one life, and when each was last asked.
#[derive(Debug, Default)]
pub(super) struct Asked {
    questions: VecDeque<(u64, Moment)>,
}

impl Asked {
    /// The life says something.
    pub(super) fn says(&mut self, now: Moment, message: &Message) {
        let Message::Hello(greeting) = message else { return };
        let Some(nonce) = greeting.nonce else { return };
        while self.questions.front().is_some_and(|(_, at)| now.since(*at) > 2 * FRESH) {
            self.questions.pop_front();
        }
        match self.questions.back_mut() {
            Some((last, at)) if *last == nonce => *at = now,
            Some(_) | None => self.questions.push_back((nonce, now)),
        }
    }

    /// The life yields.
    pub(super) fn yields(&self, now: Moment, meeting: &Meeting, settings: &Checked) -> Result<(), Violation> {
        // Its clock may be slow.
        let oldest = FRESH * 1000 / (1000 - u64::from(settings.drift_per_mille));
        let is_fresh =
            |nonce: u64| self.questions.iter().any(|(asked, at)| *asked == nonce && now.since(*at) <= oldest);
        if meeting.theirs.answers.is_some_and(is_fresh) {
            return Ok(());
        }
        let Meeting { uid, theirs, .. } = meeting;
        let text =
            format!("{uid:?} yields to {theirs:?}, which answers none of its questions of the last second");
        Err(Violation::Safety("fresh_answer", text))
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::settings::Settings;

    use super::*;
    use crate::sim::invariants::samples::{CLUSTER, meeting};

    #[test]
    fn an_answer_counts_for_a_second() {
        let settings = Checked::new(Settings::default()).expect("safe");
        let at = |millis: u64| Moment::at(millis * SECOND / 1000);
        let mut answer = meeting(CLUSTER.era - 1, true);
        let mut asked = Asked::default();
        let question = borough_protocol::node::Greeting { nonce: Some(7), ..answer.theirs.clone() };
        asked.says(at(1000), &Message::Hello(question));
        assert!(asked.yields(at(1500), &answer, &settings).is_err(), "a question is no answer");
        answer.theirs.answers = Some(7);
        assert!(asked.yields(at(1500), &answer, &settings).is_ok());
        assert!(matches!(
            asked.yields(at(2500), &answer, &settings),
            Err(Violation::Safety("fresh_answer", _))
        ));
        assert!(Asked::default().yields(at(1500), &answer, &settings).is_err(), "another life asked");
    }
}
