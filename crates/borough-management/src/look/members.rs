//! Who is there.

use std::collections::BTreeMap;

use borough_cluster::{Member, MemberState, TopologySnapshot, Uid};

use super::advice::advice;
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
        advice: advice(&snapshot.standing, bureau.is_durable()),
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
