//! Honest nodes that do not fit together.

use super::*;

/// What both sides say of a handshake that fails.
fn failing(ours: Identity, call: Call, theirs: Identity) -> (HandshakeError, HandshakeError) {
    let (peer, link) = Rig::with(ours, call, secret(), theirs, secret()).run();
    (peer.unwrap_err(), link.unwrap_err())
}

fn refused(reason: Reason) -> HandshakeError {
    HandshakeError::Refused(reason.into())
}

#[test]
fn without_a_common_version_both_ranges_are_named_on_both_sides() {
    let older = Versions { min: 1, max: 2 };
    let newer = Versions { min: 3, max: 4 };
    let (at_acceptor, at_dialer) = failing(
        Identity { versions: older, ..identity(1) },
        CALL,
        Identity { versions: newer, ..identity(2) },
    );
    assert_eq!(at_acceptor, HandshakeError::Versions { ours: newer, theirs: older });
    assert_eq!(at_dialer, HandshakeError::Versions { ours: older, theirs: newer });
    for error in [at_acceptor, at_dialer] {
        let shown = error.to_string();
        assert!(shown.contains("1 to 2") && shown.contains("3 to 4"), "{shown}");
    }
}

#[test]
fn a_dialer_of_another_cluster_is_refused_without_learning_the_name() {
    let mut theirs = identity(2);
    theirs.cluster = "harbour".to_owned();
    let mut rig = Rig::with(identity(1), CALL, secret(), theirs.clone(), secret());
    let hello = rig.hello.clone();
    let (_, said) = rig.say(&hello);
    assert!(!said.windows(7).any(|part| part == b"harbour"));
    let (at_acceptor, at_dialer) = failing(identity(1), CALL, theirs);
    let shown = at_acceptor.to_string();
    assert!(
        shown.contains("shop") && shown.contains("harbour") && shown.contains("10.0.0.1:2660"),
        "{shown}"
    );
    assert_eq!(at_dialer, refused(Reason::OtherCluster));
}

#[test]
fn a_node_that_was_restarted_is_not_the_one_that_is_wanted() {
    let call = Call { expected: Some(5), ..CALL };
    let (at_acceptor, at_dialer) = failing(identity(1), call, identity(2));
    assert_eq!(at_acceptor, HandshakeError::NotMe { expected: 5, uid: 2 });
    assert_eq!(at_dialer, refused(Reason::NotMe));
}

#[test]
fn a_node_that_dials_itself_learns_so() {
    let (at_acceptor, at_dialer) = failing(identity(1), CALL, identity(1));
    assert_eq!((at_acceptor, at_dialer), (HandshakeError::Myself, HandshakeError::Myself));
}

#[test]
fn a_caller_may_refuse_who_is_proven_in_its_own_words() {
    let mut rig = Rig::new();
    let hello = rig.hello.clone();
    let (_, challenge) = rig.say(&hello);
    let (_, proof) = rig.answer(&challenge);
    let proven = rig.say(&proof).0.unwrap().expect("it is proven");
    assert_eq!(proven.peer().uid, 1);
    let what = "é".repeat(400);
    let mut said = Vec::new();
    Refusal { reason: Reason::Removed, what, remedy: "rest".to_owned() }.put(&mut said);
    let HandshakeError::Refused(refusal) = rig.answer(&said).0.unwrap_err() else { panic!("it was refused") };
    assert_eq!(
        (refusal.reason, refusal.what, refusal.remedy.as_str()),
        (Reason::Removed, "é".repeat(256), "rest")
    );
}

#[test]
fn every_reason_arrives_and_has_words() {
    let reasons = [
        Reason::OtherCluster,
        Reason::NotMe,
        Reason::NotAuthenticated,
        Reason::Busy,
        Reason::Removed,
        Reason::Malformed,
        Reason::TooMany,
    ];
    for reason in reasons {
        let mut said = Vec::new();
        Refusal::from(reason).put(&mut said);
        let error = Rig::new().answer(&said).0.unwrap_err();
        assert_eq!(error, refused(reason));
        assert!(error.to_string().contains("; "), "{error}");
    }
}

#[test]
fn a_reason_of_a_newer_acceptor_is_shown_with_its_words() {
    let mut said = Vec::new();
    Refusal { reason: Reason::Busy, what: "full moon".to_owned(), remedy: String::new() }.put(&mut said);
    said[7] = 200;
    let error = Rig::new().answer(&said).0.unwrap_err();
    assert_eq!(error, HandshakeError::RefusedUnknown { number: 200, what: "full moon".to_owned() });
}

#[test]
fn words_of_a_peer_cannot_forge_lines_of_a_log() {
    let refusal = Refusal { reason: Reason::Busy, what: "a\nb\x1b[2J".to_owned(), remedy: String::new() };
    assert_eq!(refusal.to_string(), "a\\nb\\u{1b}[2J; ");
}

#[test]
fn an_identity_that_cannot_be_sent_is_refused_before_anything_is() {
    let long = Identity { cluster: "x".repeat(513), ..identity(1) };
    let nobody = Identity { uid: 0, ..identity(1) };
    for (ours, expected) in [
        (long, HandshakeError::OurText { field: "cluster name", length: 513 }),
        (nobody, HandshakeError::OurUid),
    ] {
        let mut out = Vec::new();
        assert_eq!(Dialer::new(ours.clone(), CALL, None, [1; 32], &mut out).unwrap_err(), expected);
        assert_eq!(Acceptor::new(ours, None, [1; 32]).unwrap_err(), expected);
        assert!(out.is_empty());
    }
}
