//! The side that connects.

use super::messages::{Accepted, Challenge, Hello, MAC, Proof};
use super::proof::{Side, Transcript};
use super::{HandshakeError, Identity, Lane, Nonce, Reason, Secret};
use crate::codec::Codecs;
use crate::limits::Sizes;

/// What a connection is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The lane.
    pub lane: Lane,
    /// The number of the association that the lane belongs to, the same over all its connections.
    pub session: u64,
    /// The uid of the node that is wanted; none for whoever listens.
    pub expected: Option<u64>,
}

/// The dialer's half of a handshake.
///
/// ```text
/// new -> Greeted --challenge--> Proven --accepted--> Over
///          `-------- refused, malformed ---------> Over
/// ```
#[derive(Debug)]
pub struct Dialer {
    ours: Identity,
    expected: Option<u64>,
    transcript: Transcript,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Greeted,
    Proven { version: u16 },
    Over,
}

/// A connection that both sides agreed on, as the dialer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Who is there.
    pub uid: u64,
    /// Where it says it is reached.
    pub address: String,
    /// The version that is spoken.
    pub version: u16,
    /// What both can read.
    pub codecs: Codecs,
    /// Up to which position the acceptor already has the session's frames.
    pub resume: u64,
    /// What the acceptor takes.
    pub sizes: Sizes,
}

impl Dialer {
    /// Begins a handshake and appends its first message to `out`. `nonce` must be random and never used before.
    ///
    /// # Errors
    /// [`HandshakeError::OurText`] and [`HandshakeError::OurUid`], if this node's own identity cannot be sent.
    pub fn new(
        ours: Identity,
        call: Call,
        secret: Option<Secret>,
        nonce: Nonce,
        out: &mut Vec<u8>,
    ) -> Result<Self, HandshakeError> {
        ours.check()?;
        let hello = Hello {
            versions: ours.versions,
            lane: call.lane,
            session: call.session,
            uid: ours.uid,
            expected: call.expected.unwrap_or(0),
            codecs: ours.codecs,
            nonce,
            cluster: ours.cluster.clone(),
            address: ours.address.clone(),
        };
        let start = out.len();
        hello.put(out);
        let mut transcript = Transcript::new(secret);
        transcript.add(&out[start..]);
        Ok(Self { ours, expected: call.expected, transcript, state: State::Greeted })
    }

    /// Takes a whole message of the acceptor. None means: send what was appended to `out` and read the next.
    ///
    /// # Errors
    /// [`HandshakeError`]: close the connection. [`HandshakeError::Myself`] says that the node dialled itself.
    pub fn step(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<Link>, HandshakeError> {
        match core::mem::replace(&mut self.state, State::Over) {
            State::Greeted => {
                let version = self.challenged(bytes, out)?;
                self.state = State::Proven { version };
                Ok(None)
            }
            State::Proven { version } => self.accepted(version, bytes).map(Some),
            State::Over => Err(HandshakeError::Over),
        }
    }

    fn challenged(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<u16, HandshakeError> {
        let challenge = Challenge::decode(bytes).map_err(|error| self.clearer(error))?;
        if !self.ours.versions.contain(challenge.version) {
            let what = "it chose a version that was not offered";
            return Err(HandshakeError::Malformed { message: "challenge", what });
        }
        self.transcript.add(bytes);
        let start = out.len();
        Proof { mac: self.transcript.prove(Side::Dialer) }.put(out);
        self.transcript.add(&out[start..]);
        Ok(challenge.version)
    }

    fn accepted(&mut self, version: u16, bytes: &[u8]) -> Result<Link, HandshakeError> {
        let accepted = Accepted::decode(bytes).map_err(|error| self.clearer(error))?;
        self.transcript.add(&bytes[..bytes.len() - MAC]);
        if !self.transcript.verify(Side::Acceptor, &accepted.mac) {
            return Err(HandshakeError::NotAuthenticated);
        }
        let uid = accepted.uid;
        if uid == self.ours.uid {
            return Err(HandshakeError::Myself);
        }
        if let Some(expected) = self.expected.filter(|expected| *expected != uid) {
            return Err(HandshakeError::NotMe { expected, uid });
        }
        Ok(Link {
            uid,
            address: accepted.address,
            version,
            codecs: accepted.codecs.common(self.ours.codecs),
            resume: accepted.resume,
            sizes: accepted.sizes,
        })
    }

    /// A refusal whose meaning this side can say better.
    fn clearer(&self, error: HandshakeError) -> HandshakeError {
        let HandshakeError::Refused(refusal) = error else { return error };
        if let Reason::Versions(theirs) = refusal.reason {
            HandshakeError::Versions { ours: self.ours.versions, theirs }
        } else if refusal.reason == Reason::Myself {
            HandshakeError::Myself
        } else {
            HandshakeError::Refused(refusal)
        }
    }
}
