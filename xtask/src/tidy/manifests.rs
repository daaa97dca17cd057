//! A published crate tells its users what it is, under which licence, and for which compiler.

use super::{Rule, Violation};
use crate::tree::{Package, Tree};

pub(super) const RULE: Rule = Rule { name: "manifests", check };

/// The texts that both licences ask to be handed on; a link to the file at the root will do.
const LICENCE_TEXTS: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

fn check(tree: &Tree) -> Vec<Violation> {
    tree.our_packages()
        .filter(|package| package.is_published())
        .flat_map(|package| missing_fields(package).chain(missing_files(tree, package)))
        .collect()
}

fn missing_fields(package: &Package) -> impl Iterator<Item = Violation> {
    let fields = [
        ("description", &package.description),
        ("license", &package.license),
        ("rust-version", &package.rust_version),
        ("readme", &package.readme),
    ];
    fields.into_iter().filter(|(_, value)| value.as_ref().is_none_or(String::is_empty)).map(|(field, _)| {
        let wrong = format!("{} is published without {field}", package.name);
        Violation::new(&package.manifest(), 1, wrong, "state it, or write `publish = false`")
    })
}

fn missing_files(tree: &Tree, package: &Package) -> impl Iterator<Item = Violation> {
    let files = package.readme.as_deref().into_iter().chain(LICENCE_TEXTS);
    files.map(|file| package.path_of(file)).filter(|path| tree.file(path).is_none()).map(|path| {
        let wrong = format!("{} is published without the file {path}", package.name);
        Violation::new(&package.manifest(), 1, wrong, "add it (a link to the root's will do)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_package(package: Package) -> Vec<String> {
        let mut tree = Tree::sample([
            ("crates/a/README.md", "# A\n"),
            ("crates/a/LICENSE-MIT", "MIT\n"),
            ("crates/a/LICENSE-APACHE", "Apache\n"),
        ]);
        tree.packages = vec![package];
        check(&tree).into_iter().map(|found| format!("{}: {}", found.path, found.wrong)).collect()
    }

    #[test]
    fn missing_fields_are_found() {
        let mut bare = Package::sample("a");
        (bare.description, bare.license, bare.rust_version, bare.readme) = (None, None, None, None);
        assert_eq!(
            check_package(bare),
            ["description", "license", "rust-version", "readme"]
                .map(|field| format!("crates/a/Cargo.toml: a is published without {field}"))
        );
    }

    #[test]
    fn missing_files_are_found() {
        assert_eq!(
            check_package(Package::sample("b")),
            ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]
                .map(|file| format!("crates/b/Cargo.toml: b is published without the file crates/b/{file}"))
        );
    }

    #[test]
    fn complete_unpublished_and_foreign_packages_pass() {
        let bare = || {
            let mut package = Package::sample("c");
            package.description = None;
            package
        };
        assert_eq!(check_package(Package::sample("a")), [""; 0]);
        assert_eq!(check_package(bare().unpublished()), [""; 0]);
        assert_eq!(check_package(bare().foreign()), [""; 0]);
    }
}
