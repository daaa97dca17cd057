//! What happened, as one number, and as text for those who ask for it.

use std::fmt;

use super::moment::Moment;

/// Where lines go.
pub type Lines = Box<dyn FnMut(&str)>;

/// A rolling hash over everything that happened: two runs with the same hash were the same run.
pub(super) struct Trace {
    hash: u64,
    lines: Option<Lines>,
}

impl Trace {
    /// A trace that hashes, and also writes lines if there is somewhere for them to go.
    pub(super) fn new(seed: u64, lines: Option<Lines>) -> Self {
        Self { hash: seed, lines }
    }

    /// Takes numbers into the hash.
    pub(super) fn note<const N: usize>(&mut self, numbers: [u64; N]) {
        for number in numbers {
            self.hash = mix(self.hash, number);
        }
    }

    /// Writes a line, if somebody reads it; otherwise the text is never made.
    pub(super) fn line(&mut self, now: Moment, text: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines(&format!("{now} {}", text()));
        }
    }

    /// The hash so far.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({:016x})", self.hash)
    }
}

/// The next value of a rolling hash. It must not change: hashes of seeds are compared between machines.
pub(super) fn mix(hash: u64, number: u64) -> u64 {
    (hash ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_numbers_counts() {
        let hash = |numbers: [u64; 3]| {
            let mut trace = Trace::new(1, None);
            trace.note(numbers);
            trace.hash()
        };
        assert_eq!(hash([1, 2, 3]), hash([1, 2, 3]));
        assert_ne!(hash([1, 2, 3]), hash([2, 1, 3]));
    }
}
