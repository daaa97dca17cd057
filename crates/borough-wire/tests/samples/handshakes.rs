//! The messages of one handshake between two fixed nodes, and every refusal.

use borough_wire::codec::Codecs;
use borough_wire::handshake::{
    Acceptor, Call, Dialer, HandshakeError, Identity, Lane, Link, Reason, Refusal, Secret, Versions,
};
use borough_wire::limits::Sizes;

use super::Sample;

const VERSIONS: Versions = Versions { min: 1, max: 1 };
const SIZES: Sizes = Sizes { frame_max: 262_144, message_max: 8_388_608 };

fn identity(uid: u64) -> Identity {
    let (cluster, address) = ("golden".to_owned(), format!("10.0.0.{uid}:2660"));
    Identity { cluster, address, uid, codecs: Codecs::from_mask(0b111), versions: VERSIONS }
}

fn secret() -> Secret {
    Secret::new("golden secret, not secret").expect("long enough")
}

fn dialer() -> (Dialer, Vec<u8>) {
    let mut hello = Vec::new();
    let call = Call { lane: Lane::Messages, session: 77, expected: Some(2) };
    let dialer =
        Dialer::new(identity(1), call, Some(secret()), [0x11; 32], &mut hello).expect("a good identity");
    (dialer, hello)
}

fn acceptor() -> Acceptor {
    Acceptor::new(identity(2), Some(secret()), [0x22; 32]).expect("a good identity")
}

/// An acceptor that has heard a hello, and what it said.
fn challenged(hello: &[u8]) -> (Acceptor, Vec<u8>) {
    let (mut acceptor, mut out) = (acceptor(), Vec::new());
    assert!(acceptor.step(hello, &mut out).expect("a good hello").is_none());
    (acceptor, out)
}

/// A dialer that has heard a challenge, and what it said.
fn proving(challenge: &[u8]) -> (Dialer, Vec<u8>) {
    let ((mut dialer, _), mut out) = (dialer(), Vec::new());
    assert_eq!(dialer.step(challenge, &mut out), Ok(None));
    (dialer, out)
}

fn accepted(mut acceptor: Acceptor, proof: &[u8]) -> Vec<u8> {
    let proven = acceptor.step(proof, &mut Vec::new()).expect("a good proof").expect("it is proven");
    let mut out = Vec::new();
    let peer = proven.accept(9, SIZES, &mut out);
    assert_eq!((peer.uid, peer.session, peer.lane, peer.version), (1, 77, Lane::Messages, 1));
    assert_eq!((peer.address.as_str(), peer.expected), ("10.0.0.1:2660", Some(2)));
    out
}

pub(super) fn samples() -> Vec<Sample> {
    let (_, hello) = dialer();
    let (at_acceptor, challenge) = challenged(&hello);
    let (_, proof) = proving(&challenge);
    let last = accepted(at_acceptor, &proof);
    let sample = |name: &str, bytes, read| Sample { name: format!("handshake-{name}.bin"), bytes, read };
    let mut samples = vec![
        sample("hello", hello, Box::new(|bytes: &[u8]| drop(challenged(bytes)))),
        sample("challenge", challenge, Box::new(|bytes: &[u8]| drop(proving(bytes)))),
        sample("proof", proof, Box::new(|bytes: &[u8]| drop(accepted(challenged(&dialer().1).0, bytes)))),
        sample("accepted", last, Box::new(links)),
    ];
    for reason in [
        Reason::OtherCluster,
        Reason::Versions(Versions { min: 3, max: 4 }),
        Reason::NotMe,
        Reason::NotAuthenticated,
        Reason::Busy,
        Reason::Removed,
        Reason::Malformed,
        Reason::TooMany,
        Reason::Myself,
    ] {
        let refusal = Refusal { reason, what: "golden é".to_owned(), remedy: "keep it".to_owned() };
        let mut bytes = Vec::new();
        refusal.put(&mut bytes);
        let name = format!("refused-{}", reason.number());
        samples.push(sample(&name, bytes, Box::new(move |bytes| is_refused(bytes, &refusal))));
    }
    samples
}

fn links(bytes: &[u8]) {
    let (mut dialer, _) = proving(&challenged(&dialer().1).1);
    let link = dialer.step(bytes, &mut Vec::new()).expect("a good acceptance");
    let (address, codecs) = ("10.0.0.2:2660".to_owned(), Codecs::from_mask(0b111));
    assert_eq!(link, Some(Link { uid: 2, address, version: 1, codecs, resume: 9, sizes: SIZES }));
}

fn is_refused(bytes: &[u8], refusal: &Refusal) {
    let error = dialer().0.step(bytes, &mut Vec::new()).expect_err("a refusal");
    let expected = if let Reason::Versions(theirs) = refusal.reason {
        HandshakeError::Versions { ours: VERSIONS, theirs }
    } else if refusal.reason == Reason::Myself {
        HandshakeError::Myself
    } else {
        HandshakeError::Refused(refusal.clone())
    };
    assert_eq!(error, expected);
}
