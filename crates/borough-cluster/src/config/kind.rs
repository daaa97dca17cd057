//! What a setting may be: from what was written to a value, and back to text.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use borough_protocol::incarnation::Address;
use borough_wire::limits::TEXT_MAX;

use super::units;
use super::value::{Hidden, Raw, Value};
use crate::discovery::is_address;
use crate::transport::host::HostPort;

/// What a listing shows where nothing is set.
pub(super) const NONE: &str = "none";

/// What a setting may be.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SettingKind {
    /// A text of 1 to 512 bytes.
    Text,
    /// Several of them.
    Texts,
    /// An address to listen at, as `host:port`; port 0 takes a free one.
    Listen,
    /// An address that others reach, as `host:port`.
    Address,
    /// Several of them.
    Addresses,
    /// A time, with its unit.
    Time {
        /// The shortest.
        least: Duration,
        /// The longest.
        most: Duration,
    },
    /// A count.
    Number {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A number of bytes, with or without a unit.
    Size {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// On or off.
    Switch,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A text of a form of its own.
    Form {
        /// What it may be.
        forms: &'static str,
        /// Whether a text is of that form.
        is_one: fn(&str) -> bool,
    },
    /// A file. In a settings file, a path that is not absolute is looked for beside that file.
    File,
    /// A count for each of several names.
    Counts,
    /// The name of an environment variable.
    Variable,
    /// A text that is never shown.
    Secret,
}

impl SettingKind {
    /// What the setting may be, in words, with an example.
    pub fn allowed(&self) -> String {
        match self {
            Self::Text => format!("a text of 1 to {TEXT_MAX} bytes"),
            Self::Texts => "a list of texts, as [\"backend\", \"eu\"]".to_owned(),
            Self::Listen => "an address, as \"127.0.0.1:25520\"; port 0 takes a free one".to_owned(),
            Self::Address => "an address, as \"10.0.0.1:25520\"".to_owned(),
            Self::Addresses => "a list of addresses, as [\"10.0.0.1:25520\", \"10.0.0.2:25520\"]".to_owned(),
            Self::Time { least, most } => {
                let (least, most) = (units::write_time(*least), units::write_time(*most));
                format!("a time from {least} to {most} with its unit, as \"250 ms\" or \"3.5 s\"")
            }
            Self::Number { least, most: u64::MAX } => format!("a number, {least} or more"),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::Size { least, most: u64::MAX } => {
                format!("a size of {} or more, as \"256 KiB\" or 4096", units::write_size(*least))
            }
            Self::Size { least, most } => {
                let (least, most) = (units::write_size(*least), units::write_size(*most));
                format!("a size from {least} to {most}, as \"256 KiB\" or 4096")
            }
            Self::Switch => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Form { forms, .. } => (*forms).to_owned(),
            Self::File => "the path of a file".to_owned(),
            Self::Counts => "a count for each name, as { backend = 2 }".to_owned(),
            Self::Variable => "the name of an environment variable: letters, digits and _".to_owned(),
            Self::Secret => "a text of 16 to 512 visible ASCII characters".to_owned(),
        }
    }

    /// How the environment has it, where that differs from a file.
    pub(super) fn in_environment(&self) -> Option<&'static str> {
        match self {
            Self::Texts | Self::Addresses => Some("separated by commas"),
            Self::Counts => Some("as `backend=2,web=3`"),
            _ => None,
        }
    }

    /// Whether a wrong value may be repeated in an error.
    pub(super) fn may_be_shown(&self) -> bool {
        // Whoever mistook a secret for the name of its variable should not find it in a log.
        !matches!(self, Self::Secret | Self::Variable)
    }

    /// The value, if what was written is one.
    pub(super) fn read(&self, raw: &Raw) -> Option<Value> {
        match (self, raw) {
            (_, Raw::Word(word)) => self.read_word(word),
            (Self::Switch, Raw::Switch(switch)) => Some(Value::Switch(*switch)),
            (Self::Number { .. } | Self::Size { .. }, Raw::Integer(number)) => {
                self.bounded(u64::try_from(*number).ok()?)
            }
            (Self::Texts | Self::Addresses, Raw::Texts(texts)) => self.list(texts.clone()),
            (Self::Counts, Raw::Counts(counts)) => Some(Value::Counts(counts.clone())),
            // A number or a switch in quotes is a mistake in a file that knows both.
            (Self::Switch | Self::Number { .. } | Self::Texts | Self::Addresses | Self::Counts, _) => None,
            (_, Raw::Text(text)) => self.read_word(text),
            _ => None,
        }
    }

    fn read_word(&self, text: &str) -> Option<Value> {
        let as_text = |is_one: bool| is_one.then(|| Value::Text(text.to_owned()));
        match self {
            Self::Text => as_text(is_text(text)),
            Self::Listen => as_text(text.len() <= TEXT_MAX && HostPort::of(&Address::new(text)).is_some()),
            Self::Address => as_text(text.len() <= TEXT_MAX && is_address(text)),
            Self::Texts | Self::Addresses => self.list(split(text).map(str::to_owned).collect()),
            Self::Time { least, most } => {
                let time = units::read_time(text)?;
                (*least..=*most).contains(&time).then_some(Value::Time(time))
            }
            Self::Number { .. } => self.bounded(text.parse().ok()?),
            Self::Size { .. } => self.bounded(units::read_size(text)?),
            Self::Switch => text.parse().ok().map(Value::Switch),
            Self::Choice(words) => as_text(words.contains(&text)),
            Self::Form { is_one, .. } => as_text(is_one(text)),
            Self::File => (!text.is_empty()).then(|| Value::Path(PathBuf::from(text))),
            Self::Counts => counts(text).map(Value::Counts),
            Self::Variable => as_text(is_variable(text)),
            Self::Secret => {
                let is_sound =
                    (16..=TEXT_MAX).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_graphic());
                is_sound.then(|| Value::Hidden(Hidden(text.to_owned())))
            }
        }
    }

    fn bounded(&self, number: u64) -> Option<Value> {
        let (Self::Number { least, most } | Self::Size { least, most }) = self else { return None };
        (*least..=*most).contains(&number).then_some(Value::Number(number))
    }

    fn list(&self, texts: Vec<String>) -> Option<Value> {
        let is_one = |text: &String| match self {
            Self::Addresses => text.len() <= TEXT_MAX && is_address(text),
            _ => is_text(text),
        };
        texts.iter().all(is_one).then_some(Value::List(texts))
    }

    /// A value as a listing shows it: never a secret.
    pub(super) fn show(&self, value: &Value) -> String {
        match value {
            Value::Unset => NONE.to_owned(),
            Value::Text(text) if text.is_empty() => "\"\"".to_owned(),
            Value::Text(text) => text.clone(),
            Value::List(list) if list.is_empty() => NONE.to_owned(),
            Value::List(list) => list.join(", "),
            Value::Time(time) => units::write_time(*time),
            Value::Number(number) if matches!(self, Self::Size { .. }) => units::write_size(*number),
            Value::Number(number) => number.to_string(),
            Value::Switch(switch) => switch.to_string(),
            Value::Counts(counts) if counts.is_empty() => NONE.to_owned(),
            Value::Counts(counts) => {
                let rows = counts.iter().map(|(name, count)| format!("{name}={count}"));
                rows.collect::<Vec<_>>().join(", ")
            }
            Value::Path(path) => path.display().to_string(),
            Value::Hidden(_) => "(hidden)".to_owned(),
        }
    }
}

fn is_text(text: &str) -> bool {
    (1..=TEXT_MAX).contains(&text.len())
}

fn is_variable(text: &str) -> bool {
    is_text(text)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn counts(text: &str) -> Option<BTreeMap<String, usize>> {
    let count = |part: &str| {
        let (name, count) = part.split_once('=')?;
        let (name, count) = (name.trim(), count.trim().parse().ok()?);
        (is_text(name) && count > 0).then(|| (name.to_owned(), count))
    };
    split(text).map(count).collect()
}
