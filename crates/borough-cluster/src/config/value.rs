//! A value that was read: of the type that its setting wants, and within its range.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing is set.
    Unset,
    Text(String),
    List(Vec<String>),
    Time(Duration),
    Number(u64),
    Switch(bool),
    Counts(BTreeMap<String, usize>),
    Path(PathBuf),
    Hidden(Hidden),
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Hidden(pub(crate) String);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// A value as somebody wrote it, before it is known whether it will do.
#[derive(Debug)]
pub(super) enum Raw {
    /// All that the environment has.
    Word(String),
    Text(String),
    Integer(i128),
    Switch(bool),
    Texts(Vec<String>),
    Counts(BTreeMap<String, usize>),
    /// Something that no setting is.
    Other(&'static str),
}

/// As an error shows it.
impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// How much of a wrong text is repeated.
        const SHOWN: usize = 100;
        match self {
            Self::Word(text) | Self::Text(text) => {
                write!(f, "{:?}", text.chars().take(SHOWN).collect::<String>())
            }
            Self::Integer(number) => write!(f, "{number}"),
            Self::Switch(switch) => write!(f, "{switch}"),
            Self::Texts(texts) => {
                write!(f, "{}", format!("{texts:?}").chars().take(SHOWN).collect::<String>())
            }
            Self::Counts(_) => f.write_str("a table"),
            Self::Other(what) => f.write_str(what),
        }
    }
}
