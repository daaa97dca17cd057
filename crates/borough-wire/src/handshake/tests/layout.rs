//! The bytes themselves.

use super::*;
use crate::limits::{BEFORE_AUTHENTICATION, TEXT_MAX};

#[test]
fn a_message_is_read_byte_by_byte_to_its_end_and_not_beyond() {
    let hello = Rig::new().hello;
    let mut read = 0;
    loop {
        match missing(&hello[..read]).unwrap() {
            0 => break,
            more => {
                assert!(read + more <= hello.len(), "{more} after {read}");
                read += 1;
            }
        }
    }
    assert_eq!(read, hello.len());
}

#[test]
fn a_length_beyond_the_limit_is_not_read() {
    let begin = |length: usize| {
        let mut bytes = u16::try_from(length).unwrap().to_le_bytes().to_vec();
        bytes.extend_from_slice(b"BORO");
        missing(&bytes)
    };
    assert_eq!(begin(BEFORE_AUTHENTICATION), Ok(BEFORE_AUTHENTICATION - 4));
    assert!(begin(BEFORE_AUTHENTICATION + 1).is_err());
    assert!(begin(4).is_err());
}

#[test]
fn the_longest_identity_keeps_the_limit() {
    let text = "x".repeat(TEXT_MAX);
    let ours = |uid| Identity { cluster: text.clone(), address: text.clone(), ..identity(uid) };
    let rig = Rig::with(ours(1), CALL, secret(), ours(2), secret());
    assert!(rig.hello.len() <= BEFORE_AUTHENTICATION);
    let (peer, link) = rig.run();
    assert_eq!((peer.unwrap().address, link.unwrap().address), (text.clone(), text));
}

#[test]
fn a_hello_cut_anywhere_is_malformed() {
    let hello = Rig::new().hello;
    for length in 7..hello.len() {
        let mut cut = hello[..length].to_vec();
        let field = u16::try_from(length - 2).unwrap();
        cut[..2].copy_from_slice(&field.to_le_bytes());
        let (outcome, said) = Rig::new().say(&cut);
        assert!(matches!(outcome, Err(HandshakeError::Malformed { message: "hello", .. })), "{length}");
        assert!(!said.is_empty());
    }
}

#[test]
fn fields_with_values_that_they_cannot_have_are_malformed() {
    // Where a field lies in a hello, what is written there, and what is said of it.
    let cases: [(usize, &[u8], &str); 5] = [
        (7, &[0, 0], "the versions are no range"),
        (7, &[2, 0], "the versions are no range"),
        (11, &[4], "the lane is unknown"),
        (20, &[0; 8], "the uid is 0"),
        (69, &[1, 2], "a text is too long"),
    ];
    for (at, bytes, what) in cases {
        let mut hello = Rig::new().hello;
        hello[at..at + bytes.len()].copy_from_slice(bytes);
        let error = Rig::new().say(&hello).0.unwrap_err();
        assert_eq!(error, HandshakeError::Malformed { message: "hello", what });
    }
}
