//! Which trace a message belongs to, as W3C Trace Context has it.

/// The trace context of a message: handed on, never looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The trace.
    pub id: [u8; 16],
    /// The span that sent the message.
    pub span: [u8; 8],
    /// The trace flags; bit 0 says that it is sampled.
    pub flags: u8,
}

impl Trace {
    /// Its length on the wire, in bytes.
    pub const LENGTH: usize = 25;
}
