//! What a connection is for.

/// One of the connections from a node to a peer. A lane keeps the order of what it carries; lanes do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Lane {
    /// The cluster's own protocols.
    Control = 1,
    /// Messages to actors.
    Messages = 2,
    /// Answers to asks.
    Answers = 3,
}

impl Lane {
    /// All lanes, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Control, Self::Messages, Self::Answers];

    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The lane of that number, if this version knows it.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Control),
            2 => Some(Self::Messages),
            3 => Some(Self::Answers),
            _ => None,
        }
    }
}
