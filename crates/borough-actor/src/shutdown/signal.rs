//! Ctrl-C and SIGTERM, for programs.

use std::io;
use std::sync::Arc;

use super::ShutdownReport;
use crate::system::SystemHandle;

/// What a shell says of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

impl SystemHandle {
    /// Waits for Ctrl-C or, on Unix, SIGTERM, then shuts the system down; also ready when it is shut down
    /// in another way.
    ///
    /// For `main`. Fails only if the process cannot listen to signals. A second signal while the system shuts down ends the process at
    /// once, with the exit code 130: nothing is handed over any more, as after a crash. Once this is over tokio keeps
    /// the signal: another Ctrl-C does nothing.
    pub async fn run_until_signal(&self) -> io::Result<Arc<ShutdownReport>> {
        // Listened to from the start, so that none is missed between the two.
        let mut signals = Signals::listen()?;
        tokio::select! {
            signalled = signals.next() => signalled?,
            report = self.terminated() => return Ok(report),
        }
        let system = self.name();
        tracing::info!(system, "signal received, shutting down; a second one ends the process at once");
        tokio::select! {
            report = self.shutdown() => Ok(report),
            signalled = signals.next() => {
                signalled?;
                tracing::warn!(system, "second signal received: the process ends at once, before its shutdown was complete");
                std::process::exit(INTERRUPTED)
            }
        }
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> io::Result<()> {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        Ok(())
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> io::Result<()> {
        tokio::signal::ctrl_c().await
    }
}
