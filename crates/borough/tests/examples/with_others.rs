//! Examples that go together with other libraries: a web framework, a database.

use crate::program::output;

#[test]
fn what_is_in_a_ledger_outlives_a_crash_and_is_safe_from_an_owner_of_yesterday() {
    let expected = "\
alice has 150
the vault has crashed; alice has 150
an owner of yesterday: a later owner has the shard; nothing was saved
alice has 175
";
    assert_eq!(output("ledger"), expected);
}

#[cfg(unix)]
#[test]
fn a_web_request_is_an_ask_and_what_goes_wrong_is_a_status() {
    use crate::program::Program;

    let mut web = Program::start("web", &["127.0.0.1:0"]);
    let address = web.prints("listening at http://").replace("listening at http://", "");
    let post = |path: &str| request(&address, "POST", path);
    assert_eq!(post("/accounts/alice/deposit/100"), (200, "100".to_owned()));
    assert_eq!(post("/accounts/alice/withdraw/30"), (200, "70".to_owned()));
    assert_eq!(post("/accounts/alice/withdraw/500"), (409, "it has 70\n".to_owned()));
    assert_eq!(request(&address, "GET", "/accounts/alice"), (200, "70".to_owned()));
    let (status, why) = request(&address, "GET", &format!("/accounts/{}", "a".repeat(300)));
    assert_eq!(status, 400);
    assert!(why.contains("300 bytes, and 255 are allowed"), "{why}");
    assert_eq!(post("/accounts/alice/deposit/much").0, 400);

    web.interrupt();
    web.prints("left");
    web.ends();
}

/// The status and the body of an answer.
#[cfg(unix)]
fn request(address: &str, method: &str, path: &str) -> (u16, String) {
    use std::io::{Read, Write};
    use std::time::Duration;

    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
