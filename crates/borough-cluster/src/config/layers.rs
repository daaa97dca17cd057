//! What files and the environment say, one over the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::checks::check_management;
use super::setting::{Field, in_capitals};
use super::table::{KINDS, NODE};
use super::value::Value;
use super::{
    Code, ConfigError, KindOptions, NodeOptions, Setting, SettingOrigin, SettingRow, check, environment, file,
};

/// Settings of which one stands in place of the others: only the highest layer that has one of them counts.
pub(super) const ALTERNATIVES: &[&[&str]] = &[
    &["node.seeds", "node.seeds_dns", "node.seeds_file"],
    &["security.secret_file", "security.secret_env"],
    &["management.token", "management.token_file"],
];

/// The same of a data directory and the word that there is none. What is refused of the two is in [`durability`](crate::durability).
const DURABLE_OR_VOLATILE: &[&str] = &["node.data_dir", "node.volatile"];

/// What was said of each setting, and where.
pub(super) type Said = BTreeMap<&'static str, (Value, SettingOrigin)>;

/// Settings from files and from the environment, for [`NodeBuilder::config`](crate::NodeBuilder::config).
///
/// What is in effect is, the later over the earlier: the default, a file, the environment, a call of a builder in code. For a type of entities,
/// what is said of that type goes before what is said of all types. Every value in it has been read and is within its range; what is unknown
/// or ill-formed is an error, with its place and the nearest right name. `docs/settings.md` has all settings.
///
/// ```
/// # use borough_cluster::{Config, ConfigError};
/// # fn main() -> Result<(), ConfigError> {
/// let config = Config::parse("borough.toml", "
///     [cluster]
///     max_pause = \"300 ms\"
///     [sharding.types.accounts]
///     shards = 1024
/// ")?;
/// let row = config.report().into_iter().find(|row| row.key == "cluster.max_pause").unwrap();
/// assert_eq!((row.value.as_str(), row.origin.to_string().as_str()), ("300 ms", "borough.toml:3"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(super) general: Said,
    /// By the name of the type.
    pub(super) types: BTreeMap<String, Said>,
    /// By the name of the type as a variable has it.
    pub(super) types_of_environment: BTreeMap<String, Said>,
}

/// What is in effect, and where each value came from; a setting that is not among the origins has its default.
#[derive(Debug, Default)]
pub(crate) struct Resolved<O> {
    pub(crate) options: O,
    pub(crate) origins: BTreeMap<&'static str, SettingOrigin>,
}

