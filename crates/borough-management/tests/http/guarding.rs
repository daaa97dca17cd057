//! Who may not, is not answered.

use std::net::SocketAddr;

use borough_management::Management;
use borough_management::view::Problem;

use crate::client::{Answer, get, request};
use crate::fleet::{fleet, node};

const TOKEN: &str = "a-token-of-some-length";

fn error(answer: &Answer) -> (u16, String) {
    (answer.status, answer.of::<Problem>().error)
}

async fn with_token(address: SocketAddr, path: &str, said: &str) -> Answer {
    request(address, "GET", path, &[("authorization", said)], "").await
}

#[tokio::test]
async fn without_the_token_nothing_of_the_cluster_is_told() {
    let node = node("a", None).await;
    node.wait_for(1).await.unwrap();
    let management = Management::builder(&node).listen("127.0.0.1:0").token(TOKEN).start().await.unwrap();
    let address = management.address();
    let before = node.topology().current();
    for path in [
        "/api/members",
        "/api/shards",
        "/api/stats",
        "/api/entities",
        "/api/settings",
        "/api/explain/a/b",
        "/api/events",
        "/metrics",
        "/openapi.json",
        "/nothing",
    ] {
        let answer = get(address, path).await;
        assert_eq!(error(&answer), (401, "wrong-token".to_owned()), "{path}");
    }
    for path in ["/api/leave", "/api/leave/a", "/api/drain/a", "/api/down/a", "/api/move"] {
        let answer = request(address, "POST", path, &[("x-borough", "1")], "").await;
        assert_eq!(error(&answer), (401, "wrong-token".to_owned()), "{path}");
    }
    assert_eq!(node.topology().current().members, before.members, "an order without a token was carried out");
}

#[tokio::test]
async fn another_token_is_none() {
    let node = node("a", None).await;
    let management = Management::builder(&node).listen("127.0.0.1:0").token(TOKEN).start().await.unwrap();
    let address = management.address();
    let long = format!("Bearer {TOKEN}{}", "x".repeat(5000));
    for said in [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        "Basic a-token-of-some-length",
        "Bearer a-token-of-some-lengt",
        "Bearer a-token-of-some-lengthx",
        "Bearer A-TOKEN-OF-SOME-LENGTH",
        "Bearer  a-token-of-some-length",
        long.as_str(),
    ] {
        assert_eq!(error(&with_token(address, "/api/members", said).await).0, 401, "{said:?}");
    }
    for said in ["Bearer a-token-of-some-length", "bearer a-token-of-some-length"] {
        assert_eq!(with_token(address, "/api/members", said).await.status, 200, "{said:?}");
    }
}

#[tokio::test]
async fn probes_and_the_page_need_no_token() {
    let node = node("a", None).await;
    node.wait_for(1).await.unwrap();
    let management = Management::builder(&node).listen("127.0.0.1:0").token(TOKEN).start().await.unwrap();
    for path in ["/", "/health/live", "/health/ready"] {
        assert_eq!(get(management.address(), path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn an_order_that_a_page_of_elsewhere_could_send_is_refused() {
    let [a] = fleet(["a"]).await;
    let address = a.address();
    // All that a page may send to another place without asking it first.
    for kind in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain; application/json",
    ] {
        let headers = [("content-type", kind), ("origin", "https://elsewhere.example")];
        for path in ["/api/leave", "/api/leave/a", "/api/drain/a", "/api/down/a", "/api/move"] {
            let answer = request(address, "POST", path, &headers, "{}").await;
            assert_eq!(error(&answer), (403, "cross-site".to_owned()), "{path} {kind}");
        }
    }
    assert_eq!(request(address, "POST", "/api/move", &[("x-borough", "0")], "{}").await.status, 403);
    // And what it would ask first is not granted.
    let asked =
        request(address, "OPTIONS", "/api/leave", &[("origin", "https://elsewhere.example")], "").await;
    assert_eq!(asked.status, 403);
    assert_eq!(asked.header("access-control-allow-origin"), "");
    for headers in [[("content-type", "application/json; charset=utf-8")], [("x-borough", "1")]] {
        let answer = request(address, "POST", "/api/move", &headers, "{}").await;
        assert_eq!(error(&answer).0, 400, "it is read, and is no order");
    }
    assert_eq!(a.node.topology().current().up().count(), 1);
}

#[tokio::test]
async fn on_loopback_it_is_called_loopback() {
    let [a] = fleet(["a"]).await;
    for host in [
        "elsewhere.example",
        "elsewhere.example:25580",
        "127.0.0.1.elsewhere.example",
        "10.0.0.1",
        "[::2]:1",
        "localhost.example",
        "",
        "127.0.0.1@elsewhere.example",
    ] {
        let answer = request(a.address(), "GET", "/api/members", &[("host", host)], "").await;
        assert_eq!(error(&answer), (421, "wrong-host".to_owned()), "{host:?}");
    }
    for host in ["127.0.0.1", "127.0.0.1:1", "LocalHost:25580", "[::1]:1", "[::1]", "127.9.9.9"] {
        let answer = request(a.address(), "GET", "/api/members", &[("host", host)], "").await;
        assert_eq!(answer.status, 200, "{host:?}");
    }
}

#[tokio::test]
async fn every_answer_forbids_what_a_browser_should_not_do() {
    let [a] = fleet(["a"]).await;
    for path in ["/", "/api/members", "/nothing"] {
        let answer = get(a.address(), path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
}
