//! A cluster that is shut down is over in time: nobody is left in it.
//!
//! A voter on a disk that was down, and is started when all others have stopped, is owed nothing: nobody is left to tell it, so it waits for them. Nor is one that was
//! not there for a round of questions and their answers before the last of those ended: they may not have heard of it.

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Cluster;

use crate::sim::life::Life;
use crate::sim::moment::{Moment, Nanos};

/// Who is still in a cluster that was shut down, and was there for so long when the last of those ended that had heard of it; none if nobody is.
pub(in crate::sim) fn unclosed(
    (cluster, closed_at): (Cluster, Option<Moment>),
    lives: &[&Life],
    heard_after: Nanos,
) -> Option<String> {
    let is_told = |life: &&&Life| closed_at.is_none_or(|last| life.born.after(heard_after) <= last);
    let left = lives.iter().filter(|life| life.node.cluster() == Some(cluster)).filter(is_told);
    let uids: Vec<Uid> = left.map(|life| life.uid()).collect();
    (!uids.is_empty()).then(|| format!("{uids:?} are still in the cluster that was shut down"))
}
