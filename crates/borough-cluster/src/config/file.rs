//! Settings from a file in TOML form.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::environment::wrong;
use super::nearest::nearest;
use super::table::KINDS;
use super::value::{Raw, Value};
use super::{Config, ConfigError, Setting, SettingOrigin};

/// The sections, and how one of a type is written.
const SECTIONS: [&str; 7] =
    ["node", "cluster", "limits", "security", "management", "sharding", "sharding.types"];

pub(super) fn read(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let mut reader = Reader { path, text, config: Config::default(), wrong: Vec::new() };
    match DeTable::parse(text) {
        Ok(document) => reader.section("", document.get_ref()),
        Err(error) => {
            let place = reader.place(error.span().map_or(0, |span| span.start));
            return Err(ConfigError::Syntax { place, message: error.message().to_owned() });
        }
    }
    // Tables come sorted by key; people look at the first line first.
    match reader.wrong.into_iter().min_by_key(ConfigError::line) {
        Some(error) => Err(error),
        None => Ok(reader.config),
    }
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    config: Config,
    wrong: Vec<ConfigError>,
}

impl Reader<'_> {
    fn place(&self, at: usize) -> SettingOrigin {
        let before = self.text.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        SettingOrigin::File { path: self.path.to_owned(), line }
    }

    fn section(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let place = self.place(name.span().start);
            let key = if prefix.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{prefix}.{}", name.get_ref())
            };
            if SECTIONS.contains(&key.as_str()) {
                match value.get_ref() {
                    DeValue::Table(inner) if key == "sharding.types" => self.types(inner),
                    DeValue::Table(inner) => self.section(&key, inner),
                    other => self.wrong.push(no_section(key, place, other)),
                }
            } else if let Some(setting) = Setting::of_key(&key) {
                if let Some(said) = self.value(setting, key, place, value) {
                    self.config.general.insert(setting.key, said);
                }
            } else {
                let known = Setting::all().map(Setting::key).chain(SECTIONS);
                let nearest = nearest(&key, known).map(ToOwned::to_owned);
                self.wrong.push(ConfigError::Unknown { place, key, nearest });
            }
        }
    }

    fn types(&mut self, table: &DeTable<'_>) {
        for (name, value) in table {
            let place = self.place(name.span().start);
            let name = name.get_ref().as_ref();
            let DeValue::Table(settings) = value.get_ref() else {
                self.wrong.push(no_section(format!("sharding.types.{name}"), place, value.get_ref()));
                continue;
            };
            self.config.types.entry(name.to_owned()).or_default();
            for (word, value) in settings {
                let place = self.place(word.span().start);
                let word = word.get_ref().as_ref();
                if let Some(setting) = KINDS.iter().find(|setting| setting.word() == word) {
                    let said = self.value(setting, setting.key_of_type(name), place, value);
                    let of_type = self.config.types.entry(name.to_owned()).or_default();
                    of_type.extend(said.map(|said| (setting.key, said)));
                } else {
                    let near = nearest(word, KINDS.iter().map(Setting::word));
                    let nearest = near.map(|near| format!("sharding.types.{name}.{near}"));
                    let key = format!("sharding.types.{name}.{word}");
                    self.wrong.push(ConfigError::Unknown { place, key, nearest });
                }
            }
        }
    }

    fn value(
        &mut self,
        setting: &Setting,
        key: String,
        place: SettingOrigin,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<(Value, SettingOrigin)> {
        let raw = raw(value.get_ref());
        match setting.kind.read(&raw) {
            Some(Value::Path(path)) => Some((Value::Path(self.beside(path)), place)),
            Some(value) => Some((value, place)),
            None => {
                self.wrong.push(wrong(setting, key, place, &raw));
                None
            }
        }
    }

    /// A file that a settings file names lies beside it, wherever the program was started.
    fn beside(&self, path: PathBuf) -> PathBuf {
        self.path.parent().map(|folder| folder.join(&path)).unwrap_or(path)
    }
}

fn no_section(key: String, place: SettingOrigin, value: &DeValue<'_>) -> ConfigError {
    let allowed = format!("its settings below [{key}]");
    ConfigError::Value { place, key, value: raw(value).to_string(), allowed }
}

/// What TOML says, in the few forms that settings have.
fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => {
            let read = i128::from_str_radix(number.as_str(), number.radix());
            read.map_or(Raw::Other("a number that is too large"), Raw::Integer)
        }
        DeValue::Boolean(switch) => Raw::Switch(*switch),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| value.get_ref().as_str().map(ToOwned::to_owned));
            texts.collect::<Option<_>>().map_or(Raw::Other("a list of other things"), Raw::Texts)
        }
        DeValue::Table(table) => {
            let count = |value: &DeValue<'_>| match value {
                DeValue::Integer(number) => usize::from_str_radix(number.as_str(), number.radix()).ok(),
                _ => None,
            };
            let counts = table.iter().map(|(name, value)| {
                let count = count(value.get_ref()).filter(|count| *count > 0)?;
                (!name.get_ref().is_empty()).then(|| (name.get_ref().to_string(), count))
            });
            counts.collect::<Option<_>>().map_or(Raw::Other("a table"), Raw::Counts)
        }
        DeValue::Float(_) => Raw::Other("a fraction"),
        DeValue::Datetime(_) => Raw::Other("a date"),
    }
}