impl Config {
    /// A file, and the environment over it: what most programs want.
    ///
    /// # Errors
    /// If the file cannot be read, or as [`parse`](Self::parse) and [`from_env`](Self::from_env).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        Ok(Self::from_file(path)?.over(Self::from_env()?))
    }

    /// A file in TOML form alone.
    ///
    /// # Errors
    /// If the file cannot be read, or as [`parse`](Self::parse).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
        Self::parse(path, &std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// Text in TOML form, as if it stood in a file of that path. Nothing is opened.
    ///
    /// # Errors
    /// The first line that is no TOML, names no setting, or has a value that the setting may not have.
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Self, ConfigError> {
        file::read(path.as_ref(), text)
    }

    /// The variables of this process that begin with `BOROUGH_`. One that is empty counts as not set.
    ///
    /// # Errors
    /// If one is the name of no setting, or has a value that the setting may not have. The few that tools and tests use are passed over;
    /// `docs/settings.md` lists them.
    pub fn from_env() -> Result<Self, ConfigError> {
        let vars = std::env::vars_os();
        Self::from_vars(
            vars.map(|(name, value)| {
                (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
            }),
        )
    }

    /// As [`from_env`](Self::from_env), of variables that are given.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_vars(vars: impl IntoIterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        environment::read(vars)
    }

    /// Both; of two values for one setting that of the environment, else that of `other`.
    #[must_use]
    pub fn over(mut self, other: Self) -> Self {
        lay(&mut self.general, other.general);
        for (name, said) in other.types {
            lay(self.types.entry(name).or_default(), said);
        }
        for (name, said) in other.types_of_environment {
            lay(self.types_of_environment.entry(name).or_default(), said);
        }
        self
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.general.is_empty() && self.types.is_empty() && self.types_of_environment.is_empty()
    }

    /// Whether a node, and management beside it, could start with these settings and none from code. No file that they name is opened.
    ///
    /// # Errors
    /// Settings that do not go together or would break what the cluster promises, by name.
    pub fn check(&self) -> Result<(), ConfigError> {
        let resolved = self.resolve(NodeOptions::default(), &BTreeSet::new());
        check(&resolved, Code::default())?;
        check_management(&resolved)
    }

    /// Every setting with its value and where that came from, as if code said nothing; types of entities as far as they are named. Never a secret.
    pub fn report(&self) -> Vec<SettingRow> {
        let mut rows = self.rows(&self.resolve(NodeOptions::default(), &BTreeSet::new()));
        for name in self.types_said() {
            rows.extend(self.rows_said(name));
        }
        rows
    }

    /// The types of which something is said, by name; one that a variable alone names, as the variable has it.
    pub(super) fn types_said(&self) -> impl Iterator<Item = &str> {
        let types = &self.types;
        let in_files = move |of: &str| types.keys().any(|name| in_capitals(name) == of);
        let of_variables = self.types_of_environment.keys().filter(move |of| !in_files(of));
        self.types.keys().chain(of_variables).map(String::as_str)
    }

    /// Whether what is said of `said` is about the type of that name.
    pub(super) fn is_said_of(&self, said: &str, name: &str) -> bool {
        if self.types.contains_key(said) { said == name } else { said == in_capitals(name) }
    }

    /// Where something is said of that type alone.
    pub(super) fn place_of_type(&self, said: &str) -> Option<&SettingOrigin> {
        let of_type = self.types.get(said).or_else(|| self.types_of_environment.get(said))?;
        of_type.values().next().map(|(_, origin)| origin)
    }

    /// What is said of a type, by files and the environment.
    pub(super) fn rows_said(&self, name: &str) -> impl Iterator<Item = SettingRow> + use<> {
        type_rows(name, &self.of_type(name)).into_iter().filter(|row| row.origin.is_outside())
    }

    /// These settings under what code said.
    pub(crate) fn resolve(
        &self,
        options: NodeOptions,
        code: &BTreeSet<&'static str>,
    ) -> Resolved<NodeOptions> {
        let mut resolved = Resolved { options, origins: BTreeMap::new() };
        for setting in NODE {
            if code.contains(setting.key) {
                resolved.origins.insert(setting.key, SettingOrigin::Code);
            } else if let (Some((value, origin)), Field::OfNode { put, .. }) =
                (self.general.get(setting.key), &setting.field)
                && !self.is_replaced(setting.key, code)
            {
                put(&mut resolved.options, value.clone());
                resolved.origins.insert(setting.key, origin.clone());
            }
        }
        resolved
    }

    /// Whether another setting that stands in place of this one was said in a higher layer.
    fn is_replaced(&self, key: &'static str, code: &BTreeSet<&'static str>) -> bool {
        let rank = |key: &&str| match self.general.get(key) {
            _ if code.contains(*key) => SettingOrigin::Code.rank(),
            // Said to be unset or off, it stands in place of nothing.
            Some((Value::Unset | Value::Switch(false), _)) | None => 0,
            Some((_, origin)) => origin.rank(),
        };
        let groups = ALTERNATIVES.iter().copied().chain([DURABLE_OR_VOLATILE]);
        let group = groups.into_iter().find(|group| group.contains(&key));
        group.is_some_and(|group| group.iter().any(|other| rank(other) > rank(&key)))
    }

    /// What a type of entities is set to.
    pub(crate) fn of_type(&self, name: &str) -> Resolved<KindOptions> {
        let mut resolved = Resolved::default();
        let layers =
            [self.types_of_environment.get(&in_capitals(name)), self.types.get(name), Some(&self.general)];
        for setting in KINDS {
            let said = layers.iter().flatten().find_map(|said| said.get(setting.key));
            if let (Some((value, origin)), Field::OfKind { put, .. }) = (said, &setting.field) {
                put(&mut resolved.options, value.clone());
                resolved.origins.insert(setting.key, origin.clone());
            }
        }
        resolved
    }

    /// All settings of a node, and what holds for types of which nothing more is said.
    pub(crate) fn rows(&self, resolved: &Resolved<NodeOptions>) -> Vec<SettingRow> {
        let of_all = Self { general: self.general.clone(), ..Self::default() }.of_type("");
        let of_node = NODE.iter().filter_map(|setting| node_row(setting, resolved));
        let of_kinds = KINDS.iter().filter_map(|setting| kind_row(setting, setting.key.to_owned(), &of_all));
        of_node.chain(of_kinds).collect()
    }
}

/// A setting of a node, as it is in effect.
pub(super) fn node_row(setting: &Setting, resolved: &Resolved<NodeOptions>) -> Option<SettingRow> {
    let value = setting.shown(&resolved.options)?;
    let origin = resolved.origins.get(setting.key).cloned().unwrap_or(SettingOrigin::Default);
    Some(setting.row(setting.key.to_owned(), &value, origin))
}

/// All settings of one type.
pub(crate) fn type_rows(name: &str, resolved: &Resolved<KindOptions>) -> Vec<SettingRow> {
    KINDS.iter().filter_map(|setting| kind_row(setting, setting.key_of_type(name), resolved)).collect()
}

fn kind_row(setting: &Setting, key: String, resolved: &Resolved<KindOptions>) -> Option<SettingRow> {
    let Field::OfKind { show, .. } = &setting.field else { return None };
    let origin = resolved.origins.get(setting.key).cloned().unwrap_or(SettingOrigin::Default);
    Some(setting.row(key, &show(&resolved.options), origin))
}

fn lay(below: &mut Said, above: Said) {
    for (key, (value, origin)) in above {
        if below.get(key).is_none_or(|(_, other)| other.rank() <= origin.rank()) {
            below.insert(key, (value, origin));
        }
    }
}
