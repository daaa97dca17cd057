//! Certificates for development: nodes know each other by them.

use std::time::Duration;

use borough::prelude::*;
use borough::{Tls, cluster::StartError};

use crate::folder::Folder;
use crate::run::{json, run};

async fn node(written: &serde_json::Value, place: usize, seed: Option<&str>) -> Result<Node, StartError> {
    let pair = &written["certificates"][place];
    let path = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let tls = Tls::from_files(path(&written["authority"]), path(&pair["certificate"]), path(&pair["key"]));
    Node::builder("secret").listen("127.0.0.1:0").tls(tls).seeds(seed).start().await
}

#[tokio::test]
async fn nodes_with_its_certificates_form_a_cluster() {
    let folder = Folder::new("pair");
    let written = json(&["certs", folder.text(), "--node", "north", "--node", "south", "--json"]);
    let north = node(&written, 0, None).await.unwrap();
    let south = node(&written, 1, Some(north.address().as_str())).await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), south.wait_for(2)).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_certificate_made_later_is_of_the_same_authority_and_nothing_is_written_over() {
    let folder = Folder::new("later");
    let first = json(&["certs", folder.text(), "--node", "north", "--json"]);
    let later = json(&["certs", folder.text(), "--node", "south", "--json"]);
    let north = node(&first, 0, None).await.unwrap();
    let south = node(&later, 0, Some(north.address().as_str())).await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), south.wait_for(2)).await.unwrap().unwrap();

    let again = run(&["certs", folder.text(), "--node", "north"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8(again.stderr).unwrap().contains("nothing was written over"));
}

#[cfg(unix)]
#[test]
fn keys_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("keys");
    json(&["certs", folder.text(), "--json"]);
    for key in ["authority.key", "node.key"] {
        let mode = std::fs::metadata(folder.file(key)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{key}");
    }
}
