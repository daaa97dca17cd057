//! A management behind certificates, asked with those that the program itself makes.

use std::process::Stdio;
use std::time::Instant;

use borough::Tls;
use borough::prelude::*;

use crate::folder::Folder;
use crate::managed::Managed;
use crate::run::{BOUND, json, printed, program, run};

/// An authority, and what it issued to a node and to a person.
struct Certificates {
    folder: Folder,
    authority: String,
    certificate: String,
    key: String,
}

impl Certificates {
    fn new(name: &str) -> Self {
        Self::of(name, "127.0.0.1", "localhost")
    }

    /// For two hosts.
    fn of(name: &str, one: &str, other: &str) -> Self {
        let folder = Folder::new(name);
        let nodes = ["--node", "home", "--node", "person", "--host", one, "--host", other];
        json(&[&["certs", folder.text(), "--json"][..], &nodes].concat());
        let [authority, certificate, key] =
            ["authority.pem", "person.pem", "person.key"].map(|name| folder.file(name));
        Self { folder, authority, certificate, key }
    }

    /// For the management.
    fn tls(&self) -> Tls {
        Tls::from_files(&self.authority, self.folder.file("home.pem"), self.folder.file("home.key"))
    }

    /// Asks as the person.
    fn ask<'a>(&'a self, command: &[&'a str], address: &'a str) -> Vec<&'a str> {
        asking(command, address, &self.authority, Some((self.certificate.as_str(), self.key.as_str())))
    }
}

/// A command, whom it asks, whom it trusts and what it shows.
fn asking<'a>(
    command: &[&'a str],
    address: &'a str,
    authority: &'a str,
    shown: Option<(&'a str, &'a str)>,
) -> Vec<&'a str> {
    let mut arguments = [command, &["--address", address, "--tls-authority", authority]].concat();
    if let Some((certificate, key)) = shown {
        arguments.extend(["--tls-certificate", certificate, "--tls-key", key]);
    }
    arguments
}

/// What it says as it ends with 1.
fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{words}");
    words
}

#[tokio::test(flavor = "multi_thread")]
async fn a_management_behind_certificates_answers_who_shows_one() {
    let ours = Certificates::new("asked");
    let managed = Managed::secured("home", ours.tls()).await;
    let address = managed.address();
    let members = json(&ours.ask(&["members", "--json"], &address));
    assert_eq!(members["members"][0]["node"], "home");
    let by_name = format!("https://{}", address.replace("127.0.0.1", "localhost"));
    assert!(printed(&ours.ask(&["top", "--once"], &by_name)).contains("home"));
    assert!(printed(&ours.ask(&["drain", "home"], &by_name)).contains("home gives its shards away"));
}

#[derive(Serialize, Deserialize)]
struct Nothing;

struct Idle;

impl Actor for Idle {
    type Msg = Nothing;

