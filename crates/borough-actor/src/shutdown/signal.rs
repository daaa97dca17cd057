//! Ctrl-C and SIGTERM, for programs.

use std::io;
use std::sync::Arc;

use super::ShutdownReport;
use crate::system::SystemHandle;

impl SystemHandle {
    /// Waits for Ctrl-C or, on Unix, SIGTERM, then shuts the system down; also ready when it is shut down
    /// in another way.
    ///
    /// For `main`. Fails only if the process cannot listen to signals. Once this was called, tokio
    /// keeps the signal: a second Ctrl-C does not end the process.
    pub async fn run_until_signal(&self) -> io::Result<Arc<ShutdownReport>> {
        tokio::select! {
            signalled = signal() => {
                signalled?;
                tracing::info!(system = self.name(), "signal received, shutting down");
                Ok(self.shutdown().await)
            }
            report = self.terminated() => Ok(report),
        }
    }
}

#[cfg(unix)]
async fn signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn signal() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
