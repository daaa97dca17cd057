//! A node as what a program's `main` waits for.

use std::future::pending;
use std::sync::Arc;

use borough_actor::ShutdownReport;

use super::{Node, RunError};
use crate::topology::Ended;

impl Node {
    /// Waits for Ctrl-C or, on Unix, SIGTERM, then leaves the cluster and shuts all actors down, phase by phase; also ready when the node is shut down in
    /// another way.
    ///
    /// For `main`. Fails, after the same shutdown, if the node has no part in a cluster any more and nobody asked for that: the cluster refused its settings, it
    /// gave up and was told not to come back, or it cannot work. Fails as well if the process cannot listen to signals; then the node goes on. Once this was called, tokio
    /// keeps the signal: a second Ctrl-C does not end the process. After [`leave`](Self::leave) it still waits.
    pub async fn run_until_signal(&self) -> Result<Arc<ShutdownReport>, RunError> {
        let ran = tokio::select! {
            biased;
            ran = self.system.run_until_signal() => ran?,
            error = self.ended_unasked() => {
                tracing::error!(%error, "node shuts down: it ended without having been told to");
                self.system.shutdown().await;
                return Err(error);
            }
        };
        // A node that fails shuts its actors down by itself.
        let now = self.shared.topology.current();
        let ended = now.standing.is_final().then(|| Ended::of(&now.standing)).and_then(RunError::of);
        ended.map_or(Ok(ran), Err)
    }

    /// Ready once the node has ended though nobody told it to.
    async fn ended_unasked(&self) -> RunError {
        match self.shared.topology.wait_until(|_| false).await.err().and_then(RunError::of) {
            Some(error) => error,
            None => pending().await,
        }
    }
}
