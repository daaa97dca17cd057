//! One text file, and where its production code ends and its tests begin.

/// A file of the tree, by its path from the root with `/` between folders.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, own)| own == extension)
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the file holds tests only: it is in a `tests` folder or is a `tests.rs`.
    pub(crate) fn is_all_tests(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The lines outside tests.
    pub(crate) fn production(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.first_test_line();
        self.lines().take_while(move |(number, _)| *number < tests)
    }

    /// The lines of tests, helpers included.
    pub(crate) fn tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.first_test_line();
        self.lines().skip_while(move |(number, _)| *number < tests)
    }

    /// Tests stand last in a file, in a module under `cfg(test)`. A mere declaration (`mod tests;`) or a
    /// helper under `cfg(test)` does not end the production code.
    fn first_test_line(&self) -> usize {
        if self.is_all_tests() {
            return 1;
        }
        let mut gate = None;
        for (number, line) in self.lines() {
            if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") {
                gate = Some(number);
            } else if !line.starts_with("#[") {
                match gate.take() {
                    Some(first) if is_module(line) => return first,
                    _ => {}
                }
            }
        }
        usize::MAX
    }
}

fn is_module(line: &str) -> bool {
    (line.starts_with("mod ") || line.starts_with("pub")) && line.contains("mod ") && line.ends_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn counts(file: &SourceFile) -> (usize, usize) {
        (file.production().count(), file.tests().count())
    }

    #[test]
    fn an_inline_test_module_ends_the_production_code() {
        let split = "fn a() {}\n#[cfg(test)]\n#[allow(unused)]\nmod tests {\n}\n";
        assert_eq!(counts(&file("src/a.rs", split)), (1, 4));
    }

    #[test]
    fn a_declaration_or_a_helper_under_test_does_not() {
        let declared = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        let helper = "#[cfg(test)]\nfn sample() {}\nmod b {\n}\n";
        assert_eq!(counts(&file("src/a.rs", declared)), (3, 0));
        assert_eq!(counts(&file("src/a.rs", helper)), (4, 0));
    }

    #[test]
    fn test_folders_and_tests_rs_are_tests_from_the_first_line() {
        for path in ["crates/a/tests/b.rs", "crates/a/src/b/tests.rs"] {
            assert_eq!(counts(&file(path, "fn a() {}\n")), (0, 1), "{path}");
        }
        assert_eq!(counts(&file("crates/a/src/contests.rs", "fn a() {}\n")), (1, 0));
    }
}
