//! What goes over the wire, the same in every program.

use serde::{Deserialize, Serialize};

/// What a sink is told or asked with: a number and 64 bytes. The bytes are written and read in one piece; as a tuple
/// of numbers, which is what serde makes of an array, each would be handled on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) seq: u64,
    #[serde(with = "serde_bytes")]
    pub(crate) payload: [u8; 64],
}

impl Item {
    /// The item of this number.
    pub(crate) fn new(seq: u64) -> Self {
        let mut payload = [0xA5; 64];
        payload[..8].copy_from_slice(&seq.to_le_bytes());
        Self { seq, payload }
    }

    /// Whether the payload is the one made for the number.
    pub(crate) fn is_whole(&self) -> bool {
        self.payload[..8] == self.seq.to_le_bytes() && self.payload[63] == 0xA5
    }
}

/// What a sink has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Total {
    /// Items that came, told or asked with.
    pub(crate) count: u64,
    /// Items among them that were damaged or, if told, came at another place than theirs.
    pub(crate) wrong: u64,
}
