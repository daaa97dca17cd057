//! A node as what a program's `main` waits for.

use std::future::pending;
use std::sync::Arc;

use borough_actor::ShutdownReport;
use borough_protocol::settings::Refusal;

use super::{Node, RunError};
use crate::topology::{Ended, Standing};

impl Node {
    /// Waits for Ctrl-C or, on Unix, SIGTERM, then leaves the cluster and shuts all actors down, phase by phase; also ready when the node is shut down in
    /// another way.
    ///
    /// For `main`. If the cluster refuses the settings of this node, it shuts down as well, and fails with what differs: it could never do anything. Fails as well if the
    /// process cannot listen to signals; then the node goes on. Once this was called, tokio keeps the signal: a second Ctrl-C does not end the process.
    ///
    /// A node that gave up and was told not to come back, or that [failed](Standing::Failed), goes on until it is told to end: its topology, its management and
    /// what its actors have can be looked at.
    pub async fn run_until_signal(&self) -> Result<Arc<ShutdownReport>, RunError> {
        let ran = tokio::select! {
            biased;
            ran = self.system.run_until_signal() => ran?,
            refusal = self.refused() => {
                self.system.shutdown().await;
                return Err(RunError::Refused(refusal));
            }
        };
        match &self.shared.topology.current().standing {
            Standing::Refused(refusal) => Err(RunError::Refused(refusal.clone())),
            _ => Ok(ran),
        }
    }

    /// Ready once the cluster has refused the settings of this node.
    async fn refused(&self) -> Refusal {
        match self.shared.topology.wait_until(|_| false).await {
            Err(Ended::Refused(refusal)) => refusal,
            Ok(_) | Err(Ended::Over(_)) => pending().await,
        }
    }
}
