//! No file but a lock file names the host of a package registry: packages come by name, from wherever
//! the machine is set up to find them.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "registry-hosts", check };

// Spelt in two parts, so that this file does not break its own rule.
const HOSTS: [&str; 9] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("proxy.golang", ".org"),
    concat!("sum.golang", ".org"),
    concat!("maven", ".org"),
    concat!("deb.debian", ".org"),
];

fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.name() != "Cargo.lock") {
        for (number, line) in file.lines() {
            if let Some(host) = HOSTS.into_iter().find(|host| line.contains(host)) {
                let wrong = format!("the registry host {host} is named");
                found.push(Violation::new(&file.path, number, wrong, "name the package alone"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_found() {
        for host in HOSTS {
            let found = check(&Tree::sample([(".ci/run", &format!("#!/bin/sh\ncurl https://x.{host}/y\n"))]));
            assert_eq!(found.len(), 1, "{host}");
            assert_eq!((found[0].path.as_str(), found[0].line), (".ci/run", 2));
        }
    }

    #[test]
    fn lock_files_and_package_names_pass() {
        let lock = format!("source = \"https://x/{}-index\"\n", HOSTS[0]);
        let tree =
            Tree::sample([("Cargo.lock", &lock), ("bench/Cargo.lock", &lock), ("a.md", "cargo add tokio\n")]);
        assert_eq!(check(&tree), []);
    }
}
