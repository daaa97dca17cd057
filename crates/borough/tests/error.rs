//! `borough::Error` as a user meets it: what `main` prints of it, and what becomes one with `?`.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::error::Error as _;
use std::fmt;
use std::io;

use borough::{Fault, Node};

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

#[test]
fn what_becomes_a_box_of_an_error_becomes_one_with_a_question_mark() {
    fn text() -> Result<(), borough::Error> {
        Err("no such account")?
    }
    fn owned() -> Result<(), borough::Error> {
        Err(String::from("no such account").into())
    }
    fn boxed() -> Result<(), borough::Error> {
        let result: Result<(), Box<dyn std::error::Error + Send + Sync>> = Err("no such account".into());
        Ok(result?)
    }
    fn again() -> Result<(), borough::Error> {
        boxed()?;
        Ok(())
    }
    for error in [text(), owned(), boxed(), again()].map(Result::unwrap_err) {
        assert_eq!(
            (error.to_string(), format!("{error:?}")),
            ("no such account".into(), "no such account".into())
        );
    }
}

#[test]
fn a_fault_becomes_one_with_a_question_mark_and_back() {
    fn fails() -> Result<(), Fault> {
        Err(unread())?
    }
    fn outside() -> Result<(), borough::Error> {
        Ok(fails()?)
    }
    fn inside() -> Result<(), Fault> {
        Ok(outside()?)
    }
    assert!(outside().unwrap_err().is::<Unread>());
    let fault = inside().unwrap_err();
    assert!(fault.downcast_ref::<Unread>().is_some());
    assert_eq!(printed(fault), printed(unread()));
}

#[test]
fn the_error_that_it_was_made_from_can_be_had_again() {
    fn outside() -> Result<(), Box<dyn std::error::Error>> {
        Err(borough::Error::from(unread()))?
    }
    assert!(outside().unwrap_err().is::<Unread>());
    let error = borough::Error::from(unread());
    assert_eq!(error.source().unwrap().to_string(), "the disk is gone");
    let error = error.downcast::<fmt::Error>().unwrap_err();
    assert!(error.downcast_ref::<Unread>().is_some());
    assert_eq!(format!("{error:#?}"), format!("{:#?}", unread()));
    assert_eq!(error.downcast::<Unread>().unwrap().source.to_string(), "the disk is gone");
    assert!(borough::Error::from(unread()).into_boxed().is::<Unread>());
}
