//! Who gets through with which certificate, and what files that change lead to.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rcgen::date_time_ymd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

use super::authority::{Authority, Issued};
use super::*;
use crate::testing::MemoryNetwork;
use crate::transport::tcp::TcpTransport;

const A: &str = "a.test:1";
const B: &str = "b.test:1";

/// How each side of a connection from a to b ends: what it says, read before anything was sent.
async fn connect(
    dialer: &TlsTransport,
    acceptor: &TlsTransport,
) -> (io::Result<TlsConnection>, io::Result<TlsConnection>) {
    let at = Address::new(B);
    let mut listener = acceptor.bind(&at).await.unwrap();
    let accept = async { acceptor.accept(listener.accept().await.unwrap().0).await };
    tokio::join!(dialer.connect(&at), accept)
}

fn over_memory(network: &MemoryNetwork, own: &str, tls: &Tls) -> TlsTransport {
    TlsTransport::new(Arc::new(network.transport(Address::new(own))), tls).unwrap()
}

async fn connect_with(a: &Tls, b: &Tls) -> (io::Result<TlsConnection>, io::Result<TlsConnection>) {
    let network = MemoryNetwork::new(1);
    connect(&over_memory(&network, A, a), &over_memory(&network, B, b)).await
}

fn kind<T>(result: io::Result<T>) -> io::ErrorKind {
    result.err().map(|error| error.kind()).unwrap()
}

fn der(issued: &Issued) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap()
}

#[tokio::test]
async fn bytes_go_both_ways_over_tcp() {
    let authority = Authority::new();
    let tls = authority.tls("127.0.0.1");
    let transport = TlsTransport::new(Arc::new(TcpTransport), &tls).unwrap();
    let mut listener = transport.bind(&Address::new("127.0.0.1:0")).await.unwrap();
    let at = listener.local_address().unwrap();
    let accept = async { transport.secure(listener.accept().await.unwrap().0).await };
    let (dialled, accepted) = tokio::join!(transport.dial(&at), accept);
    let (mut dialled, mut accepted) = (dialled.unwrap(), accepted.unwrap());
    dialled.rehome().unwrap();
    accepted.rehome().unwrap();
    dialled.write_u8(7).await.unwrap();
    dialled.flush().await.unwrap();
    assert_eq!(accepted.read_u8().await.unwrap(), 7);
    accepted.write_u8(8).await.unwrap();
    accepted.flush().await.unwrap();
    assert_eq!(dialled.read_u8().await.unwrap(), 8);
}

#[test]
fn a_connection_goes_on_in_another_runtime() {
    let authority = Authority::new();
    let transport = TlsTransport::new(Arc::new(TcpTransport), &authority.tls("127.0.0.1")).unwrap();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let one = runtime();
    let (mut dialled, mut accepted) = one.block_on(async {
        let mut listener = transport.bind(&Address::new("127.0.0.1:0")).await.unwrap();
        let at = listener.local_address().unwrap();
        let accept = async { transport.secure(listener.accept().await.unwrap().0).await };
        let (dialled, accepted) = tokio::join!(transport.dial(&at), accept);
        (dialled.unwrap(), accepted.unwrap())
    });
    let two = runtime();
    two.block_on(async {
        dialled.rehome().unwrap();
        accepted.rehome().unwrap();
    });
    drop(one);
    two.block_on(async {
        let write = async {
            dialled.write_u8(7).await?;
            dialled.flush().await
        };
        let (written, read) = tokio::join!(write, accepted.read_u8());
        written.unwrap();
        assert_eq!(read.unwrap(), 7);
    });
}

#[tokio::test(start_paused = true)]
async fn a_certificate_vouches_for_the_address_of_its_host_alone() {
    let authority = Authority::new();
    let (dialled, accepted) = connect_with(&authority.tls("a.test"), &authority.tls("b.test")).await;
    let (dialled, accepted) = (dialled.unwrap(), accepted.unwrap());
    assert_eq!(accepted.vouches_for(&Address::new("a.test:99")), Some(true));
    assert_eq!(accepted.vouches_for(&Address::new("b.test:1")), Some(false));
    assert_eq!(accepted.vouches_for(&Address::new("10.0.0.1:1")), Some(false));
    assert_eq!(accepted.vouches_for(&Address::new("nonsense")), Some(false));
    assert_eq!(dialled.vouches_for(&Address::new("b.test:1")), Some(true));
}

#[tokio::test(start_paused = true)]
async fn a_certificate_vouches_for_an_ip_address_that_it_names() {
    let authority = Authority::new();
    let (_dialled, accepted) = connect_with(&authority.tls("10.0.0.1"), &authority.tls("b.test")).await;
    let accepted = accepted.unwrap();
    assert_eq!(accepted.vouches_for(&Address::new("10.0.0.1:1")), Some(true));
    assert_eq!(accepted.vouches_for(&Address::new("10.0.0.2:1")), Some(false));
}

