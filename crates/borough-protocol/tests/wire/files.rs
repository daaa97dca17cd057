//! The golden files.

use std::path::PathBuf;
use std::{env, fs};

pub(crate) fn folder() -> PathBuf {
    // As cargo names it at run time: a path fixed at compile time would be wrong in a clone that shares its target folder.
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("run by cargo")).join("tests/wire/golden")
}

/// The names of the files, and what is in them.
pub(crate) fn files() -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(folder()).expect("the folder is there").map(|entry| entry.expect("readable").path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("readable"))
        })
        .collect();
    files.sort();
    files
}
