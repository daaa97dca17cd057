//! Tests do not sleep: a sleep is slow on a fast machine and too short on a slow one.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "test-sleeps", check };

const CALLS: [&str; 2] = ["sleep(", "sleep_until("];

/// What a line must carry, with a reason behind it, to sleep all the same.
const PERMIT: &str = "// tidy: sleep ";

fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust_files() {
        for (number, line) in file.tests().filter(|(_, line)| sleeps(line) && !is_permitted(line)) {
            let wrong = format!("a test sleeps: `{}`", line.trim());
            let remedy = "await a condition with a bound, or step simulated time";
            found.push(Violation::new(&file.path, number, wrong, remedy));
        }
    }
    found
}

/// Whether the line calls a free function of that name, however it was imported; a method of a
/// simulated clock is another thing.
fn sleeps(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    CALLS.iter().any(|call| {
        code.match_indices(call).any(|(at, _)| {
            let before = &code[..at];
            let is_other_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
            !is_other_name && !before.ends_with("fn ")
        })
    })
}

fn is_permitted(line: &str) -> bool {
    line.split_once(PERMIT).is_some_and(|(_, reason)| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spelt in two parts, so that these tests do not break the rule they are about.
    const SLEEP: &str = concat!("sle", "ep(d)");

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::sample([(path, text)])).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn sleeps_are_found_in_test_folders_test_files_and_test_modules() {
        assert_eq!(lines_found("tests/a.rs", &format!("\ntokio::time::{SLEEP}.await;\n")), [2]);
        assert_eq!(lines_found("src/a/tests.rs", &format!("std::thread::{SLEEP};\n")), [1]);
        assert_eq!(
            lines_found("src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n    {SLEEP}.await;\n}}\n")),
            [3]
        );
    }

    #[test]
    fn a_permit_without_a_reason_is_none() {
        assert_eq!(lines_found("tests/a.rs", &format!("{SLEEP}; // tidy: sleep \n")), [1]);
        assert_eq!(
            lines_found("tests/a.rs", &format!("{SLEEP}; // tidy: sleep the kernel has no event\n")),
            [0; 0]
        );
    }

    #[test]
    fn production_code_other_names_and_comments_pass() {
        assert_eq!(lines_found("src/a.rs", &format!("tokio::time::{SLEEP}.await;\n")), [0; 0]);
        let others = format!("clock.{SLEEP}; over{SLEEP};\nfn {SLEEP} {{}}\n// never {SLEEP}\n");
        assert_eq!(lines_found("tests/a.rs", &others), [0; 0]);
    }
}
