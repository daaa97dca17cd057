//! Handshakes between two pure machines: who gets through, who does not, and what is said.

mod failures;
mod layout;
mod strangers;

use super::*;
use crate::codec::{CodecId, Codecs};
use crate::limits::Sizes;

const SIZES: Sizes = Sizes { frame_max: 8192, message_max: 100_000 };
const CALL: Call = Call { lane: Lane::Messages, session: 77, expected: None };

fn identity(uid: u64) -> Identity {
    Identity {
        cluster: "shop".to_owned(),
        address: format!("10.0.0.{uid}:2660"),
        uid,
        codecs: Codecs::built_in(),
        versions: SPOKEN,
    }
}

fn secret() -> Option<Secret> {
    Secret::new("0123456789abcdef").ok()
}

/// A dialer and an acceptor, uids 1 and 2, and what passed between them.
struct Rig {
    dialer: Dialer,
    acceptor: Acceptor,
    hello: Vec<u8>,
}

impl Rig {
    fn new() -> Self {
        Self::with(identity(1), CALL, secret(), identity(2), secret())
    }

    fn with(
        ours: Identity,
        call: Call,
        our_secret: Option<Secret>,
        theirs: Identity,
        their_secret: Option<Secret>,
    ) -> Self {
        let mut hello = Vec::new();
        let dialer = Dialer::new(ours, call, our_secret, [11; 32], &mut hello).expect("a good identity");
        let acceptor = Acceptor::new(theirs, their_secret, [22; 32]).expect("a good identity");
        Self { dialer, acceptor, hello }
    }

    /// What the acceptor says to a message, whether it fails or not.
    fn say(&mut self, bytes: &[u8]) -> (Result<Option<Proven>, HandshakeError>, Vec<u8>) {
        let mut out = Vec::new();
        let outcome = self.acceptor.step(bytes, &mut out);
        (outcome, out)
    }

    /// What the dialer says to a message.
    fn answer(&mut self, bytes: &[u8]) -> (Result<Option<Link>, HandshakeError>, Vec<u8>) {
        let mut out = Vec::new();
        let outcome = self.dialer.step(bytes, &mut out);
        (outcome, out)
    }

    /// Runs it to its end on both sides: the acceptor's view, then the dialer's.
    fn run(mut self) -> (Result<Peer, HandshakeError>, Result<Link, HandshakeError>) {
        let hello = self.hello.clone();
        let (outcome, said) = self.say(&hello);
        if let Err(error) = outcome {
            return (Err(error), self.answer(&said).0.map(|_| unreachable!("it was refused")));
        }
        let (outcome, proof) = self.answer(&said);
        assert_eq!(outcome, Ok(None), "the dialer takes the challenge");
        let (outcome, mut said) = self.say(&proof);
        let peer = outcome.map(|proven| {
            let proven = proven.expect("the proof is the last word");
            proven.accept(9, SIZES, &mut said)
        });
        (peer, self.answer(&said).0.map(|link| link.expect("the fourth message is the last")))
    }
}

#[test]
fn two_nodes_of_a_cluster_connect_and_know_each_other() {
    for (ours, theirs) in [(secret(), secret()), (None, None)] {
        let call = Call { expected: Some(2), ..CALL };
        let (peer, link) = Rig::with(identity(1), call, ours, identity(2), theirs).run();
        let codecs = Codecs::built_in();
        let peer = peer.unwrap();
        assert_eq!((peer.uid, peer.address.as_str(), peer.version), (1, "10.0.0.1:2660", 1));
        assert_eq!((peer.lane, peer.session, peer.expected), (Lane::Messages, 77, Some(2)));
        assert_eq!(peer.codecs, codecs);
        let address = "10.0.0.2:2660".to_owned();
        assert_eq!(link, Ok(Link { uid: 2, address, version: 1, codecs, resume: 9, sizes: SIZES }));
    }
}

#[test]
fn both_go_by_the_codecs_that_both_have() {
    let mut ours = identity(1);
    ours.codecs = [CodecId::Postcard, CodecId::Json].into_iter().collect();
    let mut theirs = identity(2);
    theirs.codecs = [CodecId::Postcard, CodecId::MessagePack].into_iter().collect();
    let (peer, link) = Rig::with(ours, CALL, secret(), theirs, secret()).run();
    let common = [CodecId::Postcard].into_iter().collect();
    assert_eq!((peer.unwrap().codecs, link.unwrap().codecs), (common, common));
}

#[test]
fn the_newest_common_version_is_spoken() {
    for (ours, theirs, chosen) in
        [((1, 1), (1, 2), 1), ((1, 2), (1, 1), 1), ((1, 3), (2, 5), 3), ((4, 5), (5, 6), 5)]
    {
        let speaking = |uid, (min, max)| Identity { versions: Versions { min, max }, ..identity(uid) };
        let (peer, link) = Rig::with(speaking(1, ours), CALL, None, speaking(2, theirs), None).run();
        assert_eq!((peer.unwrap().version, link.unwrap().version), (chosen, chosen));
    }
}

#[test]
fn a_newer_nodes_hello_may_say_more() {
    let mut rig = Rig::with(identity(1), CALL, None, identity(2), None);
    let mut hello = rig.hello.clone();
    hello.extend_from_slice(b"more");
    let length = u16::try_from(hello.len() - 2).unwrap();
    hello[..2].copy_from_slice(&length.to_le_bytes());
    let (outcome, challenge) = rig.say(&hello);
    assert!(outcome.unwrap().is_none());
    // What was added on the way is in the proof: the dialer did not send it.
    let (_, proof) = rig.answer(&challenge);
    assert_eq!(rig.say(&proof).0.unwrap_err(), HandshakeError::NotAuthenticated);
}
