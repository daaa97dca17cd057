//! What a running node is set to: kept, so that it can be told, and so that types of entities started later find theirs.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layers::{Resolved, type_rows};
use super::{Config, KindOptions, ManagementOptions, SettingOrigin, SettingRow};
use crate::transport::tls::Tls;

/// See the module.
#[derive(Debug)]
pub(crate) struct Ledger {
    config: Config,
    pub(crate) management: ManagementOptions,
    /// What the node shows and trusts.
    pub(crate) tls: Option<Tls>,
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    rows: Vec<SettingRow>,
    /// By the type they are of.
    types: BTreeMap<String, Vec<SettingRow>>,
}

impl Ledger {
    pub(crate) fn new(
        config: Config,
        rows: Vec<SettingRow>,
        management: ManagementOptions,
        tls: Option<Tls>,
    ) -> Self {
        Self { config, management, tls, book: Mutex::new(Book { rows, types: BTreeMap::new() }) }
    }

    /// What a type of entities begins with, before code says more.
    pub(crate) fn of_type(&self, name: &str) -> Resolved<KindOptions> {
        self.config.of_type(name)
    }

    /// Where a file or the environment said that of the node, if one did.
    pub(crate) fn origin_of(&self, key: &str) -> SettingOrigin {
        self.config.general.get(key).map_or(SettingOrigin::Default, |(_, origin)| origin.clone())
    }

    /// A type was started with these.
    pub(crate) fn note_type(&self, name: &str, resolved: &Resolved<KindOptions>) {
        self.book().types.insert(name.to_owned(), type_rows(name, resolved));
    }

    /// Code said this of a part that is started after the node.
    pub(crate) fn note(&self, key: &str, value: &str) {
        if let Some(row) = self.book().rows.iter_mut().find(|row| row.key == key) {
            (row.value, row.origin) = (value.to_owned(), SettingOrigin::Code);
        }
    }

    /// Every setting; of types that were not started here, what the files and the environment say.
    pub(crate) fn rows(&self) -> Vec<SettingRow> {
        let book = self.book();
        let mut rows = book.rows.clone();
        for name in self.config.types.keys().filter(|name| !book.types.contains_key(*name)) {
            let said = type_rows(name, &self.config.of_type(name));
            rows.extend(said.into_iter().filter(|row| row.origin.is_outside()));
        }
        rows.extend(book.types.values().flatten().cloned());
        rows
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
