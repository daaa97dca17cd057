//! Whether a cluster survives its processes: what must be chosen before a node listens where other machines reach it.
//!
//! Promise: nobody lives with the weaker promise by leaving something out. Elsewhere than on loopback a node has a data directory, or a word that says that it
//! shall have none. Code and settings are judged by the one rule here.

use std::path::{Path, PathBuf};

use borough_protocol::incarnation::Address;

use crate::security::is_loopback;

/// Why a node does not start: it is not clear whether its cluster is to survive its processes. Nothing was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurabilityError {
    /// It listens where other machines reach it, and nobody chose.
    #[error(
        "{address} can be reached from other machines: choose `.data_dir(path)` (setting `node.data_dir`), by which the cluster survives any restart of its nodes \
         and forms only once, or `.volatile()` (setting `node.volatile = true`), by which a cluster ends with its processes and two may run after a restart \
         during a network cut; the same on all nodes"
    )]
    NotChosen {
        /// Where it was to listen.
        address: Address,
    },
    /// Both were chosen in one layer of the settings, so that neither wins.
    #[error(
        "`.data_dir({path:?})` (setting `node.data_dir`) and `.volatile()` (setting `node.volatile = true`) are both set by {layer}: keep the one that is meant, \
         the same on all nodes"
    )]
    Both {
        /// The directory.
        path: PathBuf,
        /// What set both: code, a file by its path, or the environment.
        layer: String,
    },
}

/// Whether a node may listen there with that choice. `layer` names what set both, if both are set.
pub(crate) fn check(
    listen: &Address,
    data_dir: Option<&Path>,
    volatile: bool,
    layer: impl FnOnce() -> String,
) -> Result<(), DurabilityError> {
    match data_dir {
        Some(path) if volatile => Err(DurabilityError::Both { path: path.to_owned(), layer: layer() }),
        None if !volatile && !is_loopback(listen) => {
            Err(DurabilityError::NotChosen { address: listen.clone() })
        }
        Some(_) | None => Ok(()),
    }
}
