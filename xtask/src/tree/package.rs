//! The packages of the dependency graph, as `cargo metadata` tells them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A package, with the fields that a rule asks for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) rust_version: Option<String>,
    pub(crate) readme: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Where it comes from; a package of this workspace comes from nowhere.
    source: Option<String>,
    /// The registries it may be published to: none named is any, an empty list is nowhere.
    publish: Option<Vec<String>>,
    manifest_path: PathBuf,
}

/// A line of a dependency table.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or nothing for the ordinary kind.
    kind: Option<String>,
}

impl Package {
    pub(crate) fn is_ours(&self) -> bool {
        self.source.is_none()
    }

    pub(crate) fn is_published(&self) -> bool {
        self.is_ours() && self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// The path of a file of the package, from the root of the tree; only for packages of ours.
    pub(crate) fn path_of(&self, file: &str) -> String {
        let mut path = self.manifest_path.clone();
        path.pop();
        for part in file.split('/') {
            if part == ".." {
                path.pop();
            } else {
                path.push(part);
            }
        }
        path.to_string_lossy().replace('\\', "/")
    }

    pub(crate) fn manifest(&self) -> String {
        self.path_of("Cargo.toml")
    }
}

impl Dependency {
    pub(crate) fn is_for_tests_only(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// Reads the whole graph, for every target and feature.
pub(super) fn read(root: &Path) -> Result<Vec<Package>> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--all-features"])
        .current_dir(root)
        .output()
        .context("cargo does not start")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    parse(&output.stdout)
}

fn parse(json: &[u8]) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
        workspace_root: PathBuf,
    }
    let mut metadata: Metadata =
        serde_json::from_slice(json).context("cargo metadata has an unknown form")?;
    for package in metadata.packages.iter_mut().filter(|package| package.is_ours()) {
        let relative = package.manifest_path.strip_prefix(&metadata.workspace_root);
        let relative = relative.with_context(|| format!("{} is outside the workspace", package.name))?;
        package.manifest_path = relative.to_path_buf();
    }
    Ok(metadata.packages)
}

#[cfg(test)]
impl Package {
    /// A published package of ours that no rule objects to.
    pub(crate) fn sample(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            description: Some("A sample.".to_owned()),
            license: Some("MIT OR Apache-2.0".to_owned()),
            rust_version: Some("1.95".to_owned()),
            readme: Some("README.md".to_owned()),
            manifest_path: format!("crates/{name}/Cargo.toml").into(),
            ..Self::default()
        }
    }

    pub(crate) fn unpublished(self) -> Self {
        Self { publish: Some(Vec::new()), ..self }
    }

    /// The same from a registry.
    pub(crate) fn foreign(self) -> Self {
        Self { source: Some("registry".to_owned()), ..self }
    }

    pub(crate) fn using<const N: usize>(self, names: [&str; N]) -> Self {
        let dependencies = names.map(|name| Dependency { name: name.to_owned(), kind: None });
        Self { dependencies: dependencies.into(), ..self }
    }
}

#[cfg(test)]
impl Dependency {
    pub(crate) fn for_tests(name: &str) -> Self {
        Self { name: name.to_owned(), kind: Some("dev".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_and_ours_are_placed_in_the_tree() {
        let json = br#"{ "workspace_root": "/tree", "packages": [
            { "name": "ours", "version": "0.1.0", "publish": [], "manifest_path": "/tree/crates/ours/Cargo.toml",
              "dependencies": [ { "name": "theirs", "kind": "dev" } ] },
            { "name": "theirs", "version": "1.2.3", "license": "MIT", "source": "registry", "publish": null,
              "manifest_path": "/elsewhere/theirs/Cargo.toml", "dependencies": [] } ] }"#;
        let packages = parse(json).unwrap();
        assert!(packages[0].is_ours() && !packages[1].is_ours());
        assert!(!packages[0].is_published() && !packages[1].is_published());
        assert!(packages[0].dependencies[0].is_for_tests_only());
        assert_eq!(packages[0].manifest(), "crates/ours/Cargo.toml");
        assert_eq!(packages[0].path_of("../../README.md"), "README.md");
    }

    #[test]
    fn something_else_than_metadata_is_an_error() {
        assert!(parse(b"{}").is_err());
    }
}
