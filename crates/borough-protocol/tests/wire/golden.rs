//! Bytes that are read for ever: one file for each kind of message.
//!
//! `BOROUGH_GOLDEN=write cargo test -p borough-protocol --features serde --test wire golden` writes the files that are missing. It
//! never writes over one: bytes that a released node may send do not change.

use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;

use borough_protocol::gossip::{self, Gone, Status};
use borough_protocol::heartbeat;
use borough_protocol::lease::Verdict;
use borough_protocol::log::Entry;
use borough_protocol::log::raft::{self, Item};
use borough_protocol::log::register::{News, Swap};
use borough_protocol::node::{Feed, Message, Report, Word};
use borough_protocol::sharding::{Allocation, Hashing, Step};
use borough_protocol::store::{Answer, Ask};
use borough_protocol::table::{Change, Removal, State, Table};
use borough_protocol::vector_clock::Author;

use crate::codec::{decode, encode};
use crate::files::{files, folder};
use crate::{samples, variants};

const WRITE: &str = "BOROUGH_GOLDEN";
/// The number of `Message::Word`, and where that of the word stands: behind it and the cluster's tag.
const WORD: usize = 7;
const WORD_AT: usize = 1 + 8;

fn write_missing() {
    for (name, message) in samples::all() {
        let path = folder().join(name).with_extension("bin");
        // Fails if it is there.
        if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).open(path) {
            file.write_all(&encode(&message)).expect("written");
        }
    }
}

#[test]
fn golden_bytes_are_read_as_what_was_written_and_written_as_they_were() {
    if env::var(WRITE).is_ok_and(|value| value == "write") {
        write_missing();
    }
    let files = files();
    let samples = samples::all();
    let names: BTreeSet<&str> = samples.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), samples.len(), "two samples have one name");
    assert_eq!(names, files.iter().map(|(name, _)| name.as_str()).collect(), "a file for each sample");
    for (name, sample) in &samples {
        let (_, bytes) = files.iter().find(|(file, _)| file == name).expect("looked for above");
        let read = decode(bytes).unwrap_or_else(|| panic!("{name} is not read any more"));
        assert_eq!(format!("{read:?}"), format!("{sample:?}"), "{name} is read as something else");
        assert_eq!(encode(sample), *bytes, "{name} is written in another way");
    }
}

#[test]
fn every_message_and_every_word_has_golden_bytes() {
    let files = files();
    let messages: BTreeSet<usize> = files.iter().map(|(_, bytes)| bytes[0].into()).collect();
    let words = files.iter().filter(|(_, bytes)| usize::from(bytes[0]) == WORD);
    let words: BTreeSet<usize> = words.map(|(_, bytes)| bytes[WORD_AT].into()).collect();
    let lacking = |names: &'static [&'static str], have: &BTreeSet<usize>| -> Vec<&str> {
        (0..).zip(names).filter(|(number, _)| !have.contains(number)).map(|(_, name)| *name).collect()
    };
    assert_eq!(variants::of::<Message>()[WORD], "Word");
    assert_eq!(lacking(variants::of::<Message>(), &messages), [""; 0], "messages without a golden file");
    assert_eq!(lacking(variants::of::<Word>(), &words), [""; 0], "words without a golden file");
}

/// What is inside a message has variants too; they are looked for by name in what was read.
#[test]
fn every_variant_of_what_is_inside_is_in_golden_bytes() {
    let texts: Vec<String> =
        files().iter().map(|(_, bytes)| format!("{:?}", decode(bytes).expect("golden"))).collect();
    let said: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric())).collect();
    let inside = [
        variants::of::<gossip::Message>(),
        variants::of::<Gone>(),
        variants::of::<Status>(),
        variants::of::<Author>(),
        variants::of::<heartbeat::Message>(),
        variants::of::<raft::Message<Change, Arc<Table>>>(),
        variants::of::<Item<Change>>(),
        variants::of::<Entry<Change>>(),
        variants::of::<Change>(),
        variants::of::<Removal>(),
        variants::of::<Step>(),
        variants::of::<Hashing>(),
        variants::of::<Allocation>(),
        variants::of::<State>(),
        variants::of::<Verdict>(),
        variants::of::<Feed>(),
        variants::of::<Report>(),
        variants::of::<Ask>(),
        variants::of::<Answer>(),
        variants::of::<Swap<Change>>(),
        variants::of::<News<Change, Arc<Table>>>(),
    ];
    for variant in inside.into_iter().flatten() {
        assert!(said.contains(variant), "no golden file has {variant}");
    }
}
