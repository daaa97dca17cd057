//! Proofs that a side knows the secret and has seen the very same messages.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::Secret;
use super::messages::MAC;

/// Whose proof it is: one side's can never be played back as the other's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Dialer,
    Acceptor,
}

/// All messages so far, as a running hash, and what they are proven with.
#[derive(Clone)]
pub(super) struct Transcript {
    hash: Sha256,
    secret: Option<Secret>,
}

impl Transcript {
    pub(super) fn new(secret: Option<Secret>) -> Self {
        Self { hash: Sha256::new(), secret }
    }

    /// Takes a message, or the part of one that its proof is over. Messages begin with their length, so no two sequences of
    /// messages have the same bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// The proof of a side over all messages so far.
    pub(super) fn prove(&self, side: Side) -> [u8; MAC] {
        self.mac(side).finalize().into_bytes().into()
    }

    /// Whether it is the proof of that side. It takes as long for a wrong proof as for a right one.
    pub(super) fn verify(&self, side: Side, proof: &[u8; MAC]) -> bool {
        self.mac(side).verify_slice(proof).is_ok()
    }

    fn mac(&self, side: Side) -> Hmac<Sha256> {
        let key = self.secret.as_ref().map_or(&[][..], Secret::bytes);
        // Never: HMAC takes keys of any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
        mac.update(match side {
            Side::Dialer => b"borough dialer",
            Side::Acceptor => b"borough acceptor",
        });
        mac.update(&self.hash.clone().finalize());
        mac
    }
}

impl core::fmt::Debug for Transcript {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Transcript(..)")
    }
}
