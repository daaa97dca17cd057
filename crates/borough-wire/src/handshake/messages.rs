//! The four messages and their fields.

use super::layout::{Fields, put_message, put_text};
use super::{HandshakeError, Lane, Nonce, Refusal, Versions};
use crate::codec::Codecs;
use crate::limits::{FRAME_MAX_RANGE, MESSAGE_MAX_MOST, Sizes};

const HELLO: u8 = 1;
const CHALLENGE: u8 = 2;
const PROOF: u8 = 3;
const ACCEPTED: u8 = 4;
pub(super) const REFUSED: u8 = 5;

/// The bytes of a proof.
pub(super) const MAC: usize = 32;

/// Message 1. A newer node may send more fields at the end; they are skipped, and are in the proofs all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) versions: Versions,
    pub(crate) lane: Lane,
    pub(crate) session: u64,
    pub(crate) uid: u64,
    /// 0 stands for whoever listens.
    pub(crate) expected: u64,
    pub(crate) codecs: Codecs,
    pub(crate) nonce: Nonce,
    pub(crate) cluster: String,
    pub(crate) address: String,
}

impl Hello {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, HandshakeError> {
        let (kind, mut fields) = Fields::open("hello", bytes)?;
        if kind != HELLO {
            return Err(fields.malformed("another message came in its place"));
        }
        let versions = Versions { min: fields.short()?, max: fields.short()? };
        if !versions.is_sound() {
            return Err(fields.malformed("the versions are no range"));
        }
        let lane =
            Lane::from_number(fields.byte()?).ok_or_else(|| fields.malformed("the lane is unknown"))?;
        let (session, uid, expected) = (fields.long()?, fields.long()?, fields.long()?);
        if uid == 0 {
            return Err(fields.malformed("the uid is 0"));
        }
        let codecs = Codecs::from_mask(fields.byte()?);
        let nonce = fields.array()?;
        let (cluster, address) = (fields.text()?.to_owned(), fields.text()?.to_owned());
        Ok(Self { versions, lane, session, uid, expected, codecs, nonce, cluster, address })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_message(out, HELLO, |out| {
            out.extend_from_slice(&self.versions.min.to_le_bytes());
            out.extend_from_slice(&self.versions.max.to_le_bytes());
            out.push(self.lane.number());
            for number in [self.session, self.uid, self.expected] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.push(self.codecs.mask());
            out.extend_from_slice(&self.nonce);
            put_text(out, &self.cluster);
            put_text(out, &self.address);
        });
    }
}

/// Message 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub(crate) version: u16,
    pub(crate) nonce: Nonce,
}

impl Challenge {
    /// # Errors
    /// Also if the acceptor refused.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, HandshakeError> {
        let mut fields = answer("challenge", CHALLENGE, bytes)?;
        let challenge = Self { version: fields.short()?, nonce: fields.array()? };
        fields.end()?;
        Ok(challenge)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_message(out, CHALLENGE, |out| {
            out.extend_from_slice(&self.version.to_le_bytes());
            out.extend_from_slice(&self.nonce);
        });
    }
}

/// Message 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) mac: [u8; MAC],
}

impl Proof {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, HandshakeError> {
        let (kind, mut fields) = Fields::open("proof", bytes)?;
        if kind != PROOF {
            return Err(fields.malformed("another message came in its place"));
        }
        let proof = Self { mac: fields.array()? };
        fields.end()?;
        Ok(proof)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_message(out, PROOF, |out| out.extend_from_slice(&self.mac));
    }
}

/// Message 4. Its proof is over all of its bytes before it, the length included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) uid: u64,
    pub(crate) address: String,
    pub(crate) codecs: Codecs,
    pub(crate) resume: u64,
    pub(crate) sizes: Sizes,
    pub(crate) mac: [u8; MAC],
}

impl Accepted {
    /// # Errors
    /// Also if the acceptor refused.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, HandshakeError> {
        let mut fields = answer("acceptance", ACCEPTED, bytes)?;
        let uid = fields.long()?;
        if uid == 0 {
            return Err(fields.malformed("the uid is 0"));
        }
        let address = fields.text()?.to_owned();
        let codecs = Codecs::from_mask(fields.byte()?);
        let resume = fields.long()?;
        let sizes = Sizes { frame_max: size(fields.word()?), message_max: size(fields.word()?) };
        let messages = sizes.frame_max..=MESSAGE_MAX_MOST;
        if !FRAME_MAX_RANGE.contains(&sizes.frame_max) || !messages.contains(&sizes.message_max) {
            return Err(fields.malformed("its limits are out of bounds"));
        }
        let mac = fields.array()?;
        fields.end()?;
        Ok(Self { uid, address, codecs, resume, sizes, mac })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_message(out, ACCEPTED, |out| {
            out.extend_from_slice(&self.uid.to_le_bytes());
            put_text(out, &self.address);
            out.push(self.codecs.mask());
            out.extend_from_slice(&self.resume.to_le_bytes());
            for size in [self.sizes.frame_max, self.sizes.message_max] {
                out.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
            }
            out.extend_from_slice(&self.mac);
        });
    }
}

fn size(field: u32) -> usize {
    usize::try_from(field).unwrap_or(usize::MAX)
}

/// The fields of what the acceptor says, unless it refuses.
fn answer<'a>(message: &'static str, due: u8, bytes: &'a [u8]) -> Result<Fields<'a>, HandshakeError> {
    let (kind, mut fields) = Fields::open(message, bytes)?;
    match kind {
        REFUSED => Err(match Refusal::read(&mut fields)? {
            Ok(refusal) => HandshakeError::Refused(refusal),
            Err(unknown) => unknown,
        }),
        kind if kind == due => Ok(fields),
        _ => Err(fields.malformed("another message came in its place")),
    }
}
