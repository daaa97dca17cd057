//! What the page on troubleshooting says that a node says, a node does say: whoever searches for a line of a log finds it there.
//!
//! Quoted are the lines of its `text` blocks. A line that begins with a level is a line of a log: what stands between the level and the first
//! `key=value` must be in the source as it is. Of every other line some words must be. `..` stands for anything.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "quotes", check };

const PAGE: &str = "docs/guide/troubleshooting.md";
const LEVELS: [&str; 3] = ["ERROR ", "WARN ", "INFO "];
/// Fewer letters than these are in every source.
const TELLING: usize = 16;

fn check(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.file(PAGE) else { return Vec::new() };
    let sources: Vec<_> = tree
        .rust_files()
        .filter(|file| file.path.starts_with("crates/") && !file.is_all_tests())
        .map(|file| joined(&file.text))
        .collect();
    let mut is_quote = false;
    let mut found = Vec::new();
    for (number, line) in page.lines() {
        if line.starts_with("```") {
            is_quote = line == "```text";
        } else if is_quote && !is_said(line, &sources) {
            let remedy = "quote it as the source has it";
            found.push(Violation::new(PAGE, number, format!("no node says {line:?}"), remedy));
        }
    }
    found
}

fn is_said(line: &str, sources: &[String]) -> bool {
    let in_source = |words: &str| sources.iter().any(|source| source.contains(words));
    if let Some(message) = LEVELS.iter().find_map(|level| line.strip_prefix(level)) {
        return in_source(&format!("\"{}\"", before_fields(message)));
    }
    // Values stand between the words, so any run of words of the line that is in the source will do.
    let words: Vec<_> = line.split(' ').collect();
    (0..words.len()).any(|first| {
        (first + 1..=words.len()).any(|end| {
            let run = words[first..end].join(" ");
            run.len() >= TELLING && !run.contains("..") && in_source(&run)
        })
    })
}

/// The message of a line of a log: its words up to the first that is `key=value`.
fn before_fields(message: &str) -> String {
    let words = message.split(' ').take_while(|word| !is_field(word));
    words.collect::<Vec<_>>().join(" ")
}

fn is_field(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The source with literals that go over several lines in one.
fn joined(source: &str) -> String {
    let mut lines = source.lines();
    let mut out = String::with_capacity(source.len());
    while let Some(line) = lines.next() {
        let mut line = line;
        while let Some(begun) = line.strip_suffix('\\') {
            out.push_str(begun);
            line = lines.next().map_or("", str::trim_start);
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: (&str, &str) = (
        "crates/a/src/lib.rs",
        "warn!(%peer, \"cannot be reached\");\n#[error(\"{kind} has {setting} here and \\\n         not there; change it\")]\n",
    );

    fn wrong(quoted: &str) -> Vec<usize> {
        let page = format!("# Page\n\n```text\n{quoted}\n```\n\nnot a quote\n");
        check(&Tree::sample([(PAGE, &page), SOURCE])).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn what_the_source_says_passes_with_values_of_its_own() {
        assert_eq!(wrong("INFO cannot be reached peer=10.0.0.1:1\nWARN cannot be reached"), [0; 0]);
        assert_eq!(wrong("carts has shards here and not there; change it"), [0; 0]);
        assert_eq!(wrong(".. has .. here and not there; change it"), [0; 0]);
    }

    #[test]
    fn what_no_source_says_is_found() {
        assert_eq!(wrong("INFO cannot be heard peer=10.0.0.1:1\nWARN cannot be"), [4, 5]);
        assert_eq!(wrong("carts have other settings somewhere"), [4]);
    }

    #[test]
    fn words_of_tests_do_not_count() {
        let page = "```text\nWARN only tests say so\n```\n";
        let tree = Tree::sample([(PAGE, page), ("crates/a/tests/b.rs", "\"only tests say so\"")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
