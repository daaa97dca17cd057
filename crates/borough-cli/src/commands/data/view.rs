//! What `data inspect` shows, as programs read it.

use std::collections::BTreeSet;
use std::path::Path;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Entry;
use borough_protocol::table::{Cluster, KindTable, State};
use borough_sqlite::{Holder, Inspection, RecordState};
use serde::Serialize;

use super::kept;

/// What a data directory holds.
#[derive(Debug, Serialize)]
pub(super) struct Contents {
    pub(super) directory: String,
    pub(super) format: u32,
    /// By which process.
    pub(super) in_use: Option<String>,
    pub(super) cluster: String,
    pub(super) identity: String,
    pub(super) opens: u64,
    pub(super) stamp: u64,
    pub(super) stamped_at_unix_millis: u64,
    pub(super) state: &'static str,
    pub(super) era: Option<u32>,
    /// What the node last recorded of its cluster. A node that is no voter, or that left, has nothing else.
    pub(super) record: Option<Record>,
    /// Where nodes listen that were promised that they may found the cluster.
    pub(super) promised_to: Vec<String>,
    pub(super) voter: Option<Voter>,
    pub(super) table: Option<Table>,
    /// Why the table, the record or the promises cannot be shown.
    pub(super) undecoded: Option<String>,
    pub(super) foreign: Vec<String>,
}

/// Which cluster a node belongs to, or belonged to, and who was in it.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    pub(super) era: u32,
    /// The life of the node that founded it.
    pub(super) founder: String,
    pub(super) voters: Vec<RecordedVoter>,
    /// Where its members listened.
    pub(super) members: Vec<String>,
}

/// A voter of the record.
#[derive(Debug, Serialize)]
pub(super) struct RecordedVoter {
    pub(super) voter: String,
    /// Where it listened, if that was known.
    pub(super) address: Option<String>,
}

/// What a voter keeps.
#[derive(Debug, Serialize)]
pub(super) struct Voter {
    pub(super) term: u64,
    pub(super) vote: Option<String>,
    pub(super) snapshot: Option<u64>,
    pub(super) last: u64,
    pub(super) last_term: u64,
    pub(super) entries: usize,
}

/// The table at the end of its log.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    pub(super) index: u64,
    pub(super) voters: Vec<String>,
    pub(super) next_voters: Vec<String>,
    pub(super) members: Vec<Member>,
    pub(super) types: Vec<Type>,
}

/// A member.
#[derive(Debug, Serialize)]
pub(super) struct Member {
    pub(super) node: String,
    pub(super) address: String,
    pub(super) uid: String,
    pub(super) state: &'static str,
    pub(super) is_voter: bool,
    /// Its identity as a voter.
    pub(super) voter: String,
}

/// A type of entities.
#[derive(Debug, Serialize)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) shards: u32,
    /// How many of them a member owns.
    pub(super) owned: usize,
    pub(super) hosts: usize,
    /// The members that host the type or own shards of it, in the order of their uids, and then former members that nobody has replaced as owners.
    pub(super) owners: Vec<Owner>,
    /// Each shard that has ever had an owner, by number.
    pub(super) places: Vec<Place>,
}

/// How many shards of a type a node owns.
#[derive(Debug, Serialize)]
pub(super) struct Owner {
    /// `None` if it is no member any more.
    pub(super) node: Option<String>,
    pub(super) uid: String,
    pub(super) shards: usize,
    /// How many of them are moving away.
    pub(super) moving: usize,
}

/// Where one shard is.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    pub(super) shard: u32,
    /// Which member owns it; `None` if its last owner is no member any more.
    pub(super) owner: Option<String>,
    pub(super) owner_uid: String,
    /// Since which epoch: text, because it is larger than what every reader of JSON holds exactly.
    pub(super) epoch: String,
    /// To which member it is moving, or to which life that is none any more.
    pub(super) moving_to: Option<String>,
}

