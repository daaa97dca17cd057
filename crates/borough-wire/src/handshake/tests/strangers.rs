//! Those who do not belong: without the secret, with a recording, with another protocol.

use super::*;

fn other_secret() -> Option<Secret> {
    Secret::new("another secret, long enough").ok()
}

#[test]
fn without_the_same_secret_nobody_gets_in() {
    for (ours, theirs) in [(None, secret()), (secret(), None), (secret(), other_secret())] {
        let (peer, link) = Rig::with(identity(1), CALL, ours, identity(2), theirs).run();
        assert_eq!(peer, Err(HandshakeError::NotAuthenticated));
        assert_eq!(link, Err(HandshakeError::Refused(Reason::NotAuthenticated.into())));
    }
}

#[test]
fn an_acceptor_that_does_not_know_the_secret_is_found_out() {
    // It takes any proof, and makes up its own.
    let mut rig = Rig::with(identity(1), CALL, secret(), identity(2), None);
    let mut open = Rig::with(identity(1), CALL, None, identity(2), None);
    let hello = rig.hello.clone();
    let (_, challenge) = rig.say(&hello);
    let (_, _) = rig.answer(&challenge);
    let (_, challenge) = open.say(&hello);
    let (_, proof) = open.answer(&challenge);
    let proven = open.say(&proof).0.unwrap().expect("it knows the empty key");
    let mut accepted = Vec::new();
    proven.accept(0, SIZES, &mut accepted);
    assert_eq!(rig.answer(&accepted).0, Err(HandshakeError::NotAuthenticated));
}

#[test]
fn a_recorded_connection_cannot_be_played_back_with_a_secret_or_without() {
    for secret in [secret(), None] {
        let mut first = Rig::with(identity(1), CALL, secret.clone(), identity(2), secret.clone());
        let hello = first.hello.clone();
        let (_, challenge) = first.say(&hello);
        let (_, proof) = first.answer(&challenge);
        assert!(first.say(&proof).0.unwrap().is_some());
        let mut again = Acceptor::new(identity(2), secret, [23; 32]).unwrap();
        assert!(again.step(&hello, &mut Vec::new()).unwrap().is_none());
        assert_eq!(again.step(&proof, &mut Vec::new()).unwrap_err(), HandshakeError::NotAuthenticated);
    }
}

#[test]
fn a_proof_sent_back_is_no_proof() {
    // The acceptor has no secret and answers with what the dialer itself proved.
    let mut rig = Rig::new();
    let hello = rig.hello.clone();
    let (_, challenge) = rig.say(&hello);
    let (_, proof) = rig.answer(&challenge);
    let proven = rig.say(&proof).0.unwrap().expect("it is proven");
    let mut accepted = Vec::new();
    proven.accept(0, SIZES, &mut accepted);
    let mac_at = accepted.len() - 32;
    accepted[mac_at..].copy_from_slice(&proof[7..]);
    assert_eq!(rig.answer(&accepted).0, Err(HandshakeError::NotAuthenticated));
}

#[test]
fn no_byte_of_any_message_can_be_changed_on_the_way() {
    let clean = {
        let mut rig = Rig::new();
        let hello = rig.hello.clone();
        let (_, challenge) = rig.say(&hello);
        let (_, proof) = rig.answer(&challenge);
        let mut accepted = Vec::new();
        rig.say(&proof).0.unwrap().expect("it is proven").accept(9, SIZES, &mut accepted);
        [hello, challenge, proof, accepted]
    };
    let connects = |messages: &[Vec<u8>; 4], changed: usize, at: usize| {
        let pass = |index: usize, bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            if index == changed {
                bytes[at] ^= 0x01;
            }
            bytes
        };
        let mut rig = Rig::new();
        let (outcome, challenge) = rig.say(&pass(0, &messages[0]));
        outcome.ok()?;
        let (outcome, proof) = rig.answer(&pass(1, &challenge));
        outcome.ok()?;
        let proven = rig.say(&pass(2, &proof)).0.ok()??;
        let mut accepted = Vec::new();
        proven.accept(9, SIZES, &mut accepted);
        rig.answer(&pass(3, &accepted)).0.ok()?
    };
    assert!(connects(&clean, 4, 0).is_some(), "unchanged, they connect");
    for (changed, message) in clean.iter().enumerate() {
        for at in 0..message.len() {
            assert_eq!(connects(&clean, changed, at), None, "byte {at} of message {changed}");
        }
    }
}

#[test]
fn another_protocol_is_recognised_by_its_first_bytes_and_gets_no_answer() {
    for begins in [
        b"GET / HTTP/1.1\r\n".as_slice(),
        b"\x16\x03\x01\x02\x00\x01",
        b"SSH-2.0-",
        b"\x00\x00\x00\x00",
        b"PO",
    ] {
        assert!(matches!(missing(begins), Err(HandshakeError::NotBorough { .. })), "{begins:?}");
        let (outcome, said) = Rig::new().say(begins);
        assert!(matches!(outcome, Err(HandshakeError::NotBorough { .. })));
        assert!(said.is_empty());
    }
    let shown = missing(b"GET / HTTP/1.1").unwrap_err().to_string();
    assert!(shown.contains("GET / "), "{shown}");
}

#[test]
fn a_message_out_of_turn_ends_the_handshake() {
    let mut rig = Rig::new();
    let hello = rig.hello.clone();
    let (_, challenge) = rig.say(&hello);
    let (outcome, said) = rig.say(&hello);
    assert!(matches!(outcome, Err(HandshakeError::Malformed { message: "proof", .. })));
    assert!(!said.is_empty());
    let (_, proof) = rig.answer(&challenge);
    let (outcome, said) = rig.say(&proof);
    assert_eq!((outcome.unwrap_err(), said), (HandshakeError::Over, Vec::new()));
}

#[test]
fn a_version_that_was_not_offered_is_refused() {
    let mut rig = Rig::new();
    let hello = rig.hello.clone();
    let (_, mut challenge) = rig.say(&hello);
    challenge[7] = 2;
    assert!(matches!(rig.answer(&challenge).0, Err(HandshakeError::Malformed { message: "challenge", .. })));
}

#[test]
fn a_secret_is_long_and_never_shown() {
    assert_eq!(Secret::new([7; 15]).unwrap_err(), SecretTooShort { length: 15 });
    assert_eq!(format!("{:?}", Secret::new([7; 16]).unwrap()), "Secret(..)");
    let rig = Rig::new();
    assert!(!format!("{:?}{:?}", rig.dialer, rig.acceptor).contains("0123456789abcdef"));
}
