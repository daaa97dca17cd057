//! Pages link to the sources they speak of; those are no part of the book, so there the links lead to the repository.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

const REPOSITORY: &str = "https://github.com/borough-rs/borough/blob/main/";

/// Turns links that lead out of the book to a file of the tree; says how many there were.
pub(super) fn link(book: &Path, root: &Path) -> Result<usize> {
    let mut linked = 0;
    for page in pages(book)? {
        let text =
            fs::read_to_string(&page).with_context(|| format!("{} is not readable", page.display()))?;
        // Where the page was before it became a part of the book.
        let folder = Path::new("docs").join(page.strip_prefix(book)?.parent().unwrap_or(Path::new("")));
        let (text, here) = turned(&text, |link| {
            let path = normal(&folder.join(link))?;
            (!path.starts_with("docs") && root.join(&path).exists())
                .then(|| path.to_string_lossy().replace('\\', "/"))
        });
        if here > 0 {
            fs::write(&page, text)?;
            linked += here;
        }
    }
    Ok(linked)
}

/// The text with each `href` that `place` knows replaced, and how many those were.
fn turned(text: &str, place: impl Fn(&str) -> Option<String>) -> (String, usize) {
    let mut parts = text.split("href=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut linked = 0;
    for part in parts {
        out.push_str("href=\"");
        let (link, rest) = part.split_once('"').unwrap_or((part, ""));
        // The book has made pages of all that ends in `.md`, also of those that are none of its own.
        let (path, anchor) = link.split_once('#').map_or((link, ""), |(path, anchor)| (path, anchor));
        let as_page = path.strip_suffix(".html").map(|path| format!("{path}.md"));
        match place(path).or_else(|| place(&as_page?)).filter(|_| !link.contains("://") && !path.is_empty()) {
            None => out.push_str(link),
            Some(path) => {
                linked += 1;
                out.push_str(REPOSITORY);
                out.push_str(&path);
                if !anchor.is_empty() {
                    out.push('#');
                    out.push_str(anchor);
                }
            }
        }
        if part.contains('"') {
            out.push('"');
            out.push_str(rest);
        }
    }
    (out, linked)
}

/// The path without `..`; `None` if it leads out of the tree.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => normal.push(part),
            Component::ParentDir => {
                normal.pop().then_some(())?;
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{} is not readable", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_sources_lead_to_the_repository_and_others_stay() {
        let tree = tempfile::tempdir().unwrap();
        let (root, book) = (tree.path(), tree.path().join("target/guide"));
        fs::create_dir_all(book.join("guide")).unwrap();
        fs::create_dir_all(root.join("crates/a")).unwrap();
        fs::write(root.join("crates/a/lib.rs"), "").unwrap();
        fs::write(root.join("README.md"), "").unwrap();
        let page = book.join("guide/page.html");
        let before = r##"<a href="../../crates/a/lib.rs">a</a> <a href="../../README.html#x">b</a> <a href="other.html">c</a> <a href="#d">d</a> <a href="https://e/">e</a>"##;
        fs::write(&page, before).unwrap();

        assert_eq!(link(&book, root).unwrap(), 2);
        let after = fs::read_to_string(&page).unwrap();
        assert_eq!(
            after,
            before
                .replace("../../crates/a/lib.rs", &format!("{REPOSITORY}crates/a/lib.rs"))
                .replace("../../README.html#x", &format!("{REPOSITORY}README.md#x"))
        );
    }

    #[test]
    fn a_link_out_of_the_tree_stays() {
        assert_eq!(normal(Path::new("docs/../../x")), None);
        assert_eq!(normal(Path::new("docs/./guide/../x")), Some(PathBuf::from("docs/x")));
    }
}
