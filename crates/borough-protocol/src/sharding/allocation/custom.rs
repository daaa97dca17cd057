//! Strategies that a user brought, by the names of the types they are for.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::fmt;

use super::Strategy;

/// A user's strategy for one type. Two are equal if they are the same one.
#[derive(Clone)]
pub struct Custom {
    /// The type's name.
    pub kind: Arc<str>,
    /// What to ask.
    pub strategy: Arc<dyn Strategy>,
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && Arc::ptr_eq(&self.strategy, &other.strategy)
    }
}

impl Eq for Custom {}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a strategy for {}", self.kind)
    }
}

/// The users' strategies that a node knows of.
#[derive(Clone, Default)]
pub struct Strategies {
    by_kind: BTreeMap<Arc<str>, Arc<dyn Strategy>>,
}

impl Strategies {
    /// Takes one in; it replaces the one before of the same type.
    pub fn insert(&mut self, custom: &Custom) {
        self.by_kind.insert(custom.kind.clone(), custom.strategy.clone());
    }

    /// The one for that type.
    pub fn of(&self, kind: &str) -> Option<&dyn Strategy> {
        self.by_kind.get(kind).map(|strategy| &**strategy)
    }
}

impl fmt::Debug for Strategies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_kind.keys()).finish()
    }
}
