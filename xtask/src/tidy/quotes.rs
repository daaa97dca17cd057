//! What the page on troubleshooting says that a node says, a node does say: whoever searches for a line of a log finds it there.
//!
//! Quoted are the lines of its `text` blocks, and what stands between backticks if it is a sentence. A quote that begins with a level is a line of a log: what stands between the level and the first
//! `key=value` must be in the source as it is. Of every other quote some words must be. `..` stands for anything.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "quotes", check };

const PAGE: &str = "docs/guide/troubleshooting.md";
const LEVELS: [&str; 3] = ["ERROR ", "WARN ", "INFO "];
/// Fewer letters than these are in every source.
const TELLING: usize = 15;
/// What has fewer words is a name or a piece of code.
const SENTENCE: usize = 5;

fn check(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.file(PAGE) else { return Vec::new() };
    let sources: Vec<_> = tree
        .rust_files()
        .filter(|file| file.path.starts_with("crates/") && !file.is_all_tests())
        .map(|file| joined(&file.text))
        .collect();
    let mut in_block: Option<&str> = None;
    let mut found = Vec::new();
    for (number, line) in page.lines() {
        let quotes = match line.strip_prefix("```") {
            Some(kind) => {
                in_block = Some(kind).filter(|_| in_block.is_none());
                Vec::new()
            }
            None if in_block == Some("text") => vec![line],
            None if in_block.is_none() => sentences(line).collect(),
            None => Vec::new(),
        };
        for quote in quotes.into_iter().filter(|quote| !is_said(quote, &sources)) {
            let remedy = "quote it as the source has it";
            found.push(Violation::new(PAGE, number, format!("no node says {quote:?}"), remedy));
        }
    }
    found
}

/// The sentences between backticks.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|quote| quote.split(' ').count() >= SENTENCE)
}

fn is_said(line: &str, sources: &[String]) -> bool {
    let in_source = |words: &str| sources.iter().any(|source| source.contains(words));
    if let Some(message) = LEVELS.iter().find_map(|level| line.strip_prefix(level)) {
        let message = before_fields(message);
        return match message.split_once("..") {
            None => in_source(&format!("\"{message}\"")),
            Some((beginning, _)) => in_source(&format!("\"{beginning}")),
        };
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
        let page = format!("# Page\n\n```text\n{quoted}\n```\n\nnot a quote, `nor this one`\n");
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
    fn sentences_in_the_text_are_quotes_and_code_is_none() {
        let page = "`WARN cannot be ..` and `.. has none here and not there`, `x`\n`it says what no node says`\n```rust\n// `it says what no node says`\n```\n";
        let found = check(&Tree::sample([(PAGE, page), SOURCE]));
        assert_eq!(found.into_iter().map(|found| found.line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn words_of_tests_do_not_count() {
        let page = "```text\nWARN only tests say so\n```\n";
        let tree = Tree::sample([(PAGE, page), ("crates/a/tests/b.rs", "\"only tests say so\"")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
