//! From bytes to a frame, in place.

use super::{Frame, FrameError, Kind, Trace, flags};
use crate::bytes::Bytes;
use crate::limits::{PATH_MAX, TEXT_MAX};

impl<'a> Frame<'a> {
    /// Reads a frame from its bytes after the length. It allocates nothing.
    ///
    /// # Errors
    /// [`FrameError`], which says what is wrong.
    // Measured: spread into the caller's loop it costs 32 ns a frame, called it costs 13.
    #[inline(never)]
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let short = FrameError::Short { length: bytes.len() };
        let Some((&[number, flags], fields)) = bytes.split_first_chunk::<2>() else { return Err(short) };
        let kind = Kind::from_number(number).ok_or(FrameError::UnknownKind { number })?;
        let mut reader = Reader { kind, flags, rest: Bytes(fields), short };
        match kind {
            Kind::Tell => reader.tell(),
            Kind::Ask => reader.ask(),
            Kind::Answer => reader.answer(),
            Kind::Control => reader.control(),
            Kind::Chunk => reader.chunk(),
            Kind::Lost => reader.bare(|it| Ok(Frame::Lost { ask: it.long()?, why: it.byte()? })),
            Kind::Interrupt => {
                reader.bare(|it| Ok(Frame::Interrupt { target: it.long()?, what: it.byte()? }))
            }
            Kind::Watch => reader.bare(|it| Ok(Frame::Watch { target: it.long()?, watch: it.long()? })),
            Kind::Unwatch => reader.bare(|it| Ok(Frame::Unwatch { target: it.long()?, watch: it.long()? })),
            Kind::Terminated => {
                reader.bare(|it| Ok(Frame::Terminated { watch: it.long()?, reason: it.byte()? }))
            }
            Kind::LookUp => reader.bare(Reader::look_up),
            Kind::Found => reader.bare(Reader::found),
            Kind::Ack => reader.bare(|it| Ok(Frame::Ack { position: it.long()? })),
        }
    }
}

/// The rest of a frame whose first two bytes are known.
struct Reader<'a> {
    kind: Kind,
    flags: u8,
    rest: Bytes<'a>,
    short: FrameError,
}

impl<'a> Reader<'a> {
    #[inline]
    fn tell(&mut self) -> Result<Frame<'a>, FrameError> {
        let codec = flags::codec(self.kind, self.flags)?;
        let target = self.long()?;
        let Parts { trace, .. } = self.parts(flags::TRACE | flags::CHAIN)?;
        Ok(Frame::Tell { target, codec, trace, body: self.rest.0 })
    }

    #[inline]
    fn ask(&mut self) -> Result<Frame<'a>, FrameError> {
        let codec = flags::codec(self.kind, self.flags)?;
        let (target, ask) = (self.long()?, self.long()?);
        let Parts { deadline, trace } = self.parts(flags::DEADLINE | flags::TRACE | flags::CHAIN)?;
        Ok(Frame::Ask { target, ask, codec, deadline, trace, body: self.rest.0 })
    }

    #[inline]
    fn answer(&mut self) -> Result<Frame<'a>, FrameError> {
        let codec = flags::codec(self.kind, self.flags)?;
        let ask = self.long()?;
        self.parts(0)?;
        Ok(Frame::Answer { ask, codec, body: self.rest.0 })
    }

    /// A kind without flags and without a body.
    fn bare(
        &mut self,
        fields: fn(&mut Self) -> Result<Frame<'a>, FrameError>,
    ) -> Result<Frame<'a>, FrameError> {
        flags::only(self.kind, self.flags, 0)?;
        let frame = fields(self)?;
        let left = self.rest.0.len();
        if left == 0 { Ok(frame) } else { Err(FrameError::Trailing { kind: self.kind, left }) }
    }

    fn look_up(&mut self) -> Result<Frame<'a>, FrameError> {
        let request = self.long()?;
        let type_name = self.text("type name", TEXT_MAX)?;
        Ok(Frame::LookUp { request, type_name, path: self.text("path", PATH_MAX)? })
    }

    fn found(&mut self) -> Result<Frame<'a>, FrameError> {
        let (request, outcome, target) = (self.long()?, self.byte()?, self.long()?);
        Ok(Frame::Found { request, outcome, target, text: self.text("text", TEXT_MAX)? })
    }

    fn control(&mut self) -> Result<Frame<'a>, FrameError> {
        flags::only(self.kind, self.flags, 0)?;
        Ok(Frame::Control { body: self.rest.0 })
    }

    fn chunk(&mut self) -> Result<Frame<'a>, FrameError> {
        flags::only(self.kind, self.flags, 0)?;
        let last = match self.byte()? {
            0 => false,
            1 => true,
            value => return Err(FrameError::BadField { field: "mark of the last chunk", value }),
        };
        if self.rest.0.is_empty() {
            return Err(FrameError::EmptyChunk);
        }
        Ok(Frame::Chunk { last, body: self.rest.0 })
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, FrameError> {
        self.rest.byte().ok_or(self.short)
    }

    #[inline]
    fn long(&mut self) -> Result<u64, FrameError> {
        self.rest.long().ok_or(self.short)
    }

    fn text(&mut self, field: &'static str, most: usize) -> Result<&'a str, FrameError> {
        let length = usize::from(self.rest.short().ok_or(self.short)?);
        if length > most {
            return Err(FrameError::TextTooLong { field, length, most });
        }
        let bytes = self.rest.take(length).ok_or(self.short)?;
        core::str::from_utf8(bytes).map_err(|_| FrameError::NotText { field })
    }

    #[inline]
    fn parts(&mut self, allowed: u8) -> Result<Parts, FrameError> {
        // Nearly every message goes without; the rest is kept out of the way.
        if self.flags & flags::PARTS == 0 { Ok(Parts::default()) } else { self.some_parts(allowed) }
    }

    #[cold]
    fn some_parts(&mut self, allowed: u8) -> Result<Parts, FrameError> {
        flags::only(self.kind, self.flags & flags::PARTS, allowed)
            .map_err(|_| FrameError::UnknownFlags { kind: self.kind, flags: self.flags })?;
        let mut parts = Parts::default();
        if self.flags & flags::DEADLINE != 0 {
            parts.deadline = Some(self.rest.word().ok_or(self.short)?);
        }
        if self.flags & flags::TRACE != 0 {
            let (id, span) = (self.rest.array().ok_or(self.short)?, self.rest.array().ok_or(self.short)?);
            parts.trace = Some(Trace { id, span, flags: self.byte()? });
        }
        if self.flags & flags::CHAIN != 0 {
            let length = self.rest.short().ok_or(self.short)?;
            self.rest.take(usize::from(length)).ok_or(self.short)?;
        }
        Ok(parts)
    }
}

/// What may stand between the fields and the body.
#[derive(Default)]
struct Parts {
    deadline: Option<u32>,
    trace: Option<Trace>,
}
