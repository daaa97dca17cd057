//! The side that listens.

use super::messages::{Accepted, Challenge, Hello, MAC, Proof};
use super::proof::{Side, Transcript};
use super::{HandshakeError, Identity, Lane, Nonce, Reason, Refusal, Secret};
use crate::codec::Codecs;
use crate::limits::Sizes;

/// The acceptor's half of a handshake.
///
/// ```text
/// new -> Listening --hello--> Challenged --proof--> Over, with a Proven in the caller's hand
///            `------- refused, malformed -------> Over
/// ```
#[derive(Debug)]
pub struct Acceptor {
    ours: Identity,
    nonce: Nonce,
    transcript: Transcript,
    state: State,
}

#[derive(Debug)]
enum State {
    Listening,
    Challenged(Peer),
    Over,
}

/// Who dialled, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Who it is.
    pub uid: u64,
    /// Where it says it is reached.
    pub address: String,
    /// The version that is spoken.
    pub version: u16,
    /// What both can read.
    pub codecs: Codecs,
    /// The lane that it wants.
    pub lane: Lane,
    /// The number of the association that the lane belongs to.
    pub session: u64,
    /// Which uid it expected here, if any; it is this node's.
    pub expected: Option<u64>,
}

impl Acceptor {
    /// Waits for a hello. `nonce` must be random and never used before.
    ///
    /// # Errors
    /// [`HandshakeError::OurText`] and [`HandshakeError::OurUid`], if this node's own identity cannot be sent.
    pub fn new(ours: Identity, secret: Option<Secret>, nonce: Nonce) -> Result<Self, HandshakeError> {
        ours.check()?;
        Ok(Self { ours, nonce, transcript: Transcript::new(secret), state: State::Listening })
    }

    /// Takes a whole message of the dialer. None means: send what was appended to `out` and read the next.
    ///
    /// # Errors
    /// [`HandshakeError`]: send what was appended to `out`, which is a refusal or nothing, and close the connection.
    pub fn step(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<Proven>, HandshakeError> {
        let outcome = match core::mem::replace(&mut self.state, State::Over) {
            State::Listening => self.greeted(bytes, out).map(|peer| {
                self.state = State::Challenged(peer);
                None
            }),
            State::Challenged(peer) => self.proven(peer, bytes).map(Some),
            State::Over => Err(HandshakeError::Over),
        };
        if let Some(reason) = outcome.as_ref().err().and_then(answer_to) {
            Refusal::from(reason).put(out);
        }
        outcome
    }

    fn greeted(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Peer, HandshakeError> {
        let hello = Hello::decode(bytes)?;
        let (ours, theirs) = (self.ours.versions, hello.versions);
        let version = ours.newest_common(theirs).ok_or(HandshakeError::Versions { ours, theirs })?;
        if hello.uid == self.ours.uid {
            return Err(HandshakeError::Myself);
        }
        if hello.cluster != self.ours.cluster {
            let (theirs, ours) = (hello.cluster, self.ours.cluster.clone());
            return Err(HandshakeError::OtherCluster { address: hello.address, theirs, ours });
        }
        let expected = (hello.expected != 0).then_some(hello.expected);
        if let Some(expected) = expected.filter(|expected| *expected != self.ours.uid) {
            return Err(HandshakeError::NotMe { expected, uid: self.ours.uid });
        }
        self.transcript.add(bytes);
        let start = out.len();
        Challenge { version, nonce: self.nonce }.put(out);
        self.transcript.add(&out[start..]);
        Ok(Peer {
            uid: hello.uid,
            address: hello.address,
            version,
            codecs: hello.codecs.common(self.ours.codecs),
            lane: hello.lane,
            session: hello.session,
            expected,
        })
    }

    fn proven(&mut self, peer: Peer, bytes: &[u8]) -> Result<Proven, HandshakeError> {
        let proof = Proof::decode(bytes)?;
        if !self.transcript.verify(Side::Dialer, &proof.mac) {
            return Err(HandshakeError::NotAuthenticated);
        }
        self.transcript.add(bytes);
        Ok(Proven { peer, ours: self.ours.clone(), transcript: self.transcript.clone() })
    }
}

/// What the dialer is told about an error; nothing if it does not speak Borough.
fn answer_to(error: &HandshakeError) -> Option<Reason> {
    match error {
        HandshakeError::Malformed { .. } => Some(Reason::Malformed),
        HandshakeError::Versions { ours, .. } => Some(Reason::Versions(*ours)),
        HandshakeError::OtherCluster { .. } => Some(Reason::OtherCluster),
        HandshakeError::NotMe { .. } => Some(Reason::NotMe),
        HandshakeError::NotAuthenticated => Some(Reason::NotAuthenticated),
        HandshakeError::Myself => Some(Reason::Myself),
        HandshakeError::NotBorough { .. }
        | HandshakeError::Refused(_)
        | HandshakeError::RefusedUnknown { .. }
        | HandshakeError::OurText { .. }
        | HandshakeError::OurUid
        | HandshakeError::Over => None,
    }
}

/// A dialer that has proven who it is: [`accept`](Self::accept) it, or send it a [`Refusal`].
#[derive(Debug)]
pub struct Proven {
    peer: Peer,
    ours: Identity,
    transcript: Transcript,
}

impl Proven {
    /// Who it is.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Appends the last message to `out`; what follows are frames. `resume` is up to where the session's frames have
    /// arrived, `sizes` what this node takes: both within [`Limits`](crate::limits::Limits).
    pub fn accept(mut self, resume: u64, sizes: Sizes, out: &mut Vec<u8>) -> Peer {
        let start = out.len();
        let (uid, address, codecs) = (self.ours.uid, self.ours.address, self.ours.codecs);
        Accepted { uid, address, codecs, resume, sizes, mac: [0; MAC] }.put(out);
        let mac_at = out.len() - MAC;
        self.transcript.add(&out[start..mac_at]);
        out[mac_at..].copy_from_slice(&self.transcript.prove(Side::Acceptor));
        self.peer
    }
}
