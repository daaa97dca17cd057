//! A cluster that is shut down is over in time: nobody is left in it.

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Cluster;

use crate::sim::life::Life;

/// Who is still in a cluster that was shut down; none if nobody is.
pub(in crate::sim) fn unclosed(cluster: Cluster, lives: &[&Life]) -> Option<String> {
    let left = lives.iter().filter(|life| life.node.cluster() == Some(cluster));
    let uids: Vec<Uid> = left.map(|life| life.uid()).collect();
    (!uids.is_empty()).then(|| format!("{uids:?} are still in the cluster that was shut down"))
}
