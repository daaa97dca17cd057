//! The register: a table that changes by compare-and-set alone, and the newest renewal of each node.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::message::{Answer, Ask};
use crate::incarnation::Uid;
use crate::lease::{Renew, Renewed, Verdict};
use crate::log::Entry;
use crate::log::register::{self, News, Swap};
use crate::settings::ClusterSettings;
use crate::table::{Change, Cluster, Table};
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// How many entries are kept for those who are behind; who is further behind gets the whole table.
const KEPT: usize = 256;

/// A store with nothing else in it. A clone is what a backup of it would be.
#[derive(Clone, Debug, Default)]
pub struct Register {
    /// Rises with every office, also over foundings.
    term: Term,
    held: Option<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    settings: ClusterSettings,
    table: Arc<Table>,
    recent: VecDeque<(Version, Entry<Change>)>,
    holder: Option<Uid>,
    /// The newest renewal of each member, and of each guest since the last append: the store cannot know when a guest is gone.
    renewals: BTreeMap<Uid, u64>,
}

impl Register {
    /// Does one transaction.
    pub fn handle(&mut self, from: Uid, ask: Ask) -> Answer {
        match ask {
            Ask::Look => self.holds(),
            Ask::Found { cluster, settings, instead_of } => {
                self.found(from, cluster, settings, instead_of);
                self.holds()
            }
            Ask::Log { cluster, ask } => {
                let Self { term, held } = self;
                match held.as_mut().filter(|held| held.table.cluster() == cluster) {
                    Some(held) => Answer::Log(held.log(term, from, ask)),
                    None => self.holds(),
                }
            }
            Ask::Renew { cluster, renew } => {
                match self.held.as_mut().filter(|held| held.table.cluster() == cluster) {
                    Some(held) => Answer::Renewed(held.renew(from, &renew)),
                    None => self.holds(),
                }
            }
        }
    }

    /// The table in it.
    pub fn table(&self) -> Option<&Table> {
        self.held.as_ref().map(|held| &*held.table)
    }

    /// The newest term, and who is in office in it.
    pub fn office(&self) -> (Term, Option<Uid>) {
        (self.term, self.held.as_ref().and_then(|held| held.holder))
    }

    fn holds(&self) -> Answer {
        match &self.held {
            None => Answer::Empty,
            Some(Held { table, settings, .. }) => Answer::Holds {
                cluster: table.cluster(),
                settings: settings.clone(),
                closed: table.is_closing(),
            },
        }
    }

    fn found(&mut self, from: Uid, cluster: Cluster, settings: ClusterSettings, instead_of: Option<Cluster>) {
        let same = match &self.held {
            None => instead_of.is_none(),
            Some(held) => held.table.is_closing() && Some(held.table.cluster()) == instead_of,
        };
        if !same {
            return;
        }
        self.term = Term::new(self.term.get() + 1);
        let mut held = Held {
            settings,
            table: Arc::new(Table::new(cluster)),
            recent: VecDeque::new(),
            holder: Some(from),
            renewals: BTreeMap::new(),
        };
        held.add(self.term, Entry::Voters { now: BTreeSet::from([VoterId::STORE]), next: BTreeSet::new() });
        self.held = Some(held);
    }
}

impl Held {
    fn log(
        &mut self,
        term: &mut Term,
        from: Uid,
        ask: register::Ask<Change>,
    ) -> register::Answer<Change, Arc<Table>> {
        match ask.swap {
            Swap::None => {}
            Swap::Stand { term: compared } => {
                if compared == *term && !self.table.is_removed(from) {
                    *term = Term::new(term.get() + 1);
                    self.holder = Some(from);
                    self.add(*term, Entry::Nothing);
                }
            }
            Swap::Append { term: compared, last, payloads } => {
                if compared == *term && self.holder == Some(from) && last == self.table.version() {
                    for change in payloads.iter() {
                        self.add(compared, Entry::Payload(change.clone()));
                    }
                    self.clean();
                }
            }
        }
        let renewals = if ask.of_all {
            self.renewals.iter().map(|(uid, seq)| (*uid, *seq)).collect()
        } else {
            let of_holder = self.holder.and_then(|uid| self.renewals.get(&uid).map(|seq| (uid, *seq)));
            of_holder.into_iter().collect()
        };
        let (term, holder, news) = (*term, self.holder, self.news(ask.known));
        register::Answer { number: ask.number, term, holder, news, renewals }
    }

    fn add(&mut self, term: Term, entry: Entry<Change>) {
        let version = Version { term, index: self.table.version().index + 1 };
        Arc::make_mut(&mut self.table).apply(version, &entry);
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back((version, entry));
    }

    /// Forgets the renewals of those who are no members; a guest's next one brings it back.
    fn clean(&mut self) {
        let table = &self.table;
        self.renewals.retain(|uid, _| table.member(*uid).is_some());
        // Who removed itself left: the next one need not wait.
        self.holder = self.holder.filter(|uid| !table.is_removed(*uid));
    }

    fn news(&self, known: Version) -> News<Change, Arc<Table>> {
        let first = self.recent.front().map_or(u64::MAX, |(version, _)| version.index);
        if known.index.saturating_add(1) < first {
            let (version, voters) = (self.table.version(), self.table.voters().clone());
            return News::Whole { version, voters, state: self.table.clone() };
        }
        let lacking = self.recent.iter().rev().take_while(|(version, _)| version.index > known.index);
        let mut entries: Vec<_> = lacking.cloned().collect();
        entries.reverse();
        News::Entries(entries)
    }

    fn renew(&mut self, from: Uid, renew: &Renew) -> Renewed {
        let verdict = match (renew.admission, self.table.member(from)) {
            _ if self.table.is_removed(from) => Verdict::NotAdmitted,
            (None, _) => Verdict::NotYet,
            (Some(admission), Some(member)) if member.admission == admission => Verdict::Acked,
            (Some(_), _) => Verdict::NotAdmitted,
        };
        if verdict != Verdict::NotAdmitted && renew.hears() {
            let newest = self.renewals.entry(from).or_insert(renew.seq);
            *newest = renew.seq.max(*newest);
        }
        Renewed { seq: renew.seq, coordinator: self.holder, verdict }
    }
}
