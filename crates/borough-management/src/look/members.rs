//! Who is there.

use std::collections::BTreeMap;

use borough_cluster::{Member, MemberState, Standing, TopologySnapshot, Uid};

use crate::bureau::Bureau;
use crate::view;

/// No suspicion is shown as greater: phi 1000.
const PHI_MAX: f64 = 1e6;

/// The cluster as this node sees it.
pub(crate) fn members(bureau: &Bureau) -> view::Members {
    let topology = bureau.node.topology();
    let (snapshot, phi) = (topology.current(), topology.suspicions());
    let name_of = |uid: Uid| snapshot.member(uid).map(|member| member.node_id().to_string());
    view::Members {
        cluster: bureau.node.name().to_owned(),
        seen_by: bureau.name(),
        standing: snapshot.standing.to_string(),
        advice: advice(&snapshot.standing),
        version: format!("{}.{}", snapshot.version.term.get(), snapshot.version.index),
        coordinator: snapshot.coordinator.and_then(name_of),
        tolerates: snapshot.tolerates(),
        members: snapshot.members.iter().map(|member| shown(bureau, &snapshot, &phi, member)).collect(),
    }
}

fn shown(
    bureau: &Bureau,
    snapshot: &TopologySnapshot,
    phi: &BTreeMap<Uid, f64>,
    member: &Member,
) -> view::Member {
    let uid = member.uid();
    let is_me = uid == snapshot.incarnation.uid;
    view::Member {
        node: member.node_id().to_string(),
        address: member.address().to_string(),
        uid: uid.to_string(),
        state: state(member.state).to_owned(),
        is_reachable: member.is_reachable,
        is_voter: snapshot.votes(uid),
        is_coordinator: snapshot.coordinator == Some(uid),
        phi_milli: phi.get(&uid).map(|phi| milli(*phi)),
        roles: member.roles().to_vec(),
        app_version: member.app_version().to_owned(),
        zone: member.zone().to_owned(),
        management: if is_me { Some(bureau.told.clone()) } else { bureau.neighbours.of(uid) },
    }
}

/// A suspicion in thousandths. One without bounds is shown as the greatest.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and a million")]
pub(crate) fn milli(phi: f64) -> u64 {
    (phi * 1000.0).clamp(0.0, PHI_MAX) as u64
}

/// A state as it is written everywhere.
pub(crate) fn state(state: MemberState) -> &'static str {
    match state {
        MemberState::Joining => "joining",
        MemberState::WeaklyUp => "weakly-up",
        MemberState::Up => "up",
        MemberState::Leaving => "leaving",
        MemberState::Exiting => "exiting",
        MemberState::Down => "down",
        MemberState::Removed => "removed",
    }
}

/// Why a node does not work, and what helps; `None` if it does.
pub(crate) fn advice(standing: &Standing) -> Option<String> {
    let text = match standing {
        Standing::Member | Standing::Leaving | Standing::Left | Standing::Closing | Standing::Closed => {
            return None;
        }
        Standing::Seeking => {
            "it finds none of its seeds, or too few nodes are there yet: see that a seed runs, can be reached from here, and has the same cluster name; \
             if most nodes of its cluster are lost for good, `borough recover` begins it anew here"
        }
        Standing::Joining => "it is not admitted yet: a majority of the voters must be there to admit it",
        Standing::Suspended => {
            "too few voters hear it, so nothing may run here: bring back the voters that are gone, or mend the network between them and this node; \
             with three voters or more one loss is survived; if they are lost for good, `borough recover` begins the cluster anew"
        }
        Standing::Returning(_) => "its cluster went on without it: it comes back by itself, under a new uid",
        Standing::GaveUp(_) => {
            "its cluster went on without it, and it was told not to come back: start its process again"
        }
        Standing::Refused(_) => "its settings are not the cluster's: start it with the cluster's",
        Standing::Stopped => "it was stopped: start its process again",
        Standing::Failed(_) => {
            "it cannot run its entities any more and gave up its lease: the others go on without it; start its process again"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
