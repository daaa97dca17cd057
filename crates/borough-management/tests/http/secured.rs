//! With certificates on both sides.

use std::net::SocketAddr;
use std::sync::Arc;

use borough_cluster::Tls;
use borough_management::Management;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::client::{BOUND, parse, raw};
use crate::fleet::node;

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for loopback, and its key.
fn issue(authority: &Authority) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    (params.signed_by(&key, authority).unwrap(), key)
}

fn tls(authority: &Authority) -> Tls {
    let (certificate, key) = issue(authority);
    Tls::from_pem(authority.pem(), certificate.pem(), key.serialize_pem())
}

/// Asks over TLS; trusts that authority, and shows a certificate of the other, if any. Nothing comes back if it was not let in.
async fn ask(address: SocketAddr, trusts: &Authority, shows: Option<&Authority>) -> Vec<u8> {
    let mut roots = RootCertStore::empty();
    roots.add(trusts.der().clone()).unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots);
    let config = match shows {
        None => config.with_no_client_auth(),
        Some(authority) => {
            let (certificate, key) = issue(authority);
            let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
            let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let exchange = async {
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::from(address.ip());
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.ok()?;
        let request = format!("GET /api/members HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        // Who closes without saying so has sent all there is.
        let _ = stream.read_to_end(&mut answer).await;
        Some(answer)
    };
    timeout(BOUND, exchange).await.unwrap().unwrap_or_default()
}

#[tokio::test]
async fn only_who_shows_a_certificate_of_the_authority_is_answered() {
    let (ours, theirs) = (authority(), authority());
    let node = node("a", None).await;
    let management = Management::builder(&node).listen("0.0.0.0:0").tls(tls(&ours)).start().await.unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], management.address().port()));
    let answer = ask(address, &ours, Some(&ours)).await;
    assert_eq!(parse(&answer).map(|answer| answer.status), Some(200));
    for shows in [None, Some(&theirs)] {
        let answer = ask(address, &ours, shows).await;
        assert!(answer.is_empty(), "{:?}", String::from_utf8_lossy(&answer));
    }
    let plain =
        raw(address, b"GET /api/members HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    assert!(!plain.starts_with(b"HTTP"), "{:?}", String::from_utf8_lossy(&plain));
}
