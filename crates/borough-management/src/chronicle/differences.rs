//! What changed between two snapshots of the topology, in words.

use borough_cluster::{Member, Standing, TopologySnapshot};

use super::ring::News;
use super::words::Names;
use crate::look::state;
use crate::view::EventKind;

/// What is new in the second.
pub(super) fn between(before: &TopologySnapshot, now: &TopologySnapshot, names: &Names) -> Vec<News> {
    let mut news = Vec::new();
    for member in &now.members {
        let known = before.member(member.uid());
        if known.is_none_or(|known| known.state != member.state) {
            news.push(of_state(member));
        }
        if known.is_some_and(|known| known.is_reachable != member.is_reachable) {
            news.push(of_reach(member));
        }
    }
    // A snapshot without members is that of a node which lost its cluster: it does not say that they are gone.
    if !now.members.is_empty() {
        let gone = before.members.iter().filter(|member| now.member(member.uid()).is_none());
        news.extend(gone.map(of_removed));
    }
    if now.coordinator != before.coordinator
        && let Some(uid) = now.coordinator
    {
        let name = names.of(uid);
        let text = format!("{name} coordinates");
        news.push(about(EventKind::Coordinator, name, text));
    }
    // Having no lease is told by the lease itself.
    let is_lease = |standing: &Standing| matches!(standing, Standing::Member | Standing::Suspended);
    if now.standing != before.standing && !(is_lease(&now.standing) && is_lease(&before.standing)) {
        let text = format!("this node is {}", now.standing);
        news.push(about(EventKind::Other, now.node_id.to_string(), text));
    }
    news
}

fn of_state(member: &Member) -> News {
    let name = member.node_id().to_string();
    let text = format!("{name} is {}", state(member.state));
    about(EventKind::Member, name, text)
}

fn of_removed(member: &Member) -> News {
    let name = member.node_id().to_string();
    let text = format!("{name} was removed");
    about(EventKind::Member, name, text)
}

fn of_reach(member: &Member) -> News {
    let name = member.node_id().to_string();
    let text = if member.is_reachable {
        format!("{name} can be reached again")
    } else {
        format!("{name} cannot be reached")
    };
    about(EventKind::Reachability, name, text)
}

fn about(what: EventKind, node: String, text: String) -> News {
    News { node: Some(node), ..News::new(what, text) }
}
