//! No paragraph, item or row of a page stands in it twice: two that begin alike are two versions of one, left by a merge.

use std::collections::HashMap;

use super::links::prose;
use super::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

pub(super) const RULE: Rule = Rule { name: "doubled", check };

/// So many characters alike are no chance.
const ALIKE: usize = 60;

fn check(tree: &Tree) -> Vec<Violation> {
    tree.files.iter().filter(|file| file.has_extension("md")).flat_map(check_page).collect()
}

fn check_page(page: &SourceFile) -> Vec<Violation> {
    let mut first = HashMap::new();
    let mut found = Vec::new();
    for (number, line) in prose(page) {
        let beginning: String = line.trim().chars().take(ALIKE).collect();
        if beginning.chars().count() < ALIKE || !beginning.contains(char::is_alphabetic) {
            continue;
        }
        let before = *first.entry(beginning).or_insert(number);
        if before != number {
            let wrong = format!("begins as line {before} does");
            found.push(Violation::new(&page.path, number, wrong, "keep one of the two"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "| `GET /api/stats` | how much lives and happens on each node, with what is held";

    #[test]
    fn two_versions_of_a_row_are_one_too_many() {
        let page = format!("{ROW} |\n| other | row |\n{ROW} and refused |\n");
        let found = check(&Tree::sample([("docs/management.md", page.as_str())]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].wrong.as_str()), (3, "begins as line 1 does"));
    }

    #[test]
    fn code_rules_and_what_is_short_may_stand_twice() {
        let rule = "|".repeat(ALIKE);
        let page = format!("```text\n{ROW}\n{ROW}\n```\nshort\nshort\n{rule}\n{rule}\n");
        assert_eq!(check(&Tree::sample([("docs/management.md", page.as_str())])), []);
    }
}
