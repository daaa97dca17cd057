//! Makes the golden directory of a new format: `cargo run -p borough-sqlite --example golden_directory -- DIRECTORY`.
//!
//! The one of a format is made once, and kept as it is: `tests/store/golden.rs` reads it.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use borough_sqlite::{
    DataDirectory, Entry, OpenOptions, Operation, Payload, Position, Record, RecordState, Snapshot,
};

const FILES: [&str; 2] = ["borough.sqlite", "borough.sqlite-wal"];

fn main() -> Result<(), Box<dyn Error>> {
    let target: PathBuf =
        std::env::args_os().nth(1).ok_or("name a directory that does not exist yet")?.into();
    let work = target.with_extension("work");
    fs::create_dir(&target)?;
    let options = OpenOptions::new("gold");
    let (mut directory, _) = DataDirectory::open(&work, &options)?;
    directory.write(&[Operation::SetTermAndVote { term: 4, vote: Some(1) }])?;
    directory.write(&[append(1, 4, "first"), append(2, 4, "second"), append(3, 4, "third")])?;
    let snapshot =
        Snapshot { position: Position { index: 2, term: 4 }, payload: payload(1, "the table at 2") };
    let addresses = payload(2, "10.0.0.1:25520, 10.0.0.2:25520");
    let record = Record { state: RecordState::Member, era: 3, payload: addresses };
    directory.write(&[Operation::SetSnapshot(snapshot), Operation::SetRecord(record)])?;
    directory.close()?;
    // What follows is in the write-ahead log alone.
    let (mut directory, _) = DataDirectory::open(&work, &options)?;
    let vote = Operation::SetTermAndVote { term: 6, vote: Some(u64::MAX - 1) };
    directory.write(&[vote, append(4, 6, "fourth"), append(5, 6, "")])?;
    for name in FILES {
        fs::copy(work.join(name), target.join(name))?;
    }
    directory.close()?;
    fs::remove_dir_all(work)?;
    Ok(())
}

fn append(index: u64, term: u64, text: &str) -> Operation {
    Operation::Append(Entry { position: Position { index, term }, payload: payload(1, text) })
}

fn payload(codec: u16, text: &str) -> Payload {
    Payload { codec, bytes: text.as_bytes().to_vec() }
}
