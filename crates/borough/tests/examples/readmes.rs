//! What is written about examples is what they are.

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_readme_shows_the_account_example_as_it_is() {
    let code = include_str!("../../examples/account.rs").split_once("\n\n").unwrap().1;
    assert!(include_str!("../../README.md").contains(code), "README.md and examples/account.rs differ");
}

#[test]
fn the_list_of_examples_names_each_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<_> = files.filter(|name| name != "README.md").collect();
    let list = include_str!("../../examples/README.md");
    for file in &files {
        assert_eq!(list.matches(&format!("]({file})")).count(), 1, "examples/README.md: {file}");
    }
    for target in list.split("](").skip(1).filter_map(|link| Some(link.split_once(')')?.0)) {
        assert!(folder.join(target).exists(), "examples/README.md names {target}, which is not there");
    }
}
