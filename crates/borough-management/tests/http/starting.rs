//! What may be opened, and how it ends.

use borough_cluster::{Config, Node, SettingOrigin};
use borough_management::{Management, ManagementError};
use tokio::net::TcpStream;

use crate::client::{BOUND, get, request};
use crate::fleet::node;

#[tokio::test]
async fn an_address_that_others_reach_is_refused_without_token_or_certificates() {
    let node = node("a", None).await;
    for address in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
        let error = Management::builder(&node).listen(address).start().await.unwrap_err();
        assert!(matches!(error, ManagementError::Open { .. }), "{error}");
        for word in [address, ".token(", ".tls(", "127.0.0.1"] {
            assert!(error.to_string().contains(word), "{error}");
        }
    }
    let management =
        Management::builder(&node).listen("0.0.0.0:0").token("0123456789abcdef").start().await.unwrap();
    assert!(management.address().ip().is_unspecified());
}

#[tokio::test]
async fn an_open_address_from_the_settings_is_refused_with_its_line_unless_code_has_a_token() {
    let text = "[node]\nlisten = \"127.0.0.1:0\"\n[management]\nlisten = \"0.0.0.0:0\"";
    let config = Config::parse("b.toml", text).unwrap();
    let node = Node::builder("test").config(config).start().await.unwrap();
    let error = Management::builder(&node).start().await.unwrap_err();
    assert!(error.to_string().contains("0.0.0.0:0 (b.toml:4)"), "{error}");
    let management = Management::builder(&node).token("0123456789abcdef").start().await.unwrap();
    assert!(management.address().ip().is_unspecified());
}

#[tokio::test]
async fn a_management_that_does_not_start_leaves_the_settings_as_they_were() {
    let node = node("a", None).await;
    let _first = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let before = node.settings();
    let second = Management::builder(&node).listen("localhost:0").advertise("a:1").token("0123456789abcdef");
    let error = second.start().await.unwrap_err();
    assert!(matches!(error, ManagementError::Node { .. }), "{error}");
    assert_eq!(node.settings(), before);
}

#[tokio::test]
async fn a_token_that_could_be_guessed_or_not_be_sent_is_refused() {
    let node = node("a", None).await;
    for token in [
        "",
        "0123456789abcde",
        "0123456789 abcdef",
        "0123456789abcde\u{20ac}",
        "0123456789abcdef\r\n",
        &"x".repeat(513),
    ] {
        let error = Management::builder(&node).listen("127.0.0.1:0").token(token).start().await.unwrap_err();
        assert!(matches!(error, ManagementError::Token { .. }), "{token:?}: {error}");
        assert!(token.is_empty() || !error.to_string().contains(token), "the token is in the error");
    }
}

#[tokio::test]
async fn what_is_no_address_or_is_taken_is_told_so() {
    let node = node("a", None).await;
    for address in ["", "127.0.0.1", "127.0.0.1:99999", "no host:1"] {
        let error = Management::builder(&node).listen(address).start().await.unwrap_err();
        assert!(matches!(error, ManagementError::Address { .. }), "{address:?}: {error}");
    }
    let first = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let taken = first.address().to_string();
    let error = Management::builder(&node).listen(&taken).start().await.unwrap_err();
    assert!(matches!(error, ManagementError::Listen { .. }), "{error}");
    let error = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap_err();
    assert!(matches!(error, ManagementError::Node { .. }), "a node has one management: {error}");
}

#[tokio::test]
async fn after_a_shutdown_nobody_is_let_in_and_it_can_be_started_again() {
    let node = node("a", None).await;
    let first = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let address = first.address();
    assert_eq!(get(address, "/health/live").await.status, 200);
    first.shutdown().await;
    assert!(TcpStream::connect(address).await.is_err());
    let second = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    assert_eq!(get(second.address(), "/health/live").await.status, 200);
}

#[tokio::test]
async fn it_ends_with_its_node() {
    let node = node("a", None).await;
    let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let address = management.address();
    drop(node);
    let refused = async { while TcpStream::connect(address).await.is_ok() {} };
    tokio::time::timeout(BOUND, refused).await.unwrap();
}

#[tokio::test]
async fn it_begins_with_what_the_settings_of_its_node_say_and_code_wins() {
    let path = std::env::temp_dir().join(format!("borough-token-{}", std::process::id()));
    std::fs::write(&path, "0123456789abcdef\n").unwrap();
    let text = format!(
        "[node]\nlisten = \"127.0.0.1:0\"\n[management]\nlisten = \"127.0.0.1:0\"\ntoken_file = {path:?}"
    );
    let config = Config::parse("b.toml", &text).unwrap();
    let node = Node::builder("test").config(config).start().await.unwrap();
    let of_file = Management::builder(&node).start().await.unwrap();
    let asked = async |token: &str| {
        let header = [("authorization", token)];
        request(of_file.address(), "GET", "/api/members", &header, "").await.status
    };
    assert_eq!(
        (asked("Bearer 0123456789abcdef").await, asked("Bearer another-token-of-code").await),
        (200, 401)
    );
    of_file.shutdown().await;
    std::fs::remove_file(&path).unwrap();
    let error = Management::builder(&node).start().await.unwrap_err();
    assert!(matches!(error, ManagementError::TokenFile { .. }), "{error}");
    let of_code = Management::builder(&node).token("another-token-of-code").start().await.unwrap();
    let row = |key: &str| node.settings().into_iter().find(|row| row.key == key).unwrap();
    assert_eq!(
        (row("management.listen").origin.to_string().as_str(), row("management.token").value.as_str()),
        ("b.toml:4", "(hidden)")
    );
    assert_eq!(row("management.token").origin, SettingOrigin::Code);
    drop(of_code);
}
