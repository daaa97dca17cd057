//! One setting: its key, what it may be, what it does, and where its value goes.

use super::kind::NONE;
use super::table::{KINDS, NODE};
use super::value::Value;
use super::{KindOptions, NodeOptions, SettingKind, SettingOrigin, SettingRow};

/// What the names of all variables begin with.
pub(super) const PREFIX: &str = "BOROUGH_";

/// A setting that a file and the environment can set.
#[derive(Debug)]
pub struct Setting {
    pub(super) key: &'static str,
    pub(super) kind: SettingKind,
    pub(super) help: &'static str,
    pub(super) field: Field,
}

/// Where the value of a setting goes.
#[derive(Debug)]
pub(super) enum Field {
    OfNode { put: fn(&mut NodeOptions, Value), show: fn(&NodeOptions) -> Value },
    OfKind { put: fn(&mut KindOptions, Value), show: fn(&KindOptions) -> Value },
}

impl Setting {
    /// All of them, in the order of the page of settings.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        NODE.iter().chain(KINDS)
    }

    /// Its key in a file, as `cluster.max_pause`: the word after the last dot, in the section before it.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// The name of its variable, as `BOROUGH_CLUSTER_MAX_PAUSE`.
    pub fn env(&self) -> String {
        format!("{PREFIX}{}", in_capitals(self.key))
    }

    /// What it may be.
    pub fn kind(&self) -> &SettingKind {
        &self.kind
    }

    /// What it is when nobody says anything, with its unit.
    pub fn default(&self) -> String {
        let value = match self.field {
            Field::OfNode { show, .. } => show(&NodeOptions::default()),
            Field::OfKind { show, .. } => show(&KindOptions::default()),
        };
        self.kind.show(&value)
    }

    /// What it does.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// Whether it can be set for each type of entities too, as `sharding.types.accounts.shards`.
    pub fn is_per_type(&self) -> bool {
        matches!(self.field, Field::OfKind { .. })
    }

    pub(super) fn of_key(key: &str) -> Option<&'static Self> {
        Self::all().find(|setting| setting.key == key)
    }

    /// Its word in a section.
    pub(super) fn word(&self) -> &'static str {
        self.key.rsplit('.').next().unwrap_or(self.key)
    }

    /// Its key for one type of entities.
    pub(super) fn key_of_type(&self, name: &str) -> String {
        let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let name = if is_bare && !name.is_empty() { name.to_owned() } else { format!("{name:?}") };
        format!("sharding.types.{name}.{}", self.word())
    }

    /// The name of its variable for one type of entities, as `BOROUGH_SHARDING_TYPES_ACCOUNTS_SHARDS`.
    pub fn env_of_type(&self, name: &str) -> String {
        format!("{PREFIX}SHARDING_TYPES_{}_{}", in_capitals(name), in_capitals(self.word()))
    }

    /// Its value in the options of a node; none if it is a type's.
    pub(super) fn shown(&self, options: &NodeOptions) -> Option<Value> {
        match self.field {
            Field::OfNode { show, .. } => Some(show(options)),
            Field::OfKind { .. } => None,
        }
    }

    pub(super) fn row(&self, key: String, value: &Value, origin: SettingOrigin) -> SettingRow {
        let shown = self.kind.show(value);
        // A discovery, or certificates in memory.
        let is_of_code = origin == SettingOrigin::Code && shown == NONE;
        let value = if is_of_code { "set in code".to_owned() } else { shown };
        SettingRow { key, value, origin }
    }
}

/// As a variable has it: capitals, and `_` for all that is neither letter nor digit.
pub(super) fn in_capitals(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