#[tokio::test(start_paused = true)]
async fn who_accepts_must_be_certified_for_the_host_that_was_dialled() {
    let authority = Authority::new();
    let (dialled, accepted) = connect_with(&authority.tls("a.test"), &authority.tls("c.test")).await;
    assert_eq!(kind(dialled), io::ErrorKind::PermissionDenied);
    assert!(accepted.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_certificate_of_another_authority_opens_nothing() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    // It trusts us, and shows what another issued.
    let issued = theirs.issue("a.test");
    let stranger = Tls::from_pem(ours.pem(), issued.certificate, issued.key);
    let (dialled, accepted) = connect_with(&stranger, &ours.tls("b.test")).await;
    assert_eq!(kind(accepted), io::ErrorKind::PermissionDenied);
    // With TLS 1.3 a dialer is told afterwards.
    assert_eq!(kind(dialled.unwrap().read_u8().await), io::ErrorKind::PermissionDenied);
}

#[tokio::test(start_paused = true)]
async fn an_acceptor_of_another_authority_is_not_talked_to() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let (dialled, _) = connect_with(&ours.tls("a.test"), &theirs.tls("b.test")).await;
    assert_eq!(kind(dialled), io::ErrorKind::PermissionDenied);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_has_run_out_opens_nothing() {
    let authority = Authority::new();
    let old = authority.issue_with("a.test", |params| {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
    });
    let (_, accepted) = connect_with(&authority.tls_of(&old), &authority.tls("b.test")).await;
    assert_eq!(kind(accepted), io::ErrorKind::PermissionDenied);
    let old = authority.issue_with("b.test", |params| {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
    });
    let (dialled, _) = connect_with(&authority.tls("a.test"), &authority.tls_of(&old)).await;
    let error = dialled.err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    // Without the time of the attempt: what is tried again and again is logged when the text changes.
    assert_eq!(error.to_string(), "the peer's certificate expired at 2001-01-01 00:00:00 UTC");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_tls_is_told_apart() {
    let authority = Authority::new();
    let network = MemoryNetwork::new(1);
    let acceptor = over_memory(&network, B, &authority.tls("b.test"));
    let mut listener = acceptor.bind(&Address::new(B)).await.unwrap();
    let mut stranger = network.transport(Address::new(A)).dial(&Address::new(B)).await.unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let stream = listener.accept().await.unwrap().0;
    assert_eq!(kind(acceptor.accept(stream).await), io::ErrorKind::InvalidData);
}

/// Three files of their own folder.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("borough-tls-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    fn write(&self, name: &str, text: &str, seconds: u64) {
        let path = self.path.join(name);
        fs::write(&path, text).unwrap();
        // File systems with coarse times would hide a quick change.
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds);
        fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
    }

    fn tls(&self) -> Tls {
        Tls::from_files(self.path.join("ca.pem"), self.path.join("cert.pem"), self.path.join("key.pem"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.path));
    }
}

#[tokio::test(start_paused = true)]
async fn files_that_changed_are_used_for_the_next_connection() {
    let authority = Authority::new();
    let folder = Folder::new("reload");
    let (first, second) = (authority.issue("b.test"), authority.issue("b.test"));
    folder.write("ca.pem", &authority.pem(), 0);
    folder.write("cert.pem", &first.certificate, 0);
    folder.write("key.pem", &first.key, 0);
    let network = MemoryNetwork::new(1);
    let dialer = over_memory(&network, A, &authority.tls("a.test"));
    let acceptor = over_memory(&network, B, &folder.tls());
    let shown = async || connect(&dialer, &acceptor).await.0.unwrap().peer_certificate().cloned();
    assert_eq!(shown().await, Some(der(&first)));

    folder.write("cert.pem", &second.certificate, 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(shown().await, Some(der(&first)), "a certificate without its key is not used");

    folder.write("key.pem", &second.key, 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(shown().await, Some(der(&second)));

    folder.write("key.pem", "broken", 2);
    folder.write("cert.pem", "broken", 2);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(shown().await, Some(der(&second)), "what is broken changes nothing");
}

#[tokio::test(start_paused = true)]
async fn files_are_looked_at_once_a_second_at_most() {
    let authority = Authority::new();
    let folder = Folder::new("seldom");
    let (first, second) = (authority.issue("b.test"), authority.issue("b.test"));
    folder.write("ca.pem", &authority.pem(), 0);
    folder.write("cert.pem", &first.certificate, 0);
    folder.write("key.pem", &first.key, 0);
    let network = MemoryNetwork::new(1);
    let dialer = over_memory(&network, A, &authority.tls("a.test"));
    let acceptor = over_memory(&network, B, &folder.tls());
    folder.write("cert.pem", &second.certificate, 1);
    folder.write("key.pem", &second.key, 1);
    let (dialled, _) = connect(&dialer, &acceptor).await;
    assert_eq!(dialled.unwrap().peer_certificate(), Some(&der(&first)));
}

#[test]
fn what_cannot_be_used_is_said_at_the_start() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let authority = Authority::new();
    let (one, other) = (authority.issue("a.test"), authority.issue("a.test"));
    let error = |tls: &Tls| TlsTransport::new(Arc::new(TcpTransport), tls).err().unwrap();
    let missing = error(&Tls::from_files("no/ca.pem", "no/cert.pem", "no/key.pem"));
    assert!(missing.to_string().contains("no/ca.pem"), "{missing}");
    let empty = error(&Tls::from_pem("", one.certificate.clone(), one.key.clone()));
    assert!(matches!(empty, TlsError::Empty { what: "the authority" }), "{empty}");
    let keyless = error(&Tls::from_pem(authority.pem(), one.certificate.clone(), "nothing"));
    assert!(matches!(keyless, TlsError::NotPem { what: "the key", .. }), "{keyless}");
    let mixed = error(&Tls::from_pem(authority.pem(), one.certificate, other.key));
    assert!(matches!(mixed, TlsError::Unusable(_)), "{mixed}");
}

#[test]
fn a_key_is_never_shown() {
    assert_eq!(format!("{:?}", Tls::from_pem("ca", "certificate", "key")), "Tls(from memory)");
}
