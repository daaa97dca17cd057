//! One node in a process of its own.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long a process may take to say that it is ready.
const START: Duration = Duration::from_secs(30);
/// How long a node may take to leave.
const LEAVE: Duration = Duration::from_secs(60);
/// How many of its last words are kept.
const LAST_WORDS: usize = 5;

/// A node in a process of its own. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) is_paused: bool,
    child: Child,
    orders: ChildStdin,
    /// Kept open: who prints into a closed pipe fails.
    _said: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts it and waits until it is ready.
    pub(super) async fn start(name: String, seed: &str, max_pause: Duration) -> Result<Self> {
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let mut command = Command::new(program);
        // Ctrl-C in the terminal is for the demo, which knows what to do with its nodes.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .args(["node", "--name", &name, "--seed", seed])
            .args(["--max-pause", &format!("{}ms", max_pause.as_millis())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{name} does not start"))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let ((orders, said), complaints) = pipes.context("a process without pipes")?;
        let words = listen(complaints);
        let mut said = BufReader::new(said).lines();
        let line = timeout(START, said.next_line()).await;
        let line = line.with_context(|| format!("{name} says nothing for {} s", START.as_secs()))??;
        if line.as_deref() != Some("ready") {
            let words = words.lock().unwrap_or_else(PoisonError::into_inner).join("; ");
            bail!("{name} ended before it was ready: {words}")
        }
        Ok(Self { name, is_paused: false, child, orders, _said: said })
    }

    /// `kill -9`; ready when it is gone.
    pub(super) async fn kill(mut self) -> Result<()> {
        self.child.kill().await.with_context(|| format!("{} cannot be killed", self.name))
    }

    /// Has it leave in order, and waits until its process has ended.
    pub(super) async fn leave(mut self) -> Result<()> {
        if self.is_paused {
            self.pause(false)?;
        }
        self.order("leave").await?;
        let Self { name, child, .. } = &mut self;
        match timeout(LEAVE, child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(ended) => bail!("{name} was to leave and ended with {}", ended?),
            Err(_) => bail!("{name} has not left within {} s, and was killed", LEAVE.as_secs()),
        }
    }

    /// Has it give its shards away; ready once it was told.
    pub(super) async fn drain(&mut self) -> Result<()> {
        self.order("drain").await
    }

    async fn order(&mut self, order: &str) -> Result<()> {
        let Self { name, orders, .. } = self;
        let told = orders.write_all(format!("{order}\n").as_bytes()).await;
        told.with_context(|| format!("{name} does not listen"))
    }

    /// Takes it off the processors, or gives it back to them.
    #[cfg(unix)]
    pub(super) fn pause(&mut self, pause: bool) -> Result<()> {
        use rustix::process::{Pid, Signal, kill_process};
        let name = &self.name;
        let id = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let id = id.with_context(|| format!("{name} has ended"))?;
        let signal = if pause { Signal::STOP } else { Signal::CONT };
        kill_process(id, signal).with_context(|| format!("{name} cannot be paused"))?;
        self.is_paused = pause;
        Ok(())
    }

    #[cfg(not(unix))]
    pub(super) fn pause(&mut self, _pause: bool) -> Result<()> {
        bail!("processes can be paused on Unix only")
    }

    /// Whether it has ended, and if so, whether in order.
    pub(super) fn ended(&mut self) -> Option<bool> {
        self.child.try_wait().ok().flatten().map(|status| status.success())
    }
}

/// Keeps what it said last, for when it ends without being ready. It must be read in any case: a full pipe would hold it up.
fn listen(complaints: ChildStderr) -> Arc<Mutex<Vec<String>>> {
    let words = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&words);
    tokio::spawn(async move {
        let mut lines = BufReader::new(complaints).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == LAST_WORDS {
                kept.remove(0);
            }
            kept.push(line);
        }
    });
    words
}
