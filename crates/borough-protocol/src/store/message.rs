//! What nodes ask of the store, and what it answers.

use alloc::sync::Arc;

use crate::lease::{Renew, Renewed};
use crate::log::register;
use crate::settings::ClusterSettings;
use crate::table::{Change, Cluster, Table};

/// One transaction of a node with the store.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ask {
    /// Which cluster is in it?
    Look,
    /// If that is in it still, nothing or a cluster that was shut down, a new cluster is, with the asker in office.
    Found {
        /// The new cluster.
        cluster: Cluster,
        /// What must be the same on all of its nodes.
        settings: ClusterSettings,
        /// What it takes the place of.
        instead_of: Option<Cluster>,
    },
    /// Something of the log.
    Log {
        /// Whose log.
        cluster: Cluster,
        /// What.
        ask: register::Ask<Change>,
    },
    /// A lease is to go on.
    Renew {
        /// In which cluster.
        cluster: Cluster,
        /// Which.
        renew: Renew,
    },
}

/// What the store answers.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// There is nothing in it.
    Empty,
    /// This cluster is in it. Also the answer to whoever takes part in another one.
    Holds {
        /// Which.
        cluster: Cluster,
        /// What must be the same on all of its nodes.
        settings: ClusterSettings,
        /// Whether it was shut down: another may take its place.
        closed: bool,
    },
    /// Something of the log.
    Log(register::Answer<Change, Arc<Table>>),
    /// Whether the lease goes on.
    Renewed(Renewed),
}
