//! Who does not belong here does not come in: secrets, clusters, certificates.

use std::sync::Arc;

use borough_wire::handshake::Reason;
use rcgen::date_time_ymd;

use super::*;
use crate::transport::tls::authority::Authority;
use crate::transport::tls::{Tls, TlsTransport};

/// How it ends when one dials the other, and why the other turns it away.
async fn fail(dialer: Maker, acceptor: Maker, why: Refusal) -> DialError {
    let mut open = Open::at(acceptor).await;
    let error = dialer.door().dial(&open.address, None, Lane::Messages, 1).await.err().unwrap();
    open.turned_away(why, 1).await;
    assert!(open.entered.try_recv().is_err());
    error
}

fn with_secret(network: &MemoryNetwork, address: &str, uid: u64, text: &str) -> Maker {
    Maker { secret: Some(secret(text)), ..Maker::on(network, address, uid) }
}

#[tokio::test(start_paused = true)]
async fn another_secret_opens_nothing() {
    let network = MemoryNetwork::new(1);
    let dialer = with_secret(&network, A, 1, "0123456789abcdef");
    let acceptor = with_secret(&network, B, 2, "0123456789abcdeF");
    let error = fail(dialer, acceptor, Refusal::NotAuthenticated).await;
    assert!(matches!(error, DialError::NotAuthenticated { .. }), "{error}");
    assert!(error.to_string().contains("secret"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn no_secret_opens_nothing_where_there_is_one() {
    let network = MemoryNetwork::new(1);
    let acceptor = with_secret(&network, B, 2, "0123456789abcdef");
    let error = fail(Maker::on(&network, A, 1), acceptor, Refusal::NotAuthenticated).await;
    assert!(matches!(error, DialError::NotAuthenticated { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn who_has_a_secret_does_not_go_where_there_is_none() {
    let network = MemoryNetwork::new(1);
    let dialer = with_secret(&network, A, 1, "0123456789abcdef");
    let error = fail(dialer, Maker::on(&network, B, 2), Refusal::NotAuthenticated).await;
    assert!(matches!(error, DialError::NotAuthenticated { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_node_of_another_cluster_does_not_come_in() {
    let network = MemoryNetwork::new(1);
    let dialer = Maker { cluster: "elsewhere", ..Maker::on(&network, A, 1) };
    let error = fail(dialer, Maker::on(&network, B, 2), Refusal::OtherCluster).await;
    assert!(matches!(error, DialError::Refused { reason: Reason::OtherCluster, .. }), "{error}");
    assert!(!error.to_string().contains("shop"), "the name is not given away: {error}");
}

fn with_tls(network: &MemoryNetwork, address: &str, uid: u64, tls: &Tls) -> Maker {
    let below = Arc::new(network.transport(Address::new(address)));
    Maker::new(TlsTransport::new(below, tls).unwrap(), incarnation(address, uid))
}

#[tokio::test(start_paused = true)]
async fn a_certificate_of_another_authority_opens_nothing() {
    let network = MemoryNetwork::new(1);
    let (ours, theirs) = (Authority::new(), Authority::new());
    let issued = theirs.issue("a.test");
    let dialer = with_tls(&network, A, 1, &Tls::from_pem(ours.pem(), issued.certificate, issued.key));
    let error = fail(dialer, with_tls(&network, B, 2, &ours.tls("b.test")), Refusal::NotCertified).await;
    assert!(matches!(error, DialError::NotCertified { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_has_run_out_opens_nothing() {
    let network = MemoryNetwork::new(1);
    let authority = Authority::new();
    let old = authority.issue_with("a.test", |params| {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
    });
    let dialer = with_tls(&network, A, 1, &authority.tls_of(&old));
    let error = fail(dialer, with_tls(&network, B, 2, &authority.tls("b.test")), Refusal::NotCertified).await;
    assert!(matches!(error, DialError::NotCertified { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_node_cannot_take_the_address_of_another() {
    let network = MemoryNetwork::new(1);
    let authority = Authority::new();
    // Certified as c, it says that it is a.
    let dialer = with_tls(&network, A, 1, &authority.tls("c.test"));
    let acceptor = with_tls(&network, B, 2, &authority.tls("b.test"));
    let error = fail(dialer, acceptor, Refusal::AddressNotCertified).await;
    assert!(matches!(error, DialError::NotAuthenticated { .. }), "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn who_is_dialled_cannot_take_the_address_of_another() {
    let network = MemoryNetwork::new(1);
    let authority = Authority::new();
    let mut acceptor = with_tls(&network, B, 2, &authority.tls("b.test"));
    let listener = acceptor.transport.bind(&Address::new(B)).await.unwrap();
    acceptor.who = incarnation("c.test:1", 2);
    let (entered, _kept) = mpsc::unbounded_channel();
    let porter = Arc::new(Porter { resume: Ok(0), entered });
    let task = tokio::spawn(acceptor.door().listen(listener, porter));
    let dialer = with_tls(&network, A, 1, &authority.tls("a.test")).door();
    let error = dialer.dial(&Address::new(B), None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::NotCertified { .. }), "{error}");
    assert!(error.to_string().contains("c.test:1"), "{error}");
    task.abort();
}

#[tokio::test(start_paused = true)]
async fn who_listens_with_the_certificate_of_another_host_is_not_talked_to() {
    let network = MemoryNetwork::new(1);
    let authority = Authority::new();
    let open = Open::at(with_tls(&network, B, 2, &authority.tls("c.test"))).await;
    let dialer = with_tls(&network, A, 1, &authority.tls("a.test")).door();
    let error = dialer.dial(&open.address, None, Lane::Control, 0).await.err().unwrap();
    assert!(matches!(error, DialError::NotCertified { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_node_without_tls_does_not_talk_to_one_with_it() {
    let network = MemoryNetwork::new(1);
    let authority = Authority::new();
    let acceptor = with_tls(&network, B, 2, &authority.tls("b.test"));
    fail(Maker::on(&network, A, 1), acceptor, Refusal::NotBorough).await;
    let network = MemoryNetwork::new(1);
    let dialer = with_tls(&network, A, 1, &authority.tls("a.test"));
    fail(dialer, Maker::on(&network, B, 2), Refusal::NotBorough).await;
}
