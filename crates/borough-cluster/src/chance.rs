//! Where chance comes from: uids, nonces, seeds, the scatter of retries. Nothing else in this crate draws.
//!
//! Promise: a node on a real network draws from the operating system; a simulated one draws from its seed, the same every time.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::random::Random;

/// A source of chance. Clones draw from the same source.
#[derive(Clone)]
pub(crate) struct Chance {
    source: Arc<Source>,
}

enum Source {
    System,
    Seeded(Mutex<Random>),
}

impl Chance {
    /// The operating system's, which nobody can foresee. Fails if it gives none.
    pub(crate) fn of_system() -> Result<Self, getrandom::Error> {
        getrandom::u64()?;
        Ok(Self { source: Arc::new(Source::System) })
    }

    /// The chance of that seed, for simulations: whoever knows the seed foresees it.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { source: Arc::new(Source::Seeded(Mutex::new(Random::seeded(seed)))) }
    }

    /// Any number.
    pub(crate) fn number(&self) -> u64 {
        match &*self.source {
            Source::System => {
                let mut bytes = [0; 8];
                fill(&mut bytes);
                u64::from_le_bytes(bytes)
            }
            Source::Seeded(random) => random.lock().unwrap_or_else(PoisonError::into_inner).next_u64(),
        }
    }

    /// The uid of a life that begins.
    pub(crate) fn uid(&self) -> Uid {
        loop {
            if let Some(uid) = Uid::new(self.number()).filter(|uid| *uid != Uid::STORE) {
                return uid;
            }
        }
    }

    /// A number that is used once.
    pub(crate) fn nonce(&self) -> [u8; 32] {
        let mut nonce = [0; 32];
        match &*self.source {
            Source::System => fill(&mut nonce),
            Source::Seeded(random) => {
                let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
                for part in nonce.chunks_exact_mut(8) {
                    part.copy_from_slice(&random.next_u64().to_le_bytes());
                }
            }
        }
        nonce
    }

    /// Somewhere between half of that time and all of it: those who were parted together do not come back together.
    pub(crate) fn scatter(&self, time: Duration) -> Duration {
        let half = time / 2;
        let nanos = u64::try_from(half.as_nanos()).unwrap_or(u64::MAX);
        half + Duration::from_nanos(Random::seeded(self.number()).below(nanos))
    }
}

/// # Panics
/// If the operating system gives no chance any more, after it did at the start: going on with what can be guessed would let strangers in.
fn fill(bytes: &mut [u8]) {
    if let Err(error) = getrandom::fill(bytes) {
        panic!("the operating system gives no random numbers any more: {error}");
    }
}

impl fmt::Debug for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self.source {
            Source::System => "Chance(system)",
            Source::Seeded(_) => "Chance(seeded)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_the_same_chance_every_time() {
        let draw = |seed| {
            let chance = Chance::seeded(seed);
            (chance.uid(), chance.nonce(), chance.scatter(Duration::from_secs(1)), chance.clone().number())
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn the_system_never_draws_the_same_nonce() {
        let chance = Chance::of_system().unwrap();
        assert_ne!(chance.nonce(), chance.nonce());
    }

    #[test]
    fn what_is_scattered_is_at_least_half_and_never_more_than_all() {
        let chance = Chance::seeded(1);
        let all = Duration::from_millis(100);
        assert!((0..1000).map(|_| chance.scatter(all)).all(|time| time >= all / 2 && time <= all));
    }
}