    async fn receive(&mut self, _: Nothing, _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_followed_through_certificates() {
    let ours = Certificates::new("followed");
    let managed = Managed::secured("home", ours.tls()).await;
    let address = managed.address();
    let mut follow = program(&ours.ask(&["events", "--count", "2", "--json"], &address));
    let mut follower = follow.stdout(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + BOUND;
    // Each new type gives away a shard, whenever the follower begins to listen.
    for number in 0.. {
        if follower.try_wait().unwrap().is_some() {
            break;
        }
        assert!(Instant::now() < until, "the follower has not heard two events");
        let region = managed.node.shard(format!("type-{number}"), |_| Idle).shards(1).start().await.unwrap();
        region.start("one").await.unwrap();
    }
    let printed = String::from_utf8(follower.wait_with_output().unwrap().stdout).unwrap();
    let events: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 2, "{printed}");
    assert!(events.iter().all(|event| event["seen_by"] == "home"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_trusts_another_authority_is_told_which() {
    let (ours, theirs) = (Certificates::new("trusted"), Certificates::new("distrusted"));
    let managed = Managed::secured("home", ours.tls()).await;
    let shown = Some((ours.certificate.as_str(), ours.key.as_str()));
    let words = refusal(&asking(&["members"], &managed.address(), &theirs.authority, shown));
    assert!(words.contains(&format!("https://{}", managed.address())), "{words}");
    assert!(words.contains(&theirs.authority) && words.contains("--tls-authority"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shows_no_certificate_is_told_how() {
    let ours = Certificates::new("shown");
    let managed = Managed::secured("home", ours.tls()).await;
    for command in [&["members"][..], &["events"], &["drain", "home"]] {
        let words = refusal(&asking(command, &managed.address(), &ours.authority, None));
        assert!(words.contains(&format!("https://{}", managed.address())), "{words}");
        assert!(words.contains("--tls-certificate") && words.contains("--tls-key"), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shows_a_certificate_of_another_authority_is_told_so() {
    let (ours, theirs) = (Certificates::new("taken"), Certificates::new("not-taken"));
    let managed = Managed::secured("home", ours.tls()).await;
    let shown = Some((theirs.certificate.as_str(), theirs.key.as_str()));
    let words = refusal(&asking(&["members"], &managed.address(), &ours.authority, shown));
    assert!(words.contains(&theirs.certificate), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_other_hosts_is_not_trusted() {
    let ours = Certificates::of("elsewhere", "one.test", "other.test");
    let managed = Managed::secured("home", ours.tls()).await;
    let words = refusal(&ours.ask(&["members"], &managed.address()));
    assert!(words.contains("one.test") && words.contains("ask it by a host that it names"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn https_to_a_port_without_certificates_is_told_to_be_http() {
    let ours = Certificates::new("open");
    let managed = Managed::start("home").await;
    let words = refusal(&ours.ask(&["members"], &managed.address()));
    assert!(words.contains("does not speak TLS"), "{words}");
    assert!(words.contains(&format!("--address http://{}", managed.address())), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_to_a_port_behind_certificates_is_told_to_be_https() {
    let ours = Certificates::new("closed");
    let managed = Managed::secured("home", ours.tls()).await;
    let words = refusal(&["members", "--address", &managed.address()]);
    assert!(words.contains(&format!("--address https://{}", managed.address())), "{words}");
    assert!(words.contains("--tls-authority"), "{words}");
}

#[test]
fn files_that_cannot_be_used_are_named_before_anybody_is_asked() {
    let (ours, theirs) = (Certificates::new("usable"), Certificates::new("unusable"));
    let missing = ours.folder.file("missing.pem");
    let (authority, certificate, key) =
        (ours.authority.as_str(), ours.certificate.as_str(), ours.key.as_str());
    let cases: [(&[&str], &[&str]); 8] = [
        (&[], &["--tls-authority"]),
        (&["--tls-authority", &missing], &["--tls-authority", &missing, "cannot be read"]),
        (&["--tls-authority", key], &[key, "BEGIN CERTIFICATE"]),
        (&["--tls-authority", authority, "--tls-certificate", certificate], &["--tls-key"]),
        (&["--tls-authority", authority, "--tls-key", key], &["--tls-certificate"]),
        (
            &["--tls-authority", authority, "--tls-certificate", &missing, "--tls-key", key],
            &["--tls-certificate", &missing, "cannot be read"],
        ),
        (
            &["--tls-authority", authority, "--tls-certificate", certificate, "--tls-key", certificate],
            &["--tls-key", certificate, "BEGIN PRIVATE KEY"],
        ),
        (
            &["--tls-authority", authority, "--tls-certificate", certificate, "--tls-key", &theirs.key],
            &[certificate, &theirs.key, "made together"],
        ),
    ];
    for (options, wanted) in cases {
        let words = refusal(&[&["members", "--address", "https://127.0.0.1:1"][..], options].concat());
        assert!(wanted.iter().all(|part| words.contains(part)), "{wanted:?} are not all in {words}");
        assert!(!words.contains("no node answers"), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_can_be_named_by_the_environment() {
    let ours = Certificates::new("named");
    let managed = Managed::secured("home", ours.tls()).await;
    let mut asking = program(&["members"]);
    asking.env("BOROUGH_MANAGEMENT", managed.address());
    asking.env("BOROUGH_MANAGEMENT_TLS_AUTHORITY", &ours.authority);
    asking.env("BOROUGH_MANAGEMENT_TLS_CERTIFICATE", &ours.certificate);
    asking.env("BOROUGH_MANAGEMENT_TLS_KEY", &ours.key);
    let output = asking.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_asks_nobody_needs_no_certificates() {
    let folder = Folder::new("unasked");
    let mut making = program(&["certs", folder.text()]);
    making.env("BOROUGH_MANAGEMENT_TLS_AUTHORITY", "/nowhere/authority.pem");
    let output = making.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
