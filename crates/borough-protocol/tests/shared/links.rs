//! Which ways are cut between those that a test names.

use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(crate) struct Links {
    cut: BTreeSet<(&'static str, &'static str)>,
}

impl Links {
    /// Nothing of the first group reaches the second, and nothing of the second the first.
    pub(crate) fn cut(&mut self, some: &[&'static str], others: &[&'static str]) {
        self.cut_one_way(some, others);
        self.cut_one_way(others, some);
    }

    pub(crate) fn cut_one_way(&mut self, from: &[&'static str], to: &[&'static str]) {
        self.cut.extend(from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))));
    }

    /// Every way is open again.
    pub(crate) fn heal(&mut self) {
        self.cut.clear();
    }

    pub(crate) fn is_cut(&self, from: &'static str, to: &'static str) -> bool {
        self.cut.contains(&(from, to))
    }
}
