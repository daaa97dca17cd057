//! Something that may happen a million times, and is logged once a minute.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How often one thing is logged, at most.
pub(crate) const LOG_EVERY: Duration = Duration::from_secs(60);

/// Says when to log again, and how many times it was left out since.
#[derive(Debug, Default)]
pub(crate) struct Seldom {
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    last: Option<Instant>,
    left_out: u64,
}

impl Seldom {
    /// It happened. `Some` if it is to be logged, with the number of those that were not; needs a runtime's clock.
    pub(crate) fn happened(&self) -> Option<u64> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if log.last.is_some_and(|last| now < last + LOG_EVERY) {
            log.left_out += 1;
            return None;
        }
        log.last = Some(now);
        Some(std::mem::take(&mut log.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_logged_once_a_minute_with_the_number_left_out() {
        let seldom = Seldom::default();
        let logged: Vec<_> = (0..10).map(|_| seldom.happened()).collect();
        assert_eq!(logged[0], Some(0));
        assert!(logged[1..].iter().all(Option::is_none));
        tokio::time::advance(LOG_EVERY).await;
        assert_eq!(seldom.happened(), Some(9));
        assert_eq!(seldom.happened(), None);
    }
}
