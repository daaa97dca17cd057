//! What happened, as one number, and as text for those who ask for it.

use std::fmt;

use tokio::time::Instant;

/// Where lines go.
pub type Lines = Box<dyn FnMut(&str) + Send>;

/// A rolling hash over everything that could be seen, each with its simulated time.
pub(crate) struct Trace {
    began: Instant,
    hash: u64,
    events: u64,
    lines: Option<Lines>,
}

impl Trace {
    /// A trace that begins now.
    pub(crate) fn new(seed: u64, lines: Option<Lines>) -> Self {
        Self { began: Instant::now(), hash: seed, events: 0, lines }
    }

    /// Something happened.
    pub(crate) fn note(&mut self, what: fmt::Arguments<'_>) {
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let text = what.to_string();
        self.events += 1;
        self.hash = mix(self.hash, micros);
        for part in text.as_bytes().chunks(8) {
            let mut number = [0; 8];
            number[..part.len()].copy_from_slice(part);
            self.hash = mix(self.hash, u64::from_le_bytes(number));
        }
        if let Some(lines) = &mut self.lines {
            lines(&format!("{:4}.{:06} {text}", micros / 1_000_000, micros % 1_000_000));
        }
    }

    /// The hash so far.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// How much has happened so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({:016x})", self.hash)
    }
}

/// The next value of a rolling hash.
fn mix(hash: u64, number: u64) -> u64 {
    (hash ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}
