//! A frame as its reader sees it: fields by value, texts and bodies borrowed from the buffer they were read into.

use super::{Kind, Trace};
use crate::codec::CodecId;

/// One frame. What the numbers mean is the business of those who send them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A message that wants no answer.
    Tell {
        /// Who it is for.
        target: u64,
        /// What wrote the body.
        codec: CodecId,
        /// The trace it belongs to.
        trace: Option<Trace>,
        /// The encoded message.
        body: &'a [u8],
    },
    /// A message that wants an answer.
    Ask {
        /// Who it is for.
        target: u64,
        /// The number by which the answer finds its asker.
        ask: u64,
        /// What wrote the body.
        codec: CodecId,
        /// For how long the asker waits, in milliseconds.
        deadline: Option<u32>,
        /// The trace it belongs to.
        trace: Option<Trace>,
        /// The encoded message.
        body: &'a [u8],
    },
    /// The answer to an ask.
    Answer {
        /// The ask.
        ask: u64,
        /// What wrote the body.
        codec: CodecId,
        /// The encoded answer.
        body: &'a [u8],
    },
    /// There will be no answer.
    Lost {
        /// The ask.
        ask: u64,
        /// The reason.
        why: u8,
    },
    /// A word to an actor that passes its mailbox.
    Interrupt {
        /// Who it is for.
        target: u64,
        /// The word.
        what: u8,
    },
    /// Tell me when an actor is gone.
    Watch {
        /// The actor.
        target: u64,
        /// The number by which the news finds its watcher.
        watch: u64,
    },
    /// Do not tell me any more.
    Unwatch {
        /// The actor.
        target: u64,
        /// The watch.
        watch: u64,
    },
    /// A watched actor is gone.
    Terminated {
        /// The watch.
        watch: u64,
        /// The reason; 0xff means that it was gone before it was watched.
        reason: u8,
    },
    /// Where is the actor of this path and type?
    LookUp {
        /// The number by which the answer finds who asked.
        request: u64,
        /// The type of its messages, at most [`TEXT_MAX`](crate::limits::TEXT_MAX) bytes.
        type_name: &'a str,
        /// Its path, at most [`PATH_MAX`](crate::limits::PATH_MAX) bytes.
        path: &'a str,
    },
    /// The answer to a look-up.
    Found {
        /// The look-up.
        request: u64,
        /// How it went.
        outcome: u8,
        /// The actor, if it was found.
        target: u64,
        /// What else there is to say, at most [`TEXT_MAX`](crate::limits::TEXT_MAX) bytes.
        text: &'a str,
    },
    /// A part of a larger message; see [`Assembler`](super::Assembler).
    Chunk {
        /// Whether the message ends here.
        last: bool,
        /// The part, not empty.
        body: &'a [u8],
    },
    /// All up to here has arrived.
    Ack {
        /// The position.
        position: u64,
    },
    /// A word of the cluster's own protocols.
    Control {
        /// The encoded word.
        body: &'a [u8],
    },
}

impl Frame<'_> {
    /// Its kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Tell { .. } => Kind::Tell,
            Self::Ask { .. } => Kind::Ask,
            Self::Answer { .. } => Kind::Answer,
            Self::Lost { .. } => Kind::Lost,
            Self::Interrupt { .. } => Kind::Interrupt,
            Self::Watch { .. } => Kind::Watch,
            Self::Unwatch { .. } => Kind::Unwatch,
            Self::Terminated { .. } => Kind::Terminated,
            Self::LookUp { .. } => Kind::LookUp,
            Self::Found { .. } => Kind::Found,
            Self::Chunk { .. } => Kind::Chunk,
            Self::Ack { .. } => Kind::Ack,
            Self::Control { .. } => Kind::Control,
        }
    }
}
