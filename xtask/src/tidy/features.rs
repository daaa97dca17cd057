//! Every feature in `docs/features.md` names the tests that fail when it is not wired, and they exist.
//!
//! A feature table has `id` as its first column and one column whose heading begins with `test`; tests
//! are written as `` `crates/borough-actor/tests/tell.rs::order_is_kept` ``, several to a cell if need be.

use std::collections::BTreeMap;

use super::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

pub(super) const RULE: Rule = Rule { name: "features", check };

const PAGE: &str = "docs/features.md";

fn check(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.file(PAGE) else {
        return vec![Violation::new(PAGE, 1, "the page is missing", "list what works, each with its test")];
    };
    let mut found = Vec::new();
    let mut first_seen = BTreeMap::new();
    for Row { line, id, tests } in rows(page) {
        let mut wrong = |wrong: String, remedy| found.push(Violation::new(PAGE, line, wrong, remedy));
        if let Some(first) = first_seen.insert(id, line) {
            wrong(format!("{id} stands in line {first} too"), "give each feature one row");
        }
        if tests.is_empty() {
            wrong(format!("{id} names no test"), "a feature exists when a test fails without it");
        }
        for test in tests.into_iter().filter(|test| !exists(tree, test)) {
            wrong(format!("{id}: there is no test `{test}`"), "name it as `path/to/file.rs::test_name`");
        }
    }
    if first_seen.is_empty() {
        let remedy = "begin a table with the columns id, behaviour, tests";
        found.push(Violation::new(PAGE, 1, "no feature is listed", remedy));
    }
    found
}

struct Row<'a> {
    line: usize,
    id: &'a str,
    tests: Vec<&'a str>,
}

/// The rows of all feature tables of the page. A table without a column of tests names none.
fn rows(page: &SourceFile) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut header: Option<Vec<&str>> = None;
    for (line, text) in page.lines() {
        let Some(cells) = cells(text) else {
            header = None;
            continue;
        };
        let Some(header) = &header else {
            header = Some(cells);
            continue;
        };
        let is_rule = cells.iter().all(|cell| cell.bytes().all(|byte| matches!(byte, b'-' | b':')));
        if is_rule || !header[0].eq_ignore_ascii_case("id") {
            continue;
        }
        let column = header.iter().position(|heading| heading.to_lowercase().starts_with("test"));
        let cell = column.and_then(|column| cells.get(column)).copied().unwrap_or_default();
        // What stands between backticks is every second part.
        rows.push(Row { line, id: cells[0], tests: cell.split('`').skip(1).step_by(2).collect() });
    }
    rows
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    Some(inner.strip_suffix('|').unwrap_or(inner).split('|').map(str::trim).collect())
}

fn exists(tree: &Tree, test: &str) -> bool {
    test.rsplit_once("::")
        .and_then(|(path, name)| Some((tree.file(path)?, name)))
        .is_some_and(|(file, name)| test_names(file).any(|test| test == name))
}

/// The functions under an attribute whose last word is `test`: `#[test]`, `#[tokio::test(...)]`.
fn test_names(file: &SourceFile) -> impl Iterator<Item = &str> {
    let mut under_test = false;
    file.lines().filter_map(move |(_, line)| {
        let line = line.trim_start();
        if let Some(attribute) = line.strip_prefix("#[") {
            let path = attribute.split(['(', ']']).next().unwrap_or_default();
            under_test |= path.rsplit("::").next() == Some("test");
            return None;
        }
        let mut words = line.split_whitespace().skip_while(|word| *word != "fn");
        let name = words.nth(1)?.split(['(', '<']).next()?;
        (!line.starts_with("//") && std::mem::take(&mut under_test)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: (&str, &str) = (
        "crates/a/tests/tell.rs",
        "#[test]\nfn plain() {}\n\n#[tokio::test(\n    start_paused = true\n)]\n/// Why.\n#[allow(unused)]\n\
         async fn paused() {}\n\nfn helper() {}\n",
    );

    fn check_rows(rows: &str) -> Vec<String> {
        let page = format!("# Features\n\n| id | behaviour | tests |\n|---|:---:|---|\n{rows}\n");
        let wrong = |found: Violation| format!("{}: {}", found.line, found.wrong);
        check(&Tree::sample([(PAGE, &page), TESTS])).into_iter().map(wrong).collect()
    }

    #[test]
    fn rows_with_existing_tests_pass() {
        let rows = "| A1 | tell | `crates/a/tests/tell.rs::plain`, `crates/a/tests/tell.rs::paused` |\n\
                    | A2 | ask | `crates/a/tests/tell.rs::paused` |";
        assert_eq!(check_rows(rows), [""; 0]);
    }

    #[test]
    fn a_row_without_a_test_is_found() {
        assert_eq!(
            check_rows("| A1 | tell | soon |\n| A2 | ask |"),
            ["5: A1 names no test", "6: A2 names no test"]
        );
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        for test in ["crates/a/tests/tell.rs::absent", "crates/a/tests/absent.rs::plain", "plain"] {
            let found = check_rows(&format!("| A1 | tell | `{test}` |"));
            assert_eq!(found, [format!("5: A1: there is no test `{test}`")]);
        }
    }

    #[test]
    fn a_function_that_is_no_test_is_found() {
        let found = check_rows("| A1 | tell | `crates/a/tests/tell.rs::helper` |");
        assert_eq!(found, ["5: A1: there is no test `crates/a/tests/tell.rs::helper`"]);
    }

    #[test]
    fn an_id_twice_is_found() {
        let row = "| A1 | tell | `crates/a/tests/tell.rs::plain` |";
        assert_eq!(
            check_rows(&format!("{row}\n\n| id | behaviour | test |\n|---|---|---|\n{row}")),
            ["9: A1 stands in line 5 too"]
        );
    }

    #[test]
    fn other_tables_are_left_alone() {
        let rows = "| A1 | tell | `crates/a/tests/tell.rs::plain` |\n\n| word | meaning |\n|---|---|\n| ask | a tell |";
        assert_eq!(check_rows(rows), [""; 0]);
    }

    #[test]
    fn a_missing_or_empty_page_is_found() {
        assert_eq!(check(&Tree::default()).len(), 1);
        assert_eq!(check_rows(""), ["1: no feature is listed"]);
    }
}
