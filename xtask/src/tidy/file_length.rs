//! A file with more than 600 lines of production code has two subjects.

use super::{Rule, Violation};
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule { name: "file-length", check };

const LINES_MAX: usize = 600;

fn check(tree: &Tree) -> Vec<Violation> {
    tree.rust_files()
        .filter_map(|file| {
            let lines = file.production().count();
            let wrong = format!("{lines} lines of production code, at most {LINES_MAX} are allowed");
            (lines > LINES_MAX)
                .then(|| Violation::new(&file.path, LINES_MAX + 1, wrong, "give its second subject a file"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_one_line_too_long_is_found() {
        let found = check(&Tree::sample([("src/a.rs", &"a();\n".repeat(601))]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("src/a.rs", 601));
    }

    #[test]
    fn tests_do_not_count() {
        let at_the_limit = "a();\n".repeat(600) + "#[cfg(test)]\nmod tests {\n" + &"a();\n".repeat(900);
        let tree = Tree::sample([("src/a.rs", &at_the_limit), ("tests/b.rs", &"b();\n".repeat(900))]);
        assert_eq!(check(&tree), []);
    }
}
