//! The tree under inspection: its files as text, its packages as cargo sees them.

mod file;
mod package;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

pub(crate) use file::SourceFile;
#[cfg(test)]
pub(crate) use package::Dependency;
pub(crate) use package::Package;

/// What the rules look at, read once.
#[derive(Default)]
pub(crate) struct Tree {
    /// Every text file that is tracked, or would be by `git add`.
    pub(crate) files: Vec<SourceFile>,
    /// The paths of all other such files: pictures and archives.
    pub(crate) others: Vec<String>,
    /// Every package of the dependency graph, ours and foreign.
    pub(crate) packages: Vec<Package>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let (files, others) = read_files(root)?;
        Ok(Self { files, others, packages: package::read(root)? })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether there is a file or a folder of that path; the root is the empty one.
    pub(crate) fn has(&self, path: &str) -> bool {
        let is_in = |known: &str| {
            known
                .strip_prefix(path)
                .is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'))
        };
        self.files.iter().any(|file| is_in(&file.path)) || self.others.iter().any(|path| is_in(path))
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The packages of this workspace.
    pub(crate) fn our_packages(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.is_ours())
    }

    /// Where in the file at `path` a reader should look: the first line like that, or the first of all.
    pub(crate) fn line_where(&self, path: &str, is_like_that: impl Fn(&str) -> bool) -> usize {
        self.file(path)
            .and_then(|file| file.lines().find(|(_, line)| is_like_that(line)))
            .map_or(1, |(number, _)| number)
    }

    #[cfg(test)]
    pub(crate) fn sample<const N: usize>(files: [(&str, &str); N]) -> Self {
        let files = files.map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() });
        Self { files: files.into(), ..Self::default() }
    }
}

/// The texts, and the paths of what is none.
fn read_files(root: &Path) -> Result<(Vec<SourceFile>, Vec<String>)> {
    let output = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .context("git does not start")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    let listing = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let (mut files, mut others) = (Vec::new(), Vec::new());
    for path in listing.split_terminator('\0') {
        // Listed but absent is deleted and not yet committed; a link to a folder has no text either.
        if !root.join(path).is_file() {
            continue;
        }
        let bytes = fs::read(root.join(path)).with_context(|| format!("{path} is not readable"))?;
        // What is not UTF-8 is a picture or an archive: no rule has a word to say about its content.
        match String::from_utf8(bytes) {
            Ok(text) => files.push(SourceFile { path: path.to_owned(), text }),
            Err(_) => others.push(path.to_owned()),
        }
    }
    Ok((files, others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untracked_files_are_read_and_ignored_absent_and_binary_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |arguments: &[&str]| {
            let status = Command::new("git").args(arguments).current_dir(root).status().unwrap();
            assert!(status.success());
        };
        git(&["init", "--quiet"]);
        fs::write(root.join(".gitignore"), "built\n").unwrap();
        fs::write(root.join("built"), "x").unwrap();
        fs::write(root.join("gone"), "x").unwrap();
        git(&["add", "gone"]);
        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("picture"), [0xff, 0xfe, 0x00]).unwrap();
        fs::write(root.join("new.rs"), "//! New.\n").unwrap();

        let (files, others) = read_files(root).unwrap();
        let mut paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, [".gitignore", "new.rs"]);
        assert_eq!(others, ["picture"]);
    }

    #[test]
    fn a_file_a_picture_and_a_folder_are_there_and_half_a_name_is_not() {
        let mut tree = Tree::sample([("docs/guide/a.md", "")]);
        tree.others.push("docs/a.png".to_owned());
        for path in ["docs/guide/a.md", "docs/a.png", "docs/guide", "docs", ""] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["docs/guide/a", "doc", "a.md"] {
            assert!(!tree.has(path), "{path}");
        }
    }

    #[test]
    fn a_line_is_found_and_a_missing_one_points_at_the_top() {
        let tree = Tree::sample([("Cargo.toml", "[dependencies]\ntokio = \"1\"\n")]);
        assert_eq!(tree.line_where("Cargo.toml", |line| line.starts_with("tokio")), 2);
        assert_eq!(tree.line_where("Cargo.toml", |line| line.starts_with("axum")), 1);
        assert_eq!(tree.line_where("absent", |_| true), 1);
    }
}
