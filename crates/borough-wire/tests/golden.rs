//! Bytes that were written once and must be read for ever: a file for each kind of frame, message of the handshake and codec.
//!
//! A file is never changed. A new sample is written by `BOROUGH_GOLDEN=write cargo test -p borough-wire --all-features --test golden -- --test-threads 1`,
//! which leaves those that are there alone. When a newer version writes something else, the old file stays, and is read.

mod samples;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use borough_wire::codec::CodecId;
use borough_wire::frame::Kind;
use samples::{Sample, all};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(sample: &Sample) -> Vec<u8> {
    let path = folder().join(&sample.name);
    if std::env::var("BOROUGH_GOLDEN").is_ok_and(|value| value == "write") && !path.exists() {
        // Never over an existing file.
        let mut file = fs::File::create_new(&path).expect("a new file");
        file.write_all(&sample.bytes).expect("it is written");
    }
    fs::read(&path)
        .unwrap_or_else(|_| panic!("{} has no golden bytes: see the head of this file", sample.name))
}

#[test]
fn golden_bytes_are_read_as_they_were_meant() {
    for sample in all() {
        (sample.read)(&golden(&sample));
    }
}

#[test]
fn today_the_same_bytes_are_written() {
    for sample in all() {
        assert_eq!(sample.bytes, golden(&sample), "{} is written differently now", sample.name);
    }
}

#[test]
fn no_golden_bytes_are_left_unread() {
    let known: BTreeSet<_> = all().into_iter().map(|sample| sample.name).collect();
    let absent = |name: &str| {
        CodecId::ALL
            .iter()
            .any(|codec| !codec.is_built_in() && name == format!("codec-{}.bin", samples::codec_name(*codec)))
    };
    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        assert!(
            known.contains(&name) || absent(&name),
            "{name} belongs to no sample: golden bytes are read for ever"
        );
    }
}

#[test]
fn every_kind_message_reason_and_codec_has_golden_bytes() {
    let mut needed: Vec<String> =
        Kind::ALL.iter().map(|kind| format!("frame-{}.bin", samples::kind_name(*kind))).collect();
    needed.extend(
        ["hello", "challenge", "proof", "accepted"].map(|message| format!("handshake-{message}.bin")),
    );
    needed.extend((1..=9).map(|reason| format!("handshake-refused-{reason}.bin")));
    needed.extend(CodecId::ALL.map(|codec| format!("codec-{}.bin", samples::codec_name(codec))));
    for name in needed {
        assert!(folder().join(&name).exists(), "{name} is missing");
    }
}
