//! Which paths of its own crate a source names: `crate::a::b`, `super::c`, and groups of them.
//!
//! It reads tokens, not grammar: enough to see who knows whom, in imports and in plain code alike.

use crate::tree::SourceFile;

/// A path inside the crate, from its root, and the line that names it.
#[derive(Debug, PartialEq)]
pub(super) struct CratePath {
    pub(super) line: usize,
    pub(super) segments: Vec<String>,
}

/// The module that a file is, given its path below `src/`: `a/b.rs` is `a::b`, `lib.rs` is the root.
pub(super) fn module_of(path_in_src: &str) -> Vec<String> {
    let mut segments: Vec<String> =
        path_in_src.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if segments.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
        segments.pop();
    }
    segments
}

/// Every path of its own crate that the production code of `file`, which is `module`, names.
pub(super) fn paths_in(file: &SourceFile, module: &[String]) -> Vec<CratePath> {
    let mut reader = Reader { tokens: tokens(file), next: 0, found: Vec::new() };
    while let Some((_, token)) = reader.tokens.get(reader.next) {
        let start = match *token {
            "crate" => Some(&[][..]),
            "super" => module.split_last().map(|(_, parent)| parent),
            _ => None,
        };
        reader.next += 1;
        if let Some(start) = start
            && reader.skip("::")
        {
            reader.read(start.to_vec());
        }
    }
    reader.found
}

struct Reader<'a> {
    tokens: Vec<(usize, &'a str)>,
    next: usize,
    found: Vec<CratePath>,
}

impl Reader<'_> {
    fn skip(&mut self, expected: &str) -> bool {
        let is_next = self.tokens.get(self.next).is_some_and(|(_, token)| *token == expected);
        self.next += usize::from(is_next);
        is_next
    }

    /// Reads what follows `prefix::`, a name or a group in braces, and everything behind it.
    fn read(&mut self, mut prefix: Vec<String>) {
        if self.skip("{") {
            while self.next < self.tokens.len() && !self.skip("}") {
                self.read(prefix.clone());
                // A comma, or the rest of `name as other`.
                while self.tokens.get(self.next).is_some_and(|(_, token)| !matches!(*token, "," | "}")) {
                    self.next += 1;
                }
                self.skip(",");
            }
            return;
        }
        let Some(&(line, token)) = self.tokens.get(self.next) else { return };
        if token == "super" {
            prefix.pop();
        } else if is_name(token) {
            prefix.push(token.to_owned());
        } else {
            self.found.push(CratePath { line, segments: prefix });
            return;
        }
        self.next += 1;
        if self.skip("::") {
            self.read(prefix);
        } else {
            self.found.push(CratePath { line, segments: prefix });
        }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, `::`, and single characters, without comments and white space.
fn tokens(file: &SourceFile) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    for (number, line) in file.production() {
        let mut rest = line.split("//").next().unwrap_or_default().trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_name(rest) {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (token, behind) = rest.split_at(length);
            tokens.push((number, token));
            rest = behind.trim_start();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(module: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: "src/x.rs".to_owned(), text: text.to_owned() };
        let shown = |path: CratePath| format!("{} {}", path.line, path.segments.join("::"));
        paths_in(&file, &module_of(module)).into_iter().map(shown).collect()
    }

    #[test]
    fn a_file_is_a_module() {
        assert_eq!(module_of("a/b.rs"), ["a", "b"]);
        assert_eq!(module_of("a/mod.rs"), ["a"]);
        assert_eq!(module_of("lib.rs"), [""; 0]);
    }

    #[test]
    fn imports_are_read_with_their_groups() {
        let text = "use crate::a::B;\npub(crate) use crate::{\n    c::{D as E, f::*},\n    G,\n};\n";
        assert_eq!(named("x.rs", text), ["1 a::B", "3 c::D", "3 c::f", "4 G"]);
    }

    #[test]
    fn plain_code_is_read_too() {
        let text = "fn f() -> crate::a::B { crate::c::d::<u8>() }\n";
        assert_eq!(named("x.rs", text), ["1 a::B", "1 c::d"]);
    }

    #[test]
    fn super_is_resolved() {
        let text = "use super::b;\nuse super::super::{c, d::E};\n";
        assert_eq!(named("x/y.rs", text), ["1 x::b", "2 c", "2 d::E"]);
    }

    #[test]
    fn comments_and_tests_name_nothing() {
        let text =
            "/// See [`crate::a`].\nfn f() {} // crate::b\n#[cfg(test)]\nmod tests {\n    use crate::c;\n}\n";
        assert_eq!(named("x.rs", text), [""; 0]);
    }
}
