//! Nothing unfinished is left lying about: a mark for later work names its issue, and no test is switched off.

use super::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

pub(super) const RULE: Rule = Rule { name: "unfinished", check };

// Spelt in two parts here and below, so that this file does not break its own rule.
const MARKS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const CODE: [&str; 3] = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore")];

fn check(tree: &Tree) -> Vec<Violation> {
    // Pages may speak of marks; everything else would be leaving one.
    tree.files.iter().filter(|file| !file.has_extension("md")).flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    for (number, line) in file.lines() {
        for mark in MARKS.into_iter().filter(|mark| has_unowned(line, mark)) {
            let remedy = "finish it, or name its issue in brackets: (#123)";
            found.push(Violation::new(&file.path, number, format!("{mark} without an issue"), remedy));
        }
        for code in CODE.into_iter().filter(|code| file.is_rust() && line.contains(code)) {
            let remedy = "finish it, or leave it out";
            found.push(Violation::new(&file.path, number, format!("`{code}` is left in the code"), remedy));
        }
    }
    found
}

fn has_unowned(line: &str, mark: &str) -> bool {
    let is_part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(mark).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + mark.len()..]);
        let is_word = !before.ends_with(is_part_of_name) && !behind.starts_with(is_part_of_name);
        is_word && !is_owner(behind)
    })
}

/// Whether the text begins with an issue in brackets, such as `(#123)`.
fn is_owner(text: &str) -> bool {
    text.strip_prefix("(#")
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(issue, _)| !issue.is_empty() && issue.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::sample([(path, text)])).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn marks_without_an_issue_are_found() {
        for mark in MARKS {
            let text = format!("// {mark}: later\n// {mark}(me)\n// {mark}(#)\n");
            assert_eq!(lines_found("src/a.rs", &text), [1, 2, 3]);
            assert_eq!(lines_found(".ci/run", &format!("# {mark}\n")), [1]);
        }
    }

    #[test]
    fn unfinished_code_and_switched_off_tests_are_found() {
        for code in CODE {
            assert_eq!(lines_found("src/a.rs", &format!("\n{code}")), [2]);
        }
    }

    #[test]
    fn marks_with_an_issue_longer_words_and_pages_pass() {
        let [mark, _] = MARKS;
        assert_eq!(
            lines_found("src/a.rs", &format!("// {mark}(#123): when\nconst {mark}S: u8 = 1;\n")),
            [0; 0]
        );
        assert_eq!(lines_found("CONTRIBUTING.md", &format!("No {mark} without an issue.\n")), [0; 0]);
    }
}
