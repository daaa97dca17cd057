//! What a running node is set to: kept, so that it can be told, and so that types of entities started later find theirs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::layers::{Resolved, type_rows};
use super::stray::Stray;
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
        for name in self.config.types_said() {
            if !book.types.keys().any(|started| self.config.is_said_of(name, started)) {
                rows.extend(self.config.rows_said(name));
            }
        }
        rows.extend(book.types.values().flatten().cloned());
        rows
    }

    /// What files and the environment say of types that were not started here and are not among these.
    pub(crate) fn strays(&self, elsewhere: &[Arc<str>]) -> Vec<Stray> {
        let book = self.book();
        let known: Vec<&str> =
            book.types.keys().map(String::as_str).chain(elsewhere.iter().map(AsRef::as_ref)).collect();
        let is_stray = |said: &&str| !known.iter().any(|name| self.config.is_said_of(said, name));
        let strays = self.config.types_said().filter(is_stray);
        strays.filter_map(|said| Some(Stray::new(said, self.config.place_of_type(said)?, &known))).collect()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
