//! Messages that came in parts, put together again.

use super::{Frame, FrameError, Kind};

/// Puts chunks together; every frame of a lane goes through it.
///
/// ```text
/// Idle --chunk--> Gathering --last chunk--> Whole --next frame--> Idle
///  `--other frame: handed on    `--other frame: refused
/// ```
///
/// It grows only as bytes arrive, by doubling, and never beyond `message_max`.
#[derive(Debug)]
pub struct Assembler {
    state: State,
    whole: Vec<u8>,
    message_max: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Gathering,
    /// The message was handed out and still lies in `whole`.
    Whole,
}

impl Assembler {
    /// One that takes messages of at most `message_max` bytes, kind and fields included.
    pub fn new(message_max: usize) -> Self {
        Self { state: State::Idle, whole: Vec::new(), message_max }
    }

    /// Takes a frame. A frame that is no chunk is handed on as it is; the last chunk gives the whole message; any other gives
    /// none.
    ///
    /// # Errors
    /// [`ChunkError`]: the connection is to be closed.
    #[inline]
    pub fn take<'a>(&'a mut self, frame: Frame<'a>) -> Result<Option<Frame<'a>>, ChunkError> {
        match (self.state, frame) {
            (_, Frame::Chunk { last, body }) => self.gather(last, body),
            (State::Idle, frame) => Ok(Some(frame)),
            (State::Whole, frame) => {
                self.release();
                Ok(Some(frame))
            }
            (State::Gathering, _) => Err(ChunkError::Interleaved { gathered: self.whole.len() }),
        }
    }

    /// Whether no message is unfinished, so that a frame that is no chunk need not go through here. Lets go of the message that was
    /// handed out last.
    #[inline]
    pub fn is_idle(&mut self) -> bool {
        if self.state == State::Whole {
            self.release();
        }
        self.state == State::Idle
    }

    /// How many bytes of an unfinished message there are.
    pub fn gathered(&self) -> usize {
        if self.state == State::Gathering { self.whole.len() } else { 0 }
    }

    fn release(&mut self) {
        self.state = State::Idle;
        self.whole = Vec::new();
    }

    #[cold]
    fn gather(&mut self, last: bool, body: &[u8]) -> Result<Option<Frame<'_>>, ChunkError> {
        if self.state == State::Whole {
            self.release();
        }
        self.state = State::Gathering;
        let length = self.whole.len() + body.len();
        if length > self.message_max {
            return Err(ChunkError::TooLarge { length, most: self.message_max });
        }
        if length > self.whole.capacity() {
            let capacity = (self.whole.capacity() * 2).clamp(length, self.message_max);
            self.whole.reserve_exact(capacity - self.whole.len());
        }
        self.whole.extend_from_slice(body);
        if !last {
            return Ok(None);
        }
        self.state = State::Whole;
        let frame = Frame::decode(&self.whole)?;
        if frame.kind() == Kind::Chunk { Err(ChunkError::Nested) } else { Ok(Some(frame)) }
    }
}

/// Chunks that make no message. The connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The message is larger than the limit that the peer was told.
    #[error(
        "a message in chunks has {length} bytes or more and message_max is {most}: close the connection, or raise it"
    )]
    TooLarge {
        /// What it has so far.
        length: usize,
        /// The limit.
        most: usize,
    },
    /// Another frame between two chunks of a message.
    #[error(
        "a frame came between the chunks of a message, after {gathered} bytes of it: close the connection"
    )]
    Interleaved {
        /// What there was of the message.
        gathered: usize,
    },
    /// Chunks that together are a chunk.
    #[error("a message in chunks is itself a chunk: close the connection")]
    Nested,
    /// Chunks that together are no frame.
    #[error("the chunks of a message are together no frame: {0}")]
    Frame(#[from] FrameError),
}
