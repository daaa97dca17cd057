//! No file names a folder of somebody's machine: it would be wrong on every other.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "machine-paths", check };

// Spelt in two parts, so that this file does not break its own rule.
const FOLDERS: [&str; 2] = [concat!("/", "root/"), concat!("/", "work/")];
/// These are a machine path only when somebody's name follows.
const HOMES: [&str; 3] = [concat!("/", "home/"), concat!("/", "Users/"), concat!("\\", "Users\\")];

fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in &tree.files {
        for (number, line) in file.lines() {
            if let Some(path) = machine_path(line) {
                let wrong = format!("a path of one machine, {path}...");
                let remedy = "name it from the root of the tree, or take it from the environment";
                found.push(Violation::new(&file.path, number, wrong, remedy));
            }
        }
    }
    found
}

fn machine_path(line: &str) -> Option<&'static str> {
    let is_named = |home: &&str| {
        line.match_indices(home).any(|(at, _)| line[at + home.len()..].starts_with(char::is_alphanumeric))
    };
    FOLDERS.into_iter().find(|folder| line.contains(folder)).or_else(|| HOMES.into_iter().find(is_named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(text: &str) -> Vec<usize> {
        check(&Tree::sample([("docs/a.md", text)])).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn machine_paths_are_found() {
        for path in FOLDERS {
            assert_eq!(lines_found(&format!("\nsee {path}x\n")), [2]);
        }
        for path in HOMES {
            assert_eq!(lines_found(&format!("\nsee {path}ann\n")), [2]);
        }
    }

    #[test]
    fn paths_in_the_tree_and_placeholders_pass() {
        let [home, ..] = HOMES;
        assert_eq!(
            lines_found(&format!("see docs/homework/a.md\n{home}<user>\nthe root/leaf split\n")),
            [0; 0]
        );
    }
}
