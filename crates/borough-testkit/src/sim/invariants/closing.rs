//! A cluster that is shut down is over in time: nobody is left in it.
//!
//! A voter on a disk that was down, and is started when all others have stopped, is owed nothing: nobody is left to tell it, so it waits for them.

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Cluster;

use crate::sim::life::Life;
use crate::sim::moment::Moment;

/// Who is still in a cluster that was shut down, and lived when the last of those ended that had heard of it; none if nobody is.
pub(in crate::sim) fn unclosed(
    (cluster, closed_at): (Cluster, Option<Moment>),
    lives: &[&Life],
) -> Option<String> {
    let is_told = |life: &&&Life| closed_at.is_none_or(|last| life.born <= last);
    let left = lives.iter().filter(|life| life.node.cluster() == Some(cluster)).filter(is_told);
    let uids: Vec<Uid> = left.map(|life| life.uid()).collect();
    (!uids.is_empty()).then(|| format!("{uids:?} are still in the cluster that was shut down"))
}