impl Contents {
    pub(super) fn of(path: &Path, inspection: Inspection) -> Self {
        let Inspection { format, holder, foreign, loaded, .. } = inspection;
        let identity = loaded.identity;
        let (promised_to, unread) = match loaded.pledges.as_ref().map(kept::promised_to) {
            None => (Vec::new(), None),
            Some(Ok(addresses)) => (addresses, None),
            Some(Err(error)) => (Vec::new(), Some(format!("{error:#}"))),
        };
        let (record, unread_record) = match loaded.record.as_ref().map(|record| kept::record(&record.payload))
        {
            None => (None, None),
            Some(Ok(record)) => (Some(record), None),
            Some(Err(error)) => (None, Some(format!("{error:#}"))),
        };
        let (cluster, record) =
            (record.as_ref().map(|record| record.memory.cluster), record.as_ref().map(Record::of));
        let era = loaded.record.as_ref().map_or(0, |record| record.era);
        let cluster = cluster.unwrap_or(Cluster { name: 0, era, founder: Uid::STORE });
        let (table, undecoded) = match loaded.voter.as_ref().map(|voter| kept::table(voter, cluster)) {
            None => (None, None),
            Some(Ok(table)) => (Some(Table::of(&table)), None),
            Some(Err(error)) => (None, Some(format!("{error:#}"))),
        };
        let voter = loaded.voter.map(|voter| Voter {
            term: voter.term,
            vote: voter.vote.map(|uid| format!("{uid:x}")),
            snapshot: voter.snapshot.as_ref().map(|snapshot| snapshot.position.index),
            last: voter.last().index,
            last_term: voter.last().term,
            entries: voter.entries.len(),
        });
        Self {
            directory: path.display().to_string(),
            format,
            in_use: holder.map(|Holder { pid }| {
                pid.map_or_else(|| "by a process".to_owned(), |pid| format!("by process {pid}"))
            }),
            cluster: identity.cluster,
            identity: format!("{:x}", identity.node),
            opens: identity.opens,
            stamp: identity.stamp.count,
            stamped_at_unix_millis: identity.stamp.unix_millis,
            state: match loaded.record.as_ref().map(|record| record.state) {
                None => "fresh",
                Some(RecordState::Member) => "member",
                Some(RecordState::Left) => "left",
                Some(RecordState::Ended) => "ended",
            },
            era: loaded.record.map(|record| record.era),
            record,
            promised_to,
            voter,
            table,
            undecoded: undecoded.or(unread_record).or(unread),
            foreign,
        }
    }
}

impl Record {
    fn of(record: &borough_protocol::disk::Record) -> Self {
        let memory = &record.memory;
        let address = |voter| memory.places.iter().find(|(it, _)| *it == voter).map(|(_, at)| at.to_string());
        let voters = memory.voters.all();
        Self {
            era: memory.cluster.era,
            founder: memory.cluster.founder.to_string(),
            voters: voters
                .map(|voter| RecordedVoter { voter: voter.to_string(), address: address(voter) })
                .collect(),
            members: record.members.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Table {
    fn of(table: &borough_protocol::table::Table) -> Self {
        let voters = table.voters();
        let members = table.members().iter().map(|(uid, member)| Member {
            node: member.facts.id.as_str().to_owned(),
            address: member.incarnation.address.to_string(),
            uid: uid.to_string(),
            state: match member.state {
                State::Active => "active",
                State::Draining => "leaving",
            },
            voter: member.voter().to_string(),
            is_voter: voters.names(member.voter()),
        });
        let types = table.kinds().iter().map(|kind| Type::of(table, kind));
        Self {
            index: table.version().index,
            voters: voters.now.iter().map(ToString::to_string).collect(),
            next_voters: voters.next.iter().map(ToString::to_string).collect(),
            members: members.collect(),
            types: types.collect(),
        }
    }
}

impl Type {
    fn of(table: &borough_protocol::table::Table, kind: &KindTable) -> Self {
        let node = |uid| table.member(uid).map(|member| member.facts.id.as_str().to_owned());
        let place = |(number, entry): (&u32, &Entry)| Place {
            shard: *number,
            owner: node(entry.owner),
            owner_uid: entry.owner.to_string(),
            epoch: entry.epoch.get().to_string(),
            moving_to: entry.moving.map(|(to, _)| node(to).unwrap_or_else(|| to.to_string())),
        };
        let places: Vec<_> = kind.shards().iter().map(place).collect();
        let uids: BTreeSet<Uid> =
            kind.hosts().iter().copied().chain(kind.shards().values().map(|entry| entry.owner)).collect();
        let owner = |uid: Uid| {
            let owned = kind.shards().values().filter(|entry| entry.owner == uid);
            let moving = owned.clone().filter(|entry| entry.moving.is_some()).count();
            Owner { node: node(uid), uid: uid.to_string(), shards: owned.count(), moving }
        };
        let mut owners: Vec<_> = uids.into_iter().map(owner).collect();
        owners.sort_by_key(|owner| owner.node.is_none());
        Self {
            name: kind.kind().name.to_string(),
            shards: kind.kind().shards,
            owned: places.iter().filter(|place| place.owner.is_some()).count(),
            hosts: kind.hosts().len(),
            owners,
            places,
        }
    }
}
