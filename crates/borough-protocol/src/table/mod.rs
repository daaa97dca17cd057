//! The table: who is a member, who votes, and who owns what. What it says was decided by a quorum.
//!
//! Everybody applies the same entries in the same order, so two tables of one version are equal. Nobody is commanded;
//! everybody follows the committed table, late, perhaps skipping versions.
//!
//! ```text
//! (unknown) --Admit--> Active --Drain--> Draining
//!                        |                  |
//!                        +------Remove------+--> removed --Free--> freed --Forget--> (unknown to the table)
//! ```

mod ancestors;
mod change;
mod shards;
#[cfg(test)]
mod tests;
#[cfg(feature = "serde")]
mod wire;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use self::ancestors::Ancestors;
pub use self::change::{Admission, Change, Removal};
use self::shards::Names;
pub use self::shards::{KindTable, NoRoom};
use crate::flaws::Flaws;
use crate::incarnation::{Disk, Facts, Incarnation, Uid};
use crate::log::Entry;
use crate::version::Version;
use crate::voters::{VoterId, Voters};

/// Which cluster: its name, and which founding of it.
///
/// Compared by era, then by founder: of two foundings of one name the lesser one is the older. The era never changes in one founding, and a
/// founder's is above every era that it knows of, also when its clock was set back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cluster {
    /// A hash of the name that people gave it.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::fixed"))]
    pub name: u64,
    /// Rises with every founding, also over a full restart.
    pub era: u32,
    /// Who founded it.
    pub founder: Uid,
}

impl Cluster {
    /// A number that no other founding has.
    pub fn tag(self) -> u64 {
        self.founder.get().rotate_left(32) ^ u64::from(self.era) ^ self.name
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}/{}/{}", self.name, self.era, self.founder)
    }
}

/// What a member is to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum State {
    /// It takes part.
    Active,
    /// It is leaving.
    Draining,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// The version of its admission: its age, and what its lease is bound to.
    pub admission: Version,
    /// Which life of which address.
    pub incarnation: Incarnation,
    /// What it says of itself.
    pub facts: Arc<Facts>,
    /// Whether it is leaving.
    pub state: State,
    /// The version of what was last said of it.
    pub changed: Version,
}

impl Member {
    /// Whether it uses the data directory that is said there, by the identity of a voter. It may be that directory all the same if not: a life that begins
    /// without a log has another identity.
    pub fn is_of_directory(&self, facts: &Facts) -> bool {
        let voter = |disk: Option<Disk>| disk.map(|disk| disk.voter);
        self.facts.disk.is_some() && voter(self.facts.disk) == voter(facts.disk)
    }

    /// Whether it uses that data directory, perhaps with another identity; another directory is taken for it in one of 16 million cases.
    pub fn seems_of_directory(&self, disk: Disk) -> bool {
        self.facts.disk.is_some_and(|own| own.voter.is_of_directory(disk.voter))
    }

    /// Its identity as a voter.
    pub fn voter(&self) -> VoterId {
        self.facts.voter(self.incarnation.uid)
    }
}

/// A life that is over for the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Removed {
    /// The version of its removal.
    pub version: Version,
    /// Why.
    pub why: Removal,
    /// Whether what it owned may have new owners.
    pub freed: bool,
    /// Its data directory.
    pub disk: Option<Disk>,
}

impl Removed {
    /// The identity of that life as a voter.
    pub fn voter(&self, uid: Uid) -> VoterId {
        self.disk.map_or(VoterId::of_life(uid), |disk| disk.voter)
    }
}

/// What an entry changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Nothing: it only counts, or it no longer fits.
    Nothing,
    /// A member came.
    Admitted(Uid),
    /// A member is leaving.
    Draining(Uid),
    /// A member is gone.
    Removed(Uid, Removal),
    /// What a removed member owned may have new owners.
    Freed(Uid),
    /// The voters' lists changed.
    Voters,
    /// The cluster is shutting down.
    Closing,
    /// Types, hosts or owners of shards.
    Shards,
}

/// The table at one version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "wire::Claim"))]
pub struct Table {
    cluster: Cluster,
    ancestors: Ancestors,
    version: Version,
    voters: Voters,
    /// The length of the longest voters' list that was ever in force alone.
    most_voters: u32,
    #[cfg_attr(feature = "serde", serde(serialize_with = "wire::members"))]
    members: BTreeMap<Uid, Member>,
    removed: BTreeMap<Uid, Removed>,
    closing: bool,
    kinds: Vec<Arc<KindTable>>,
    /// By name; found again from `kinds` wherever a table is read.
    #[cfg_attr(feature = "serde", serde(skip))]
    names: Names,
    #[cfg_attr(feature = "serde", serde(skip))]
    flaws: Flaws,
}

