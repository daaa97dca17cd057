//! What each discovery finds, and what it says when it finds nothing.

use std::fs;
use std::path::PathBuf;

use super::*;

fn texts(found: Result<Vec<Address>, DiscoveryError>) -> Vec<String> {
    found.unwrap().iter().map(ToString::to_string).collect()
}

/// A file that goes with the test.
struct File(PathBuf);

impl File {
    fn with(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("borough-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn a_file_gives_an_address_a_line_and_its_comments_are_passed_over() {
    let file = File::with("seeds", "# ours\n\nalpha:1 # first\n  10.0.0.1:25520\n[::1]:7\n");
    let found = FileSeeds { path: file.0.clone() }.seeds().await;
    assert_eq!(texts(found), ["alpha:1", "10.0.0.1:25520", "[::1]:7"]);
}

#[tokio::test]
async fn a_wrong_line_is_named_with_its_file_and_number() {
    let file = File::with("wrong", "alpha:1\nbeta\n");
    let error = FileSeeds { path: file.0.clone() }.seeds().await.unwrap_err().to_string();
    assert!(error.contains(&file.0.display().to_string()), "{error}");
    assert!(error.contains("line 2") && error.contains("\"beta\"") && error.contains("host:port"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    let error = FileSeeds { path: "/nowhere/seeds".into() }.seeds().await.unwrap_err().to_string();
    assert!(error.contains("/nowhere/seeds") && error.contains("cannot be read"), "{error}");
}

#[tokio::test]
async fn a_name_gives_every_address_it_stands_for() {
    let found = DnsSeeds { name: "127.0.0.1".into(), port: 25520 }.seeds().await;
    assert_eq!(texts(found), ["127.0.0.1:25520"]);
}

#[tokio::test]
async fn a_name_that_stands_for_nothing_is_named() {
    let error = DnsSeeds { name: "no such name".into(), port: 1 }.seeds().await.unwrap_err().to_string();
    assert!(error.contains("no such name"), "{error}");
}

#[test]
fn an_address_is_a_host_and_a_port() {
    for good in ["a:1", "127.0.0.1:65535", "[::1]:80", "a.b-c:25520"] {
        assert!(is_address(good), "{good}");
    }
    for bad in ["", "a", ":1", "a:", "a:0", "a:65536", "::1:80", "a b:1", "a:1 "] {
        assert!(!is_address(bad), "{bad}");
    }
}
