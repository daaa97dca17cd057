//! `cargo xtask tidy`: the house rules that a reviewer would otherwise have to remember.
//!
//! A rule is a name and a function from the tree to what is wrong with it; a new one is a file in this
//! folder and a line in [`RULES`].

mod crate_layering;
mod crate_paths;
mod doubled;
mod features;
mod file_length;
mod layers;
mod licences;
mod links;
mod machine_paths;
mod manifests;
mod module_docs;
mod module_layering;
mod quotes;
mod registry_hosts;
mod test_sleeps;
mod unfinished;

use std::path::Path;

use anyhow::{Result, ensure};

use crate::tree::Tree;

const RULES: [Rule; 14] = [
    file_length::RULE,
    module_docs::RULE,
    crate_layering::RULE,
    module_layering::RULE,
    test_sleeps::RULE,
    unfinished::RULE,
    features::RULE,
    machine_paths::RULE,
    registry_hosts::RULE,
    licences::RULE,
    manifests::RULE,
    links::RULE,
    quotes::RULE,
    doubled::RULE,
];

/// One house rule.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Violation>,
}

/// A place where a rule is broken.
#[derive(Debug, PartialEq)]
struct Violation {
    path: String,
    line: usize,
    wrong: String,
    remedy: &'static str,
}

impl Violation {
    fn new(path: &str, line: usize, wrong: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), line, wrong: wrong.into(), remedy }
    }

    fn report(&self, rule: &str) -> String {
        let Self { path, line, wrong, remedy } = self;
        format!("{path}:{line}: {rule}: {wrong}; {remedy}")
    }
}

/// Prints every violation of every rule; the error says how many there are.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let reports = check(&tree);
    for report in &reports {
        println!("{report}");
    }
    ensure!(reports.is_empty(), "tidy: violations found: {}", reports.len());
    println!("tidy: {} rules hold in {} files", RULES.len(), tree.files.len());
    Ok(())
}

fn check(tree: &Tree) -> Vec<String> {
    RULES
        .iter()
        .flat_map(|rule| (rule.check)(tree).into_iter().map(|violation| violation.report(rule.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_of_all_rules_are_reported_with_place_rule_and_remedy() {
        let tree = Tree::sample([
            ("src/a.rs", "fn a() {}\n"),
            ("deny.toml", "[licenses]\nallow = []\n"),
            ("docs/features.md", "| id | behaviour | tests |\n|---|---|---|\n| A1 | tell | |\n"),
        ]);
        // The table of modules speaks of the real tree, of which there is nothing here.
        let mut found = check(&tree);
        found.retain(|line| !line.contains(": module-layering: "));
        assert_eq!(
            found,
            [
                "src/a.rs:1: module-docs: the file does not begin with `//!`; \
                 say in a line or two why it exists and what it promises",
                "docs/features.md:3: features: A1 names no test; \
                 a feature exists when a test fails without it",
            ]
        );
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}
