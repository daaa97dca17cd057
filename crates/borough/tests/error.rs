//! `borough::Error` as a user meets it: what `main` prints of it, and what becomes one with `?`.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::error::Error as _;
use std::fmt;
use std::io;

use borough::Node;

/// An error of a user, with a cause that its own text does not repeat.
#[derive(Debug)]
struct Unread {
    source: io::Error,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the price list cannot be read")
    }
}

impl std::error::Error for Unread {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

fn unread() -> Unread {
    Unread { source: io::Error::other("the disk is gone") }
}

/// What Rust prints behind `Error: ` if `main` returns it.
fn printed(error: impl Into<borough::Error>) -> String {
    format!("{:?}", error.into())
}

#[tokio::test]
async fn main_prints_the_text_of_an_error_and_not_its_fields() {
    let refused = Node::builder("shop").listen("0.0.0.0:0").start().await.unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("set `.tls(..)`"), "{text}");
    assert_eq!(printed(refused), text);
}

#[test]
fn main_prints_the_causes_of_an_error() {
    assert_eq!(printed(unread()), "the price list cannot be read\n  caused by: the disk is gone");
}

#[tokio::test]
async fn a_cause_that_the_text_repeats_is_printed_once() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = Node::builder("shop").listen(&address).start().await.unwrap_err();
    assert!(refused.source().is_some());
    let text = refused.to_string();
    assert_eq!(printed(refused), text);
    assert_eq!(text.matches("cannot listen at").count(), 1, "{text}");
}
