//! Settings of a type that nobody has started: they have no effect, most often because a name is misspelt.

use std::fmt;

use super::SettingOrigin;
use super::nearest::nearest;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stray {
    kind: String,
    place: SettingOrigin,
    nearest: Option<String>,
}

impl Stray {
    /// Of the type of that name, said there, if these types are known.
    pub(super) fn new(kind: &str, place: &SettingOrigin, known: &[&str]) -> Self {
        // Variables have capitals.
        let is_variable = matches!(place, SettingOrigin::Environment { .. });
        let wanted = if is_variable { kind.to_ascii_lowercase() } else { kind.to_owned() };
        let nearest = nearest(&wanted, known.iter().copied()).map(ToOwned::to_owned);
        Self { kind: kind.to_owned(), place: place.clone(), nearest }
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, place, nearest } = self;
        write!(f, "{place} speaks of {kind}, which no node has started, and has no effect; ")?;
        match nearest {
            Some(nearest) => write!(f, "did you mean {nearest}?"),
            None => f.write_str("check the name, or take it out"),
        }
    }
}
