//! Schedules that broke a rule once, each kept as a file: no later change of what a seed draws loses them.
//!
//! `cargo xtask sim --seed N --save FILE` writes one, `cargo xtask sim --plan FILE --trace` runs it in words.

use std::fs;
use std::path::Path;

use borough_testkit::sim::guarded;
use borough_testkit::sim::plan::Plan;

#[test]
fn schedules_that_broke_a_rule_once_break_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    let broken: Vec<String> = files
        .iter()
        .filter_map(|path| {
            let text = fs::read_to_string(path).expect("it can be read");
            let plan = Plan::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let violation = guarded(&plan, None).violation?;
            Some(format!("{}: {violation}", path.display()))
        })
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}
