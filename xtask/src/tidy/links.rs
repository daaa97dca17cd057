//! Every link of a page to another file of the tree leads to a file, and every anchor to a heading.
//!
//! Links to elsewhere are not looked at: a check that needs the network fails for reasons that are not ours.

use std::collections::BTreeMap;

use super::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

pub(super) const RULE: Rule = Rule { name: "links", check };

fn check(tree: &Tree) -> Vec<Violation> {
    let pages: Vec<_> = tree.files.iter().filter(|file| file.has_extension("md")).collect();
    pages.iter().filter(|page| !is_alias(page, &pages)).flat_map(|page| check_page(tree, page)).collect()
}

/// Whether it is another page under a second name, as a crate's README is that of the tree: its links are relative to the first.
fn is_alias(page: &SourceFile, pages: &[&SourceFile]) -> bool {
    let depth = |file: &SourceFile| file.path.matches('/').count();
    pages.iter().any(|other| other.text == page.text && depth(other) < depth(page))
}

fn check_page(tree: &Tree, page: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    for (line, link) in links(page) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
        let target = if path.is_empty() { Some(page.path.clone()) } else { resolve(&page.path, path) };
        let Some(target) = target.filter(|target| tree.has(target)) else {
            let remedy = "name what exists, from the folder of the page";
            found.push(Violation::new(&page.path, line, format!("{link} leads nowhere"), remedy));
            continue;
        };
        let page_there = tree.file(&target).filter(|file| file.has_extension("md"));
        if let (Some(anchor), Some(there)) = (anchor, page_there)
            && !anchors(there).iter().any(|known| known == anchor)
        {
            let wrong = format!("{link}: {target} has no heading #{anchor}");
            found.push(Violation::new(
                &page.path,
                line,
                wrong,
                "write the heading in small letters with hyphens",
            ));
        }
    }
    found
}

/// The lines outside blocks of code.
pub(super) fn prose(page: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    page.lines().filter(move |(_, line)| {
        let text = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return true,
            (Some(_), _) => {}
        }
        false
    })
}

/// What is linked to, pictures included, with the line of each.
fn links(page: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    prose(page).flat_map(|(number, line)| {
        let defined = definition(line);
        let inline =
            line.match_indices("](").filter(|(at, _)| !is_in_code(line, *at)).filter_map(|(at, _)| {
                let rest = &line[at + 2..];
                rest.split([')', ' ']).next().filter(|link| !link.is_empty())
            });
        inline.chain(defined).map(move |link| (number, link)).collect::<Vec<_>>()
    })
}

/// `[name]: target`, on a line of its own.
fn definition(line: &str) -> Option<&str> {
    let (name, target) = line.strip_prefix('[')?.split_once("]: ")?;
    (!name.contains(']')).then(|| target.split_whitespace().next())?
}

fn is_in_code(line: &str, at: usize) -> bool {
    !line[..at].matches('`').count().is_multiple_of(2)
}

/// The path from the root of the tree; `None` if it leads out of it.
fn resolve(page: &str, link: &str) -> Option<String> {
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// What the headings of a page can be linked to by, as mdBook and GitHub make it.
fn anchors(page: &SourceFile) -> Vec<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    let headings = prose(page).filter_map(|(_, line)| {
        let text = line.trim_start_matches('#');
        (text.len() < line.len()).then(|| text.strip_prefix(' '))?
    });
    headings
        .map(|heading| {
            let anchor = slug(heading.trim());
            let before = seen.entry(anchor.clone()).or_default();
            *before += 1;
            if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
        })
        .collect()
}

fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: (&str, &str) =
        ("docs/there.md", "# There, and `back`\n## Twice\n## Twice\n```text\n# code\n```\n");

    fn wrong(text: &str) -> Vec<String> {
        let tree = Tree::sample([("docs/guide/here.md", text), THERE, ("docs/guide/a.svg", "<svg/>")]);
        check(&tree).into_iter().map(|found| format!("{}: {}", found.line, found.wrong)).collect()
    }

    #[test]
    fn links_to_files_folders_headings_and_elsewhere_pass() {
        let text = "# Here\n![a](a.svg) [b](../there.md) [c](../there.md#there-and-back) [d](#here) [e](..) \
                    [f](https://example.org/x#y) [g](../there.md#twice-1 \"title\") [h]\n\n[h]: ../there.md\n";
        assert_eq!(wrong(text), [""; 0]);
    }

    #[test]
    fn a_link_to_a_file_that_is_not_there_is_found() {
        assert_eq!(wrong("x\n[a](there.md)\n"), ["2: there.md leads nowhere"]);
        assert_eq!(wrong("[a](../../../out.md)"), ["1: ../../../out.md leads nowhere"]);
        assert_eq!(wrong("[a]: absent.md"), ["1: absent.md leads nowhere"]);
    }

    #[test]
    fn an_anchor_without_its_heading_is_found() {
        assert_eq!(
            wrong("[a](../there.md#gone)"),
            ["1: ../there.md#gone: docs/there.md has no heading #gone"]
        );
        assert_eq!(wrong("[a](#gone)"), ["1: #gone: docs/guide/here.md has no heading #gone"]);
        assert_eq!(wrong("[a](../there.md#code)").len(), 1);
    }

    #[test]
    fn what_only_looks_like_a_link_is_left_alone() {
        assert_eq!(wrong("`[a](gone.md)`\n```text\n[a](gone.md)\n```\n"), [""; 0]);
    }

    #[test]
    fn a_page_under_a_second_name_is_looked_at_once() {
        let text = "[a](docs/there.md)";
        let tree = Tree::sample([("README.md", text), ("crates/a/README.md", text), THERE]);
        assert_eq!(check(&tree), []);
    }
}
