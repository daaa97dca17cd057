//! What a node says of its own certificate before it uses it.

use borough_cluster::{Node, Tls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd as on};

/// What the start of a node says whose certificate holds from the one year to the other.
async fn started(from: i32, to: i32) -> Result<Node, String> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (on(from, 3, 4), on(to, 2, 28));
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap().pem();
    let tls = Tls::from_pem(authority.pem(), certificate, key.serialize_pem());
    Node::builder("test").listen("127.0.0.1:0").tls(tls).start().await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_node_does_not_start_with_a_certificate_that_has_run_out_and_says_when_it_did() {
    let error = started(2000, 2021).await.unwrap_err();
    assert!(error.contains("expired at 2021-02-28 00:00:00 UTC") && error.contains("issue"), "{error}");
}

#[tokio::test]
async fn a_node_does_not_start_with_a_certificate_of_the_future_and_says_from_when_it_holds() {
    let error = started(3000, 3001).await.unwrap_err();
    assert!(error.contains("valid from 3000-03-04 00:00:00 UTC") && error.contains("clock"), "{error}");
    let _node = started(2000, 3000).await.unwrap();
}
