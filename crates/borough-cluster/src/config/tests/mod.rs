//! Settings by every way they can be set, who wins, and what is refused in which words.

mod code;
mod combinations;
mod page;
mod refusals;
mod types;
mod ways;

use super::{Config, ConfigError, SettingRow};

/// What a file of that text says.
fn file(text: &str) -> Config {
    Config::parse("conf/borough.toml", text).unwrap()
}

/// What variables say.
fn vars(vars: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::from_vars(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

/// Value and origin of a setting.
fn row(rows: &[SettingRow], key: &str) -> (String, String) {
    let row = rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("{key} is not there"));
    (row.value.clone(), row.origin.to_string())
}

fn is(rows: &[SettingRow], key: &str, value: &str, origin: &str) {
    assert_eq!(row(rows, key), (value.to_owned(), origin.to_owned()), "{key}");
}
