//! Every source file says first why it exists.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "module-docs", check };

fn check(tree: &Tree) -> Vec<Violation> {
    tree.rust_files()
        .filter(|file| file.path.split('/').any(|part| part == "src") && !file.text.starts_with("//!"))
        .map(|file| {
            let wrong = "the file does not begin with `//!`";
            Violation::new(&file.path, 1, wrong, "say in a line or two why it exists and what it promises")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_file_without_a_module_doc_is_found() {
        let found = check(&Tree::sample([("crates/a/src/b.rs", "\n//! Too late.\n")]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/a/src/b.rs", 1));
    }

    #[test]
    fn documented_files_and_files_outside_src_pass() {
        let tree = Tree::sample([("src/a.rs", "//! Why.\n"), ("tests/b.rs", "use a;\n"), ("src/c.sql", "")]);
        assert_eq!(check(&tree), []);
    }
}
