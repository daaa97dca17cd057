//! The form that all messages of the handshake share.

use super::HandshakeError;
use crate::bytes::Bytes;
use crate::limits::{BEFORE_AUTHENTICATION, TEXT_MAX};

pub(super) const MAGIC: [u8; 4] = *b"BORO";
/// The length and the magic.
const HEAD: usize = 6;

/// How many more bytes of the message that begins with `so_far` are to be read; 0 once it is whole.
///
/// Read exactly as many and ask again: what follows the last message is a frame. Something that is not Borough is noticed
/// by its first bytes, without waiting for more.
///
/// # Errors
/// [`HandshakeError::NotBorough`]; nothing needs to be answered.
pub fn missing(so_far: &[u8]) -> Result<usize, HandshakeError> {
    let (length, rest) = so_far.split_at(so_far.len().min(2));
    let is_magic = rest.iter().zip(&MAGIC).all(|(byte, expected)| byte == expected);
    let length = <[u8; 2]>::try_from(length).map(|field| usize::from(u16::from_le_bytes(field)));
    match length {
        Err(_) => Ok(HEAD - so_far.len()),
        Ok(length) if !is_magic || !(MAGIC.len() + 1..=BEFORE_AUTHENTICATION).contains(&length) => {
            let begins = so_far[..so_far.len().min(HEAD)].escape_ascii().to_string();
            Err(HandshakeError::NotBorough { begins })
        }
        Ok(_) if so_far.len() < HEAD => Ok(HEAD - so_far.len()),
        Ok(length) => Ok((2 + length).saturating_sub(so_far.len())),
    }
}

/// A whole message as it is read; `message` is the one that is due.
pub(super) struct Fields<'a> {
    pub(super) message: &'static str,
    rest: Bytes<'a>,
}

impl<'a> Fields<'a> {
    /// The kind of a whole message, and its fields.
    pub(super) fn open(message: &'static str, bytes: &'a [u8]) -> Result<(u8, Self), HandshakeError> {
        let mut fields = Self { message, rest: Bytes(bytes) };
        if missing(bytes)? > 0 {
            return Err(fields.malformed("it is not whole"));
        }
        let length = usize::from(fields.short()?);
        if fields.rest.0.len() != length {
            return Err(fields.malformed("something follows it"));
        }
        fields.array::<4>()?;
        let kind = fields.byte()?;
        Ok((kind, fields))
    }

    pub(super) fn malformed(&self, what: &'static str) -> HandshakeError {
        HandshakeError::Malformed { message: self.message, what }
    }

    fn short_of(&self) -> HandshakeError {
        self.malformed("it ends within a field")
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], HandshakeError> {
        self.rest.array().ok_or_else(|| self.short_of())
    }

    pub(super) fn byte(&mut self) -> Result<u8, HandshakeError> {
        self.rest.byte().ok_or_else(|| self.short_of())
    }

    pub(super) fn short(&mut self) -> Result<u16, HandshakeError> {
        self.rest.short().ok_or_else(|| self.short_of())
    }

    pub(super) fn word(&mut self) -> Result<u32, HandshakeError> {
        self.rest.word().ok_or_else(|| self.short_of())
    }

    pub(super) fn long(&mut self) -> Result<u64, HandshakeError> {
        self.rest.long().ok_or_else(|| self.short_of())
    }

    pub(super) fn text(&mut self) -> Result<&'a str, HandshakeError> {
        let length = usize::from(self.short()?);
        if length > TEXT_MAX {
            return Err(self.malformed("a text is too long"));
        }
        let bytes = self.rest.take(length).ok_or_else(|| self.short_of())?;
        core::str::from_utf8(bytes).map_err(|_| self.malformed("a text is not UTF-8"))
    }

    /// That nothing follows the last field.
    pub(super) fn end(&self) -> Result<(), HandshakeError> {
        if self.rest.0.is_empty() { Ok(()) } else { Err(self.malformed("it goes on after its last field")) }
    }
}

/// Appends a message: its fields are what `fields` appends.
pub(super) fn put_message(out: &mut Vec<u8>, kind: u8, fields: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&MAGIC);
    out.push(kind);
    fields(out);
    fill_in_length(&mut out[start..]);
}

/// Fills in the length of a message. All messages are far below the limit: their texts are.
fn fill_in_length(message: &mut [u8]) {
    let length = u16::try_from(message.len() - 2).unwrap_or(u16::MAX);
    message[..2].copy_from_slice(&length.to_le_bytes());
}

/// Appends a text, cut to its limit.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(0).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}
