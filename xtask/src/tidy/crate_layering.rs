//! Crates depend only downwards, and heavy dependencies stay at the edge: see [`super::layers`].

use super::layers::{CRATES, CrateLayer, EDGES, Edge};
use super::{Rule, Violation};
use crate::tree::{Package, Tree};

pub(super) const RULE: Rule = Rule { name: "crate-layering", check };

fn check(tree: &Tree) -> Vec<Violation> {
    check_against(tree, CRATES, EDGES)
}

fn check_against(tree: &Tree, crates: &[CrateLayer], edges: &[Edge]) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in tree.our_packages() {
        if let Some(layer) = crates.iter().find(|layer| layer.name == package.name) {
            found.extend(misused(tree, package, layer, edges));
        } else {
            let wrong = format!("{} is not in the table of crates", package.name);
            let remedy = "add a row to xtask/src/tidy/layers.rs";
            found.push(Violation::new(&package.manifest(), 1, wrong, remedy));
        }
    }
    found
}

fn misused(tree: &Tree, package: &Package, layer: &CrateLayer, edges: &[Edge]) -> Vec<Violation> {
    let manifest = package.manifest();
    let used = package.dependencies.iter().filter(|dependency| !dependency.is_for_tests_only());
    used.filter_map(|dependency| {
        let name = dependency.name.as_str();
        let ours = tree.our_packages().any(|package| package.name == name);
        let inner = edges.iter().any(|edge| edge.foreign == name && !edge.only_in.contains(&layer.name));
        let (law, remedy) = if ours && !layer.may_use.contains(&name) {
            ("is above or beside it", "turn the dependency round, or move the code that needs it")
        } else if layer.must_not_use.contains(&name) {
            ("is forbidden to it", "do that work in a crate that may")
        } else if inner {
            ("belongs to edge crates", "keep the heavy dependency at the edge")
        } else {
            return None;
        };
        let line = tree.line_where(&manifest, |line| is_entry(line, name));
        Some(Violation::new(&manifest, line, format!("{} uses {name}, which {law}", layer.name), remedy))
    })
    .collect()
}

/// Whether a line of a manifest is the entry of that dependency: `name = "1"`, `name.workspace = true`.
fn is_entry(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|behind| behind.starts_with([' ', '.', '=']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Dependency;

    const CRATES: &[CrateLayer] = &[
        CrateLayer { name: "shell", may_use: &["core"], must_not_use: &[] },
        CrateLayer { name: "core", may_use: &[], must_not_use: &["tokio"] },
    ];
    const EDGES: &[Edge] = &[Edge { foreign: "axum", only_in: &["shell"] }];

    fn check_packages<const N: usize>(packages: [Package; N]) -> Vec<String> {
        let mut tree = Tree::sample([(
            "crates/core/Cargo.toml",
            "[package]\nname = \"core\"\n[dependencies]\ntokio-util = \"0\"\ntokio = \"1\"\n",
        )]);
        tree.packages = packages.into();
        check_against(&tree, CRATES, EDGES)
            .into_iter()
            .map(|found| format!("{}:{}: {}", found.path, found.line, found.wrong))
            .collect()
    }

    #[test]
    fn an_upward_dependency_is_found() {
        let found = check_packages([Package::sample("shell"), Package::sample("core").using(["shell"])]);
        assert_eq!(found, ["crates/core/Cargo.toml:1: core uses shell, which is above or beside it"]);
    }

    #[test]
    fn a_forbidden_and_a_heavy_foreign_crate_are_found() {
        let found = check_packages([Package::sample("core").using(["tokio", "axum"])]);
        assert_eq!(
            found,
            [
                "crates/core/Cargo.toml:5: core uses tokio, which is forbidden to it",
                "crates/core/Cargo.toml:1: core uses axum, which belongs to edge crates",
            ]
        );
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let found = check_packages([Package::sample("new")]);
        assert_eq!(found, ["crates/new/Cargo.toml:1: new is not in the table of crates"]);
    }

    #[test]
    fn downward_edge_and_test_dependencies_pass_and_foreign_crates_need_no_row() {
        let mut core = Package::sample("core");
        core.dependencies = vec![Dependency::for_tests("tokio"), Dependency::for_tests("shell")];
        let shell = Package::sample("shell").using(["core", "tokio", "axum"]);
        assert_eq!(check_packages([shell, core, Package::sample("tokio").foreign()]), [""; 0]);
    }
}
