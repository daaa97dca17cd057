//! What the machine writes, as operations of the data directory; and what the directory holds, as the machine's image.

use std::collections::BTreeSet;

use borough_protocol::disk::{Bond, Image, Record, StoredLog, Write};
use borough_protocol::log;
use borough_protocol::log::raft::{self, Item, StoredSnapshot};
use borough_protocol::table::Change;
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;
use borough_sqlite::{Entry, Loaded, Operation, Payload, Position, RecordState, Snapshot, VoterState};

use crate::stored::{
    CODEC, RECORD_CODEC, StoredEntry, StoredTable, Undecodable, decode_entry, decode_pledges, decode_record,
    decode_table, encode_entry, encode_pledges, encode_record, encode_table,
};

/// How a log begins.
const FIRST_TERM: Operation = Operation::SetTermAndVote { term: 0, vote: None };

/// The operations of one write, behind what is on the disk and what is under way; `None` if something has no bytes, which nothing of ours is.
pub(super) fn operations<'a>(
    image: &Image,
    mut under_way: impl DoubleEndedIterator<Item = &'a Write>,
    write: &Write,
) -> Option<Vec<Operation>> {
    match write {
        Write::Record(record) => {
            let mut all = Vec::new();
            set_record(record, &mut all)?;
            Some(all)
        }
        Write::Pledges(pledges) => {
            let payload = Payload { codec: CODEC, bytes: encode_pledges(pledges)? };
            Some(vec![Operation::SetPledges(payload)])
        }
        Write::Become { voter, record, log } => {
            let mut all = vec![Operation::ForgetVoter, Operation::BecomeNode(voter.get())];
            if let Some(record) = record {
                set_record(record, &mut all)?;
            }
            if !log.is_empty() {
                all.push(FIRST_TERM);
            }
            log.iter().try_for_each(|write| of_log(write, &mut all))?;
            Some(all)
        }
        Write::Log(write) => {
            // The first of a log begins it.
            let begins = match under_way.rfind(|other| !matches!(other, Write::Record(_) | Write::Pledges(_)))
            {
                Some(Write::Become { log, .. }) => log.is_empty(),
                Some(_) => false,
                None => image.log.is_none(),
            };
            let mut all = Vec::new();
            if begins {
                all.push(FIRST_TERM);
            }
            of_log(write, &mut all)?;
            Some(all)
        }
    }
}

fn set_record(record: &Record, all: &mut Vec<Operation>) -> Option<()> {
    all.push(Operation::SetRecord(of_record(record)?));
    if record.voids_pledges() {
        all.push(Operation::ForgetPledges);
    }
    Some(())
}

fn of_record(record: &Record) -> Option<borough_sqlite::Record> {
    Some(borough_sqlite::Record {
        state: match record.bond {
            Bond::Member => RecordState::Member,
            Bond::Left => RecordState::Left,
            Bond::Ended => RecordState::Ended,
        },
        era: record.memory.cluster.era,
        payload: Payload { codec: RECORD_CODEC, bytes: encode_record(record)? },
    })
}

fn of_log(
    write: &raft::Write<Change, std::sync::Arc<borough_protocol::table::Table>>,
    all: &mut Vec<Operation>,
) -> Option<()> {
    match write {
        raft::Write::Vote { term, vote } => {
            all.push(Operation::SetTermAndVote { term: term.get(), vote: vote.map(VoterId::get) });
        }
        raft::Write::Entries { prev, items } => {
            all.push(Operation::CutAbove(prev.index));
            let mut here = *prev;
            for item in items {
                here.index += 1;
                if let Item::Term(begun) = item {
                    here.term = *begun;
                }
                let payload = Payload { codec: CODEC, bytes: encode_entry(&of_item(item))? };
                all.push(Operation::Append(Entry { position: position(here), payload }));
            }
        }
        raft::Write::Snapshot { snapshot, keeps_tail } => {
            let StoredSnapshot { version, voters, learners, state } = snapshot;
            let table =
                StoredTable { table: state.clone(), voters: voters.clone(), learners: learners.clone() };
            let payload = Payload { codec: CODEC, bytes: encode_table(&table)? };
            let snapshot = Snapshot { position: position(*version), payload };
            all.push(if *keeps_tail {
                Operation::SetSnapshot(snapshot)
            } else {
                Operation::ReplaceLog(snapshot)
            });
        }
    }
    Some(())
}

fn of_item(item: &Item<Change>) -> StoredEntry {
    match item {
        Item::Term(_) => StoredEntry { entry: log::Entry::Nothing, learners: BTreeSet::default() },
        Item::Lists { now, next, learners } => StoredEntry {
            entry: log::Entry::Voters { now: now.clone(), next: next.clone() },
            learners: learners.clone(),
        },
        Item::Payload(change) => {
            StoredEntry { entry: log::Entry::Payload(change.clone()), learners: BTreeSet::default() }
        }
    }
}

fn position(version: Version) -> Position {
    Position { index: version.index, term: version.term.get() }
}

fn version(position: Position) -> Version {
    Version { term: Term::new(position.term), index: position.index }
}

/// What is on the disk.
pub(super) fn image(loaded: Loaded) -> Result<Image, Undecodable> {
    let Loaded { identity, record, voter, pledges } = loaded;
    let identity = VoterId::new(identity.node).ok_or(Undecodable::Identity)?;
    let mut image = Image::new(identity);
    image.record =
        record.map(|record| decode_record(record.payload.codec, &record.payload.bytes)).transpose()?;
    image.log = voter.map(stored_log).transpose()?;
    if let Some(Payload { codec, bytes }) = pledges {
        image.pledges = decode_pledges(codec, &bytes)?.into();
    }
    // The record is written before the log begins. As a fresh node this one would give up the vote that it has given.
    if image.log.is_some() && image.record.is_none() {
        return Err(Undecodable::NoRecord);
    }
    Ok(image)
}

fn stored_log(voter: VoterState) -> Result<StoredLog, Undecodable> {
    let snapshot = voter.snapshot.map(|Snapshot { position, payload }| {
        let StoredTable { table, voters, learners } = decode_table(payload.codec, &payload.bytes)?;
        Ok(StoredSnapshot { version: version(position), voters, learners, state: table })
    });
    let entries = voter.entries.into_iter().map(|Entry { position, payload }| {
        let StoredEntry { entry, learners } = decode_entry(payload.codec, &payload.bytes)?;
        Ok(match entry {
            log::Entry::Nothing => Item::Term(Term::new(position.term)),
            log::Entry::Voters { now, next } => Item::Lists { now, next, learners },
            log::Entry::Payload(change) => Item::Payload(change),
        })
    });
    Ok(StoredLog {
        term: Term::new(voter.term),
        vote: voter.vote.and_then(VoterId::new),
        snapshot: snapshot.transpose()?,
        entries: entries.collect::<Result<_, Undecodable>>()?,
    })
}
