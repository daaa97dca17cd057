//! Healed, everybody agrees, and in time: one cluster, one coordinator, everybody a member in everybody's eyes, in the table and in
//! gossip, the voters as they should be, everybody with a lease.

use std::collections::BTreeSet;

use borough_protocol::gossip::Document;
use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::settings::{Checked, Strategy};
use borough_protocol::table::{State, Table};

use crate::sim::life::Life;
use crate::sim::moment::Moment;

/// The first thing that keeps these lives from being one settled cluster; none if they are.
pub(in crate::sim) fn unsettled(now: Moment, lives: &[&Life], settings: &Checked) -> Option<String> {
    let uids: BTreeSet<Uid> = lives.iter().map(|life| life.uid()).collect();
    let tables: Vec<&Table> = lives.iter().filter_map(|life| life.node.table()).collect();
    let (Some(first), true) = (tables.first(), tables.len() == lives.len()) else {
        return Some(format!("{} of {} are in a cluster", tables.len(), lives.len()));
    };
    let acting: Vec<Uid> = lives
        .iter()
        .filter(|life| life.node.log().is_some_and(Log::may_act))
        .map(|life| life.uid())
        .collect();
    if acting.len() != 1 {
        return Some(format!("{acting:?} act as coordinators"));
    }
    for (life, table) in lives.iter().zip(&tables) {
        let uid = life.uid();
        if table.cluster() != first.cluster() {
            return Some(format!("there are clusters {:?} and {:?}", first.cluster(), table.cluster()));
        }
        if table.version() != first.version() {
            return Some(format!("{uid:?} is at {:?}, others at {:?}", table.version(), first.version()));
        }
        if !table.members().keys().eq(&uids) {
            let members: Vec<&Uid> = table.members().keys().collect();
            return Some(format!("{uid:?} sees members {members:?}, running are {uids:?}"));
        }
        if table.members().values().any(|member| member.state != State::Active) {
            return Some("somebody is leaving".to_owned());
        }
        if !life.node.may_run(life.local(now)) {
            return Some(format!("{uid:?} has no lease"));
        }
        if let Some(missing) = life.node.document().and_then(|document| unsettled_document(document, &uids)) {
            return Some(format!("{uid:?}'s document {missing}"));
        }
    }
    unsettled_voters(first, settings)
}

fn unsettled_document(document: &Document, uids: &BTreeSet<Uid>) -> Option<String> {
    if !document.uids().eq(uids.iter().copied()) {
        return Some(format!("lists {:?}", document.uids().collect::<Vec<_>>()));
    }
    if let Some(uid) = document.unreachable().next() {
        return Some(format!("calls {uid:?} unreachable"));
    }
    (!document.is_converged()).then(|| "has not been seen by all".to_owned())
}

fn unsettled_voters(table: &Table, settings: &Checked) -> Option<String> {
    let voters = table.voters();
    if settings.durable {
        return unsettled_durable_voters(table);
    }
    let eligible = table.members().len().min(voters_max(settings));
    let wanted = eligible - usize::from(eligible.is_multiple_of(2));
    if voters.is_joint() || voters.now.len() != wanted {
        return Some(format!("{wanted} voters are wanted, the lists are {voters:?}"));
    }
    let stranger = voters.now.iter().find(|voter| table.member_of(**voter).is_none())?;
    Some(format!("{stranger:?} votes and is no member"))
}

/// A durable voter whose machine is gone is expected back, and stays on the list until another member takes its place: what is asked for is that the members on
/// the list are a quorum of it.
fn unsettled_durable_voters(table: &Table) -> Option<String> {
    let voters = table.voters();
    let is_settled = !voters.is_joint() && voters.quorum(|voter| table.member_of(voter).is_some());
    (!is_settled).then(|| format!("members are no quorum of the lists {voters:?}"))
}

/// How many vote where there are members enough.
fn voters_max(settings: &Checked) -> usize {
    match settings.strategy {
        Strategy::KeepMajority | Strategy::DownAll => settings.max_voters,
        Strategy::StaticQuorum { quorum } => 2 * quorum - 1,
        // The oldest, or the store.
        Strategy::KeepOldest | Strategy::LeaseMajority => 1,
    }
}