impl Table {
    /// Before the first entry.
    pub fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            ancestors: Ancestors::default(),
            version: Version::ZERO,
            voters: Voters::default(),
            most_voters: 0,
            members: BTreeMap::new(),
            removed: BTreeMap::new(),
            closing: false,
            kinds: Vec::new(),
            names: Names::default(),
            flaws: Flaws::default(),
        }
    }

    /// The same, of a node that breaks those rules.
    pub(crate) fn with_flaws(self, flaws: Flaws) -> Self {
        Self { flaws, ..self }
    }

    /// The same, of a cluster that succeeded those.
    #[must_use]
    pub fn with_ancestors(self, ancestors: Ancestors) -> Self {
        Self { ancestors, ..self }
    }

    /// Applies the next entry. One that was applied before is passed over.
    ///
    /// # Panics
    /// If an entry between is missing: a hole in the log must never be papered over.
    pub fn apply(&mut self, version: Version, entry: &Entry<Change>) -> Applied {
        if version.index <= self.version.index {
            return Applied::Nothing;
        }
        assert_eq!(version.index, self.version.index + 1, "a table entry is missing below {version:?}");
        self.version = version;
        match entry {
            Entry::Nothing => Applied::Nothing,
            Entry::Voters { now, next } => {
                self.voters = Voters { id: version, now: now.clone(), next: next.clone() };
                if next.is_empty() {
                    let count = u32::try_from(now.len()).unwrap_or(u32::MAX);
                    self.most_voters = self.most_voters.max(count);
                }
                Applied::Voters
            }
            Entry::Payload(change) => self.change(version, change),
        }
    }

    fn change(&mut self, version: Version, change: &Change) -> Applied {
        match change {
            Change::Admit(admission) => self.admit(version, admission),
            Change::Drain(uid) => match self.members.get_mut(uid) {
                Some(member) if member.state == State::Active => {
                    member.state = State::Draining;
                    member.changed = version;
                    Applied::Draining(*uid)
                }
                Some(_) | None => Applied::Nothing,
            },
            Change::Remove(uid, why) => {
                let Some(member) = self.members.remove(uid) else { return Applied::Nothing };
                // Who said goodbye had dropped everything: there is nothing to wait for.
                let freed = *why == Removal::Goodbye;
                self.bereave(*uid);
                self.removed.insert(*uid, Removed { version, why: *why, freed, disk: member.facts.disk });
                Applied::Removed(*uid, *why)
            }
            Change::Free(uid) => match self.removed.get_mut(uid) {
                Some(removed) if !removed.freed => {
                    removed.freed = true;
                    Applied::Freed(*uid)
                }
                Some(_) | None => Applied::Nothing,
            },
            Change::Forget(uids) => {
                for uid in uids.iter() {
                    if self.removed.get(uid).is_some_and(|removed| removed.freed) {
                        self.removed.remove(uid);
                    }
                }
                Applied::Nothing
            }
            Change::Close => {
                self.closing = true;
                Applied::Closing
            }
            Change::Declare(kind) => shards(self.declare(kind)),
            Change::Host(uid, kind) => shards(self.host(*uid, *kind)),
            Change::EndHosting(uid, kind) => shards(self.end_hosting(*uid, *kind)),
            Change::Shards(steps) => shards(self.take_steps(steps)),
        }
    }

    fn admit(&mut self, version: Version, admission: &Admission) -> Applied {
        let Admission { incarnation, facts } = admission;
        let uid = incarnation.uid;
        let taken = self.members.contains_key(&uid) || self.removed.contains_key(&uid);
        let address_taken =
            self.members.values().any(|member| member.incarnation.address == incarnation.address);
        let directory_taken = self.members.values().any(|member| member.is_of_directory(facts));
        if taken || address_taken || directory_taken || self.closing {
            return Applied::Nothing;
        }
        let (incarnation, facts) = (incarnation.clone(), facts.clone());
        self.members.insert(
            uid,
            Member { admission: version, incarnation, facts, state: State::Active, changed: version },
        );
        Applied::Admitted(uid)
    }

    /// Which cluster it is of.
    pub fn cluster(&self) -> Cluster {
        self.cluster
    }

    /// The foundings that it succeeded.
    pub fn ancestors(&self) -> &Ancestors {
        &self.ancestors
    }

    /// The version of the newest entry in it.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Who votes, as far as it is committed.
    pub fn voters(&self) -> &Voters {
        &self.voters
    }

    /// How many voted at once at most, since the founding. It only grows: a fixed quorum that was complete once stays so.
    pub fn most_voters(&self) -> usize {
        usize::try_from(self.most_voters).unwrap_or(usize::MAX)
    }

    /// The members, in the order of uids.
    pub fn members(&self) -> &BTreeMap<Uid, Member> {
        &self.members
    }

    /// The member of that uid.
    pub fn member(&self, uid: Uid) -> Option<&Member> {
        self.members.get(&uid)
    }

    /// The member that votes as that, if it votes.
    pub fn member_of(&self, voter: VoterId) -> Option<&Member> {
        let of_life = Uid::new(voter.get()).and_then(|uid| self.member(uid));
        of_life.filter(|member| member.voter() == voter).or_else(|| {
            let durable = |member: &&Member| member.facts.disk.is_some_and(|disk| disk.voter == voter);
            self.members.values().find(durable)
        })
    }

    /// The member that uses that data directory, perhaps with another identity.
    pub fn member_on(&self, disk: Disk) -> Option<&Member> {
        let same = self.member_of(disk.voter);
        same.or_else(|| self.members.values().find(|member| member.seems_of_directory(disk)))
    }

    /// Those that were removed, as long as it is remembered.
    pub fn removed(&self) -> &BTreeMap<Uid, Removed> {
        &self.removed
    }

    /// Whether that life is over.
    pub fn is_removed(&self, uid: Uid) -> bool {
        self.removed.contains_key(&uid)
    }

    /// Whether the whole cluster is shutting down.
    pub fn is_closing(&self) -> bool {
        self.closing
    }
}

fn shards(changed: bool) -> Applied {
    if changed { Applied::Shards } else { Applied::Nothing }
}
