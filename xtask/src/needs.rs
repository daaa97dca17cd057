//! What the tests need of the machine beside a toolchain: looked for, installed where that may be, and named where it is missing.
//!
//! Promise: nothing is skipped silently. What is missing in the end is in the last line of `cargo xtask verify`, with what brings it and which
//! tests went without.

use std::path::Path;
use std::process::{Command, Stdio};

/// Something that some tests need.
struct Need {
    name: &'static str,
    is_there: fn() -> bool,
    /// The Debian package that brings it; none if no package can.
    package: Option<&'static str>,
    /// What is not tested without it.
    tests: &'static str,
}

const NEEDS: [Need; 3] = [
    Need {
        name: "Chromium",
        is_there: has_chromium,
        package: Some("chromium-headless-shell"),
        tests: "the dashboard in a browser (borough-management, tests/dashboard)",
    },
    Need {
        name: "ip",
        is_there: || is_on_path("ip"),
        package: Some("iproute2"),
        tests: "partitions by network namespaces (borough-chaos; proxies are used instead)",
    },
    Need {
        name: "the right to make network namespaces",
        is_there: may_make_namespaces,
        package: None,
        tests: "partitions by network namespaces (borough-chaos; proxies are used instead)",
    },
];

/// Installs what is missing, where that may be. Gives a sentence for each that is missing still.
pub(crate) fn provide() -> Vec<String> {
    NEEDS.iter().filter_map(Need::provide).collect()
}

impl Need {
    fn provide(&self) -> Option<String> {
        if (self.is_there)() {
            return None;
        }
        if let Some(package) = self.package.filter(|_| may_install()) {
            println!("verify: {} is missing: installing {package}", self.name);
            install(package);
        }
        (!(self.is_there)()).then(|| self.missing())
    }

    fn missing(&self) -> String {
        let remedy = self.package.map(|package| format!(" (Debian: {package})")).unwrap_or_default();
        format!("{}{remedy} is missing: not tested: {}", self.name, self.tests)
    }
}

/// The same names that the browser tests look for.
fn has_chromium() -> bool {
    let told = std::env::var_os("BOROUGH_CHROMIUM").is_some_and(|path| Path::new(&path).is_file());
    let browsers =
        ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    told || browsers.into_iter().any(is_on_path)
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn may_make_namespaces() -> bool {
    let name = format!("borough-needs-{}", std::process::id());
    let made = quietly(Command::new("ip").args(["netns", "add", &name]));
    made && quietly(Command::new("ip").args(["netns", "delete", &name]))
}

/// As root, where there is apt-get: nobody is asked for a password.
fn may_install() -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout.trim_ascii() == b"0");
    is_root && is_on_path("apt-get")
}

/// Whether it came is seen by looking for it.
fn install(package: &str) {
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    quietly(apt().args(["update", "-q"]));
    quietly(apt().args(["install", "-qy", "--no-install-recommends", package]));
}

fn quietly(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_what_brings_it_and_what_is_not_tested() {
        let need = Need { name: "a loom", is_there: || false, package: Some("loom"), tests: "weaving" };
        assert_eq!(need.missing(), "a loom (Debian: loom) is missing: not tested: weaving");
    }

    #[test]
    fn what_is_there_is_not_installed() {
        let need = Need { name: "air", is_there: || true, package: Some("air"), tests: "breathing" };
        assert_eq!(need.provide(), None);
    }
}
