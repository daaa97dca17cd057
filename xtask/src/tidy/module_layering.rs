//! Modules know only what their row allows: see [`super::layers`].

use super::crate_paths::{module_of, paths_in};
use super::layers::{MODULES, ModuleLayer};
use super::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

pub(super) const RULE: Rule = Rule { name: "module-layering", check };

const TABLE: &str = "xtask/src/tidy/layers.rs";

fn check(tree: &Tree) -> Vec<Violation> {
    check_against(tree, MODULES)
}

fn check_against(tree: &Tree, modules: &[ModuleLayer]) -> Vec<Violation> {
    modules.iter().flat_map(|layer| check_layer(tree, layer)).collect()
}

fn check_layer(tree: &Tree, layer: &ModuleLayer) -> Vec<Violation> {
    let files = files_of_crate(tree, layer.of_crate);
    let mut found = stale_names(tree, layer, &files);
    for (module, file) in files.iter().filter(|(module, _)| is_within(module, layer.module)) {
        for path in paths_in(file, module) {
            if layer.must_not_use.iter().any(|forbidden| is_within(&path.segments, forbidden)) {
                let wrong = format!("{} must not know crate::{}", layer.module, path.segments.join("::"));
                let remedy = "pass in what it needs, or move the code to a module that may know both";
                found.push(Violation::new(&file.path, path.line, wrong, remedy));
            }
        }
    }
    found
}

/// A row whose module was renamed forbids nothing any more, and nobody would notice.
fn stale_names(tree: &Tree, layer: &ModuleLayer, files: &[(Vec<String>, &SourceFile)]) -> Vec<Violation> {
    let is_module = |path: &str| files.iter().any(|(module, _)| is_within(module, path));
    // An item begins with a capital; whether it exists only the compiler knows.
    let is_item =
        |path: &str| path.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_uppercase));
    std::iter::once(&layer.module)
        .chain(layer.must_not_use)
        .filter(|path| !is_item(path) && !is_module(path))
        .map(|path| {
            let line = tree.line_where(TABLE, |line| line.contains(&format!("\"{path}\"")));
            let wrong = format!("{} has no module {path}", layer.of_crate);
            Violation::new(TABLE, line, wrong, "name the module as it is called now, or take the row out")
        })
        .collect()
}

fn files_of_crate<'a>(tree: &'a Tree, name: &str) -> Vec<(Vec<String>, &'a SourceFile)> {
    let Some(package) = tree.our_packages().find(|package| package.name == name) else { return Vec::new() };
    let source = package.path_of("src") + "/";
    tree.rust_files().filter_map(|file| Some((module_of(file.path.strip_prefix(&source)?), file))).collect()
}

fn is_within(path: &[String], ancestor: &str) -> bool {
    let mut path = path.iter();
    ancestor.split("::").all(|segment| path.next().is_some_and(|own| own == segment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Package;

    const MODULES: &[ModuleLayer] =
        &[ModuleLayer { of_crate: "actor", module: "mailbox", must_not_use: &["host", "system::System"] }];

    fn check_files<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        let mut tree = Tree::sample(files);
        tree.packages = vec![Package::sample("actor")];
        check_against(&tree, MODULES)
            .into_iter()
            .map(|found| format!("{}:{}: {}", found.path, found.line, found.wrong))
            .collect()
    }

    const HOST: (&str, &str) = ("crates/actor/src/host.rs", "use crate::mailbox::Mailbox;\n");

    #[test]
    fn a_forbidden_module_or_item_is_found_anywhere_below_the_module() {
        let found = check_files([
            HOST,
            ("crates/actor/src/mailbox.rs", "use crate::{envelope, host::Host};\n"),
            ("crates/actor/src/mailbox/bounded.rs", "\nfn f(s: &super::super::system::System) {}\n"),
        ]);
        assert_eq!(
            found,
            [
                "crates/actor/src/mailbox.rs:1: mailbox must not know crate::host::Host",
                "crates/actor/src/mailbox/bounded.rs:2: mailbox must not know crate::system::System",
            ]
        );
    }

    #[test]
    fn a_row_about_a_module_that_is_gone_is_found() {
        let found = check_files([("crates/actor/src/mailbox.rs", "//! Mail.\n")]);
        assert_eq!(found, ["xtask/src/tidy/layers.rs:1: actor has no module host"]);
    }

    #[test]
    fn allowed_paths_and_other_modules_pass() {
        let mailbox = "use crate::hosting;\nuse crate::system::Clock;\nuse super::envelope;\n";
        assert_eq!(check_files([HOST, ("crates/actor/src/mailbox.rs", mailbox)]), [""; 0]);
    }
}
