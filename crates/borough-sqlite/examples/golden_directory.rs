//! Makes the golden directory of a new format: `cargo run -p borough-sqlite --example golden_directory -- DIRECTORY`.
//!
//! The one of a format is made once, and kept as it is: `tests/store/golden.rs` reads it. Each has what its format added: this one the promises of a node
//! that is in no cluster.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use borough_sqlite::{DataDirectory, OpenOptions, Operation, Payload};

const FILES: [&str; 2] = ["borough.sqlite", "borough.sqlite-wal"];

fn main() -> Result<(), Box<dyn Error>> {
    let target: PathBuf =
        std::env::args_os().nth(1).ok_or("name a directory that does not exist yet")?.into();
    let work = target.with_extension("work");
    fs::create_dir(&target)?;
    let options = OpenOptions::new("gold");
    let (mut directory, _) = DataDirectory::open(&work, &options)?;
    directory.write(&[Operation::SetPledges(payload(3, "10.0.0.4:25520"))])?;
    directory.close()?;
    // What follows is in the write-ahead log alone.
    let (mut directory, _) = DataDirectory::open(&work, &options)?;
    directory.write(&[Operation::SetPledges(payload(3, "10.0.0.3:25520"))])?;
    for name in FILES {
        fs::copy(work.join(name), target.join(name))?;
    }
    directory.close()?;
    fs::remove_dir_all(work)?;
    Ok(())
}

fn payload(codec: u16, text: &str) -> Payload {
    Payload { codec, bytes: text.as_bytes().to_vec() }
}
