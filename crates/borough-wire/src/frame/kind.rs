//! What a frame is for: its first byte.

/// The kind of a frame. Its number is its place on the wire and never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A message that wants no answer.
    Tell = 1,
    /// A message that wants one.
    Ask = 2,
    /// The answer to an ask.
    Answer = 3,
    /// There will be no answer to an ask.
    Lost = 4,
    /// A word to an actor that passes its mailbox.
    Interrupt = 5,
    /// Tell me when an actor is gone.
    Watch = 6,
    /// Do not tell me any more.
    Unwatch = 7,
    /// A watched actor is gone.
    Terminated = 8,
    /// Where is the actor of this path and type?
    LookUp = 9,
    /// The answer to a look-up.
    Found = 10,
    /// A part of a larger message.
    Chunk = 11,
    /// All up to here has arrived.
    Ack = 12,
    /// A word of the cluster's own protocols.
    Control = 13,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Tell,
        Self::Ask,
        Self::Answer,
        Self::Lost,
        Self::Interrupt,
        Self::Watch,
        Self::Unwatch,
        Self::Terminated,
        Self::LookUp,
        Self::Found,
        Self::Chunk,
        Self::Ack,
        Self::Control,
    ];

    /// The kind of that number, if this version knows it.
    #[inline]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Tell),
            2 => Some(Self::Ask),
            3 => Some(Self::Answer),
            4 => Some(Self::Lost),
            5 => Some(Self::Interrupt),
            6 => Some(Self::Watch),
            7 => Some(Self::Unwatch),
            8 => Some(Self::Terminated),
            9 => Some(Self::LookUp),
            10 => Some(Self::Found),
            11 => Some(Self::Chunk),
            12 => Some(Self::Ack),
            13 => Some(Self::Control),
            _ => None,
        }
    }

    /// Its number on the wire.
    #[inline]
    pub const fn number(self) -> u8 {
        self as u8
    }
}
