//! The table that a voter's snapshot and log make, the record of the cluster, and the promises of a node without one.

use anyhow::{Result, bail};
use borough_cluster::stored::{decode_entry, decode_pledges, decode_record, decode_table};
use borough_protocol::disk::Record;
use borough_protocol::table::{Cluster, Table};
use borough_protocol::version::{Term, Version};
use borough_sqlite::{Entry, Payload, VoterState};

/// Where those listen that the node promised to.
pub(super) fn promised_to(pledges: &Payload) -> Result<Vec<String>> {
    let pledges = decode_pledges(pledges.codec, &pledges.bytes)?;
    Ok(pledges.into_iter().map(|pledge| pledge.address.to_string()).collect())
}

/// Which cluster the node belongs to, or belonged to.
pub(super) fn record(record: &Payload) -> Result<Record> {
    Ok(decode_record(record.codec, &record.bytes)?)
}

/// The table at the end of the log of a voter of that cluster.
pub(super) fn table(voter: &VoterState, cluster: Cluster) -> Result<Table> {
    let mut table = match &voter.snapshot {
        Some(snapshot) => {
            let stored = decode_table(snapshot.payload.codec, &snapshot.payload.bytes)?;
            (*stored.table).clone()
        }
        // Epochs begin with the era of their cluster: with another one no shard would have an owner.
        None => Table::new(cluster),
    };
    let kept = voter.snapshot.as_ref().map_or(0, |snapshot| snapshot.position.index);
    let found = table.version().index;
    if found != kept {
        bail!("the snapshot holds the table at {found}, and is kept as the one at {kept}");
    }
    // The store has checked that no entry is missing between them.
    for Entry { position, payload } in &voter.entries {
        let stored = decode_entry(payload.codec, &payload.bytes)?;
        let version = Version { term: Term::new(position.term), index: position.index };
        table.apply(version, &stored.entry);
    }
    Ok(table)
}
