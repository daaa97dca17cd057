//! What the guide says that a node or the program says, they do say: whoever searches for a line of a log finds it there, and whoever follows the
//! first hour sees what is written.
//!
//! Quoted on the page on troubleshooting are the lines of its `text` blocks, and what stands between backticks if it is a sentence. A quote that begins with a level is a line of a log: what stands
//! between the level and the first `key=value` must be in the source as it is. Of every other quote some words must be. `..` stands for anything.
//!
//! Quoted on every page of the guide are the lines of blocks marked `text,said`. All runs of words in them must be in the source, apart from numbers with their units, and from a first and a
//! last word that are a text of their own there: those are values.

use super::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

pub(super) const RULE: Rule = Rule { name: "quotes", check };

const GUIDE: &str = "docs/guide/";
const PAGE: &str = "docs/guide/troubleshooting.md";
/// A block of which every word is said.
const SAID: &str = "text,said";
/// A word of so few letters behind a number is a unit.
const UNIT: usize = 2;
const LEVELS: [&str; 3] = ["ERROR ", "WARN ", "INFO "];
/// Fewer letters than these are in every source.
const TELLING: usize = 15;
/// What has fewer words is a name or a piece of code.
const SENTENCE: usize = 5;

fn check(tree: &Tree) -> Vec<Violation> {
    let sources: Vec<_> = tree
        .rust_files()
        .filter(|file| file.path.starts_with("crates/") && !file.is_all_tests())
        .map(|file| joined(&file.text))
        .collect();
    let mut found = Vec::new();
    for page in tree.files.iter().filter(|file| file.path.starts_with(GUIDE) && file.has_extension("md")) {
        for (number, line, block) in blocks(page) {
            let unsaid: Vec<String> = match block {
                Some(SAID) => unsaid_words(line, &sources),
                Some("text") if page.path == PAGE && !is_said(line, &sources) => vec![line.to_owned()],
                None if page.path == PAGE => {
                    sentences(line).filter(|quote| !is_said(quote, &sources)).map(ToOwned::to_owned).collect()
                }
                _ => Vec::new(),
            };
            for quote in unsaid {
                let remedy = "quote it as the source has it";
                found.push(Violation::new(&page.path, number, format!("nobody says {quote:?}"), remedy));
            }
        }
    }
    found
}

/// Each line of a page, with what kind of block it stands in; the fences are left out.
fn blocks(page: &SourceFile) -> Vec<(usize, &str, Option<&str>)> {
    let mut block: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, line) in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) => block = Some(kind).filter(|_| block.is_none()),
            None => lines.push((number, line, block)),
        }
    }
    lines
}

/// The runs of words of a line that no source has. One word alone is no run: every source has some.
fn unsaid_words(line: &str, sources: &[String]) -> Vec<String> {
    let mut runs = vec![Vec::new()];
    let mut is_after_number = false;
    for token in line.split_whitespace() {
        let word = token.trim_end_matches([',', ';', ':', '.']);
        let is_unit = is_after_number && word.len() <= UNIT;
        let is_word = !is_unit && word.chars().all(|c| c.is_ascii_lowercase());
        match runs.last_mut() {
            Some(run) if is_word => run.push(word),
            _ => runs.push(Vec::new()),
        }
        if word != token {
            runs.push(Vec::new());
        }
        is_after_number = word.ends_with(|c: char| c.is_ascii_digit());
    }
    let is_unsaid = |run: &Vec<&str>| run.len() > 1 && !is_run_said(run, sources);
    runs.into_iter().filter(is_unsaid).map(|run| run.join(" ")).collect()
}

/// Whether a source has these words; the first and the last may be values, if a source has them as texts of their own.
fn is_run_said(run: &[&str], sources: &[String]) -> bool {
    let in_source = |words: &str| sources.iter().any(|source| source.contains(words));
    let is_value = |word: Option<&&str>| word.is_some_and(|word| in_source(&format!("\"{word}\"")));
    let (first, last) = (usize::from(is_value(run.first())), usize::from(is_value(run.last())));
    (0..=first).any(|first| {
        let mut ends = run.len() - last..=run.len();
        ends.any(|end| run.get(first..end).is_none_or(|words| in_source(&words.join(" "))))
    })
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
    fn every_word_of_a_block_that_is_said_is_in_the_source_apart_from_values() {
        let source = "let name = \"mill\";\nlet what = \"process\";\nprintln!(\"{name} was killed, with {spare} to spare\");\n\"gone with a lost process\"";
        let page = "```text,said\n 12.0 s  mill was killed, with 1 to spare\n 12.0 s  mill was ended, with 1 to spare\n\
                    gone with a lost process 21 991\ngone with a killed process 21 991\n```\n\
                    ```text\nwhat nobody says at all\n```\n";
        let tree = Tree::sample([("docs/guide/first-hour.md", page), ("crates/a/src/lib.rs", source)]);
        let found: Vec<_> = check(&tree).into_iter().map(|found| (found.line, found.wrong)).collect();
        let unsaid = |words: &str| format!("nobody says {words:?}");
        assert_eq!(found, [(3, unsaid("mill was ended")), (5, unsaid("gone with a killed process"))]);
    }

    #[test]
    fn words_of_tests_do_not_count() {
        let page = "```text\nWARN only tests say so\n```\n";
        let tree = Tree::sample([(PAGE, page), ("crates/a/tests/b.rs", "\"only tests say so\"")]);
        assert_eq!(check(&tree).len(), 1);
    }
}
