//! The text format that Prometheus reads, version 0.0.4.
//!
//! Promise: what is written can be read, whatever nodes and types are called; each family is described once, before its samples.

use std::fmt::{Display, Write};

/// What a number means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// It only grows, from the start of the process.
    Counter,
    /// It goes up and down.
    Gauge,
}

/// A text being written.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    text: String,
}

/// One family of it.
#[derive(Debug)]
pub(super) struct Family<'a> {
    name: &'static str,
    text: &'a mut String,
}

impl Exposition {
    /// Begins a family; samples follow.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> Family<'_> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.write(format_args!("# HELP {name} {}\n# TYPE {name} {kind}\n", escaped(help, false)));
        Family { name, text: &mut self.text }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn write(&mut self, what: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(what);
    }
}

impl Family<'_> {
    /// One number, told apart from the others of its family by its labels.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(self.name);
        for (place, (name, content)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(content, true));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let value = match value.to_string().as_str() {
            "inf" => "+Inf".to_owned(),
            value => value.to_owned(),
        };
        let _ = writeln!(self.text, "{after} {value}");
    }
}

/// As it must be written, inside quotes or not.
fn escaped(text: &str, quoted: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '"' if quoted => escaped.push_str("\\\""),
            other => escaped.push(other),
        }
    }
    escaped
}
