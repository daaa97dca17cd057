//! What the process sees of itself.

use std::fs;
use std::sync::atomic::Ordering;

use borough::cluster::VoterId;
use borough::{DeadLetterReason, Node, TopologySnapshot};

use super::counter::Tally;
use crate::words::{Counts, Seen, Status, View};

pub(super) fn view(now: &TopologySnapshot) -> View {
    let members = now.members.iter().map(|member| Seen {
        node: member.node_id().as_str().to_owned(),
        uid: member.uid().get(),
        state: format!("{:?}", member.state),
        reachable: member.is_reachable,
    });
    View {
        uid: now.incarnation.uid.get(),
        standing: now.standing.to_string(),
        cluster: now.cluster.map(|cluster| format!("{cluster:?}")),
        coordinator: now.coordinator.map(borough::cluster::Uid::get),
        version: format!("{:?}", now.version),
        voters: now.voters.now.iter().map(|voter| life_of(now, *voter)).collect(),
        is_joint: now.voters.is_joint(),
        tolerates: now.tolerates(),
        members: members.collect(),
    }
}

pub(super) fn counts(node: &Node) -> Counts {
    let refusals = node.refusals();
    let letters = node.dead_letters();
    let control = node.control_counts();
    let of_letters = DeadLetterReason::ALL.into_iter().map(|reason| (reason, letters.count(reason)));
    Counts {
        refusals: refusals.iter().filter(|(_, count)| *count > 0).map(named).collect(),
        dead_letters: of_letters.filter(|(_, count)| *count > 0).map(named).collect(),
        control: [control.dropped, control.unreadable, control.broken],
    }
}

fn named((reason, count): (impl std::fmt::Debug + Copy, u64)) -> (String, u64) {
    (format!("{reason:?}"), count)
}

pub(super) fn status(node: &Node, tally: &Tally) -> Status {
    Status {
        view: view(&node.topology().current()),
        counts: counts(node),
        rss_kib: of_proc("VmRSS:"),
        threads: of_proc("Threads:"),
        sockets: sockets(),
        received: tally.received.load(Ordering::Relaxed),
        out_of_order: tally.out_of_order.load(Ordering::Relaxed),
    }
}

/// A number of `/proc/self/status`; 0 where there is none.
fn of_proc(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn sockets() -> u64 {
    let Ok(open) = fs::read_dir("/proc/self/fd") else { return 0 };
    let is_socket = |link: &std::path::PathBuf| link.to_string_lossy().starts_with("socket:");
    let links = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(is_socket).count() as u64
}

/// The uid of the member that votes as that; the number of the voter itself if there is none.
fn life_of(now: &TopologySnapshot, voter: VoterId) -> u64 {
    let member = now.voting().find(|member| member.voter() == voter);
    member.map_or(voter.get(), |member| member.uid().get())
}
