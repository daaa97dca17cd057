//! Being asked to end from outside.

use anyhow::{Context, Result};

/// Ready when the process is asked to end: Ctrl-C, and where there are such, SIGTERM or a terminal that closes.
#[cfg(unix)]
pub(super) async fn asked_to_end() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).context("no signal can be listened for");
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
    Ok(())
}

/// Ready when the process is asked to end by Ctrl-C.
#[cfg(not(unix))]
pub(super) async fn asked_to_end() -> Result<()> {
    tokio::signal::ctrl_c().await.context("Ctrl-C cannot be listened for")
}
