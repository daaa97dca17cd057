//! Every package of the graph may be used under a licence that `deny.toml` allows.
//!
//! The list stands there alone, so that this rule and cargo-deny cannot disagree.

use serde::Deserialize;
use spdx::{Expression, ParseMode};

use super::{Rule, Violation};
use crate::tree::{Package, Tree};

pub(super) const RULE: Rule = Rule { name: "licences", check };

const LIST: &str = "deny.toml";
const LOCK: &str = "Cargo.lock";

fn check(tree: &Tree) -> Vec<Violation> {
    let text = tree.file(LIST).map_or("", |file| file.text.as_str());
    let allowed = match allow_list(text) {
        Ok(allowed) => allowed,
        Err(error) => {
            let wrong = format!("no list of allowed licences: {}", error.message());
            return vec![Violation::new(LIST, 1, wrong, "give it `allow` under `[licenses]`")];
        }
    };
    tree.packages
        .iter()
        .filter_map(|package| {
            let wrong = objection(package, &allowed)?;
            let entry = format!("name = \"{}\"", package.name);
            let line = tree.line_where(LOCK, |line| line == entry);
            let wrong = format!("{} {}: {wrong}", package.name, package.version);
            Some(Violation::new(
                LOCK,
                line,
                wrong,
                "use another crate, or argue for the licence in deny.toml",
            ))
        })
        .collect()
}

fn allow_list(text: &str) -> Result<Vec<String>, toml::de::Error> {
    #[derive(Deserialize)]
    struct Deny {
        licenses: Licenses,
    }
    #[derive(Deserialize)]
    struct Licenses {
        allow: Vec<String>,
    }
    toml::from_str(text).map(|deny: Deny| deny.licenses.allow)
}

fn objection(package: &Package, allowed: &[String]) -> Option<String> {
    let Some(text) = &package.license else { return Some("no licence is stated".to_owned()) };
    // Old packages write `MIT/Apache-2.0`: lax reading takes the stroke for OR.
    let Ok(licence) = Expression::parse_mode(text, ParseMode::LAX) else {
        return Some(format!("the licence {text} cannot be read"));
    };
    let is_allowed = licence.evaluate(|required| allowed.contains(&required.to_string()));
    (!is_allowed).then(|| format!("the licence {text} is not allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: (&str, &str) = (LIST, "[licenses]\nallow = [\"MIT\", \"Unicode-3.0\"]\n");

    fn check_licence(licence: Option<&str>) -> Vec<String> {
        let mut package = Package::sample("theirs").foreign();
        package.license = licence.map(str::to_owned);
        let mut tree = Tree::sample([ALLOW, (LOCK, "[[package]]\nname = \"theirs\"\n")]);
        tree.packages = vec![package];
        let shown = |found: Violation| format!("{}:{}: {}", found.path, found.line, found.wrong);
        check(&tree).into_iter().map(shown).collect()
    }

    #[test]
    fn licences_outside_the_list_are_found() {
        for licence in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT WITH LLVM-exception"] {
            let wrong = format!("Cargo.lock:2: theirs 0.1.0: the licence {licence} is not allowed");
            assert_eq!(check_licence(Some(licence)), [wrong]);
        }
    }

    #[test]
    fn an_unreadable_licence_and_none_at_all_are_found() {
        assert_eq!(check_licence(None), ["Cargo.lock:2: theirs 0.1.0: no licence is stated"]);
        assert_eq!(
            check_licence(Some("free")),
            ["Cargo.lock:2: theirs 0.1.0: the licence free cannot be read"]
        );
    }

    #[test]
    fn licences_that_the_list_satisfies_pass() {
        for licence in ["MIT", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0", "MIT/Apache-2.0"]
        {
            assert_eq!(check_licence(Some(licence)), [""; 0], "{licence}");
        }
    }

    #[test]
    fn a_missing_list_is_found() {
        assert_eq!(check(&Tree::default()).len(), 1);
        assert_eq!(check(&Tree::sample([(LIST, "[bans]\n")])).len(), 1);
    }
}
