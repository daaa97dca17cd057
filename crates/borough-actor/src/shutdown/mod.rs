//! Coordinated shutdown: named phases, one after the other, each with a timeout.
//!
//! ```text
//! Idle --shutdown()--> unbind --> drain --> actors --> release --> Done(report)
//! ```
//! A phase ends when its tasks are done or its time is up; either way the next begins. So a shutdown
//! takes at most the sum of the timeouts, and a second more for actors that had to be killed.

mod phases;
mod report;
mod signal;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

pub use self::phases::PhaseError;
pub(crate) use self::phases::Phases;
use self::phases::{ACTORS, Phase};
pub use self::report::{PhaseReport, ShutdownReport};
use crate::cell::interrupt;
use crate::sync::{Mutex, lock};
use crate::system::{Core, SystemHandle};
use crate::time::later;

/// How long killed actors get to reach an await.
const KILL_GRACE: Duration = Duration::from_secs(1);
/// How many paths a report names.
const NAMED_IN_REPORT: usize = 100;

/// By phase, each with its name.
type Tasks = HashMap<String, Vec<(String, Task)>>;
type Task = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

pub(crate) struct Shutdown {
    phases: Vec<Phase>,
    /// Taken when the shutdown begins.
    tasks: Mutex<Option<Tasks>>,
    done: watch::Sender<Option<Arc<ShutdownReport>>>,
}

/// Why a task was not added to a shutdown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OnShutdownError {
    /// There is no such phase.
    #[error(transparent)]
    Phase(#[from] PhaseError),
    /// The shutdown has begun; the task was not run.
    #[error("the shutdown has begun; the task was not added")]
    Begun,
}

impl Shutdown {
    pub(crate) fn new(phases: Vec<Phase>) -> Self {
        Self { phases, tasks: Mutex::new(Some(HashMap::new())), done: watch::Sender::new(None) }
    }

    /// There will be no shutdown, or none that ends: lets go of its tasks and of those who wait for it.
    pub(crate) fn abandon(&self) {
        let tasks = lock(&self.tasks).take();
        if tasks.is_some() {
            self.give_up();
        }
    }

    fn give_up(&self) {
        self.done.send_if_modified(|done| {
            let none = done.is_none();
            done.get_or_insert_with(|| Arc::new(ShutdownReport { is_cut_short: true, ..Default::default() }));
            none
        });
    }

    fn add(&self, phase: &str, name: String, task: Task) -> Result<(), OnShutdownError> {
        phases::position(&self.phases, phase)?;
        let mut tasks = lock(&self.tasks);
        let tasks = tasks.as_mut().ok_or(OnShutdownError::Begun)?;
        tasks.entry(phase.to_owned()).or_default().push((name, task));
        Ok(())
    }
}

impl SystemHandle {
    /// Adds a task to a phase of the shutdown. The tasks of a phase run side by side.
    ///
    /// | phase | for | timeout |
    /// |---|---|---|
    /// | `unbind` | taking in no more work from outside | 5 s |
    /// | `drain` | letting work under way come to its end | 10 s |
    /// | `actors` | all actors stop, children before parents; those that do not are killed | 10 s |
    /// | `release` | closing what the actors used | 5 s |
    ///
    /// [`SystemBuilder`](crate::SystemBuilder) changes timeouts and adds phases. A task that is not
    /// done in time is dropped, one that panics is reported; the shutdown goes on.
    pub fn on_shutdown<F>(
        &self,
        phase: &str,
        name: impl Into<String>,
        task: impl FnOnce() -> F + Send + 'static,
    ) -> Result<(), OnShutdownError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.core().shutdown.add(phase, name.into(), Box::new(|| Box::pin(task())))
    }

    /// Shuts the system down, phase by phase, and waits until it is done.
    ///
    /// Called again, it waits for the shutdown under way, or gives the report of the one that is done. Once the runtime of the system is gone it is ready at
    /// once, with a report that is [cut short](ShutdownReport::is_cut_short).
    /// Cancel safe: a shutdown once begun goes on, whoever waits for it. Do not await it inside an
    /// actor's turn, which it would wait for: call [`SystemHandle::begin_shutdown`] there.
    pub async fn shutdown(&self) -> Arc<ShutdownReport> {
        self.begin_shutdown();
        self.terminated().await
    }

    /// Begins a shutdown, if none has begun, and does not wait for it.
    pub fn begin_shutdown(&self) {
        let Some(tasks) = lock(&self.core().shutdown.tasks).take() else { return };
        let core = self.core().clone();
        let unfinished = Unfinished(core.clone());
        core.runtime.clone().spawn(async move {
            let unfinished = unfinished;
            let report = run(&core, tasks).await;
            core.shutdown.done.send_replace(Some(Arc::new(report)));
            drop(unfinished);
        });
    }

    /// Waits until a shutdown, whoever began it, is done. Cancel safe.
    pub async fn terminated(&self) -> Arc<ShutdownReport> {
        let mut done = self.core().shutdown.done.subscribe();
        let report = done.wait_for(Option::is_some).await.ok().and_then(|report| report.clone());
        // The sender is in the core this handle keeps, so it cannot be gone; an empty report if it were.
        report.unwrap_or_default()
    }
}

/// A shutdown under way. If its task goes with its runtime, those who wait for it get a report that says so.
struct Unfinished(Arc<Core>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.shutdown.give_up();
    }
}

async fn run(core: &Core, mut tasks: Tasks) -> ShutdownReport {
    let mut report = ShutdownReport::default();
    for phase in &core.shutdown.phases {
        let begun = Instant::now();
        let deadline = later(begun, phase.timeout);
        let own = run_tasks(tasks.remove(&phase.name).unwrap_or_default(), deadline);
        let failed = if phase.name == ACTORS {
            tokio::join!(own, stop_actors(core, deadline, &mut report)).0
        } else {
            own.await
        };
        for failed in &failed {
            tracing::warn!(phase = phase.name, "shutdown task {failed}");
        }
        report.phases.push(PhaseReport { name: phase.name.clone(), took: begun.elapsed(), failed });
    }
    core.events.close();
    report
}

/// Runs the tasks of a phase side by side; gives those that failed or were not done in time.
async fn run_tasks(tasks: Vec<(String, Task)>, deadline: Instant) -> Vec<String> {
    let mut running = JoinSet::new();
    let mut names: HashMap<_, _> =
        tasks.into_iter().map(|(name, task)| (running.spawn(async { task().await }).id(), name)).collect();
    let mut failed = Vec::new();
    while let Ok(Some(ended)) = timeout_at(deadline, running.join_next_with_id()).await {
        match ended {
            Ok((id, ())) => drop(names.remove(&id)),
            Err(error) => failed.extend(names.remove(&error.id()).map(|name| format!("{name:?} panicked"))),
        }
    }
    failed.extend(names.into_values().map(|name| format!("{name:?} was not done in time")));
    failed.sort();
    failed
}

/// Stops every actor; kills those that have not stopped by the deadline.
async fn stop_actors(core: &Core, deadline: Instant, report: &mut ShutdownReport) {
    core.registry.close();
    core.registry.interrupt_roots(interrupt::SYSTEM_STOPS);
    if timeout_at(deadline, core.registry.emptied()).await.is_ok() {
        return;
    }
    report.killed = core.registry.paths(NAMED_IN_REPORT);
    tracing::warn!(actors = ?report.killed, "killed: they did not stop in time");
    core.registry.interrupt_all(interrupt::KILL);
    if timeout(KILL_GRACE, core.registry.emptied()).await.is_err() {
        report.stuck = core.registry.paths(NAMED_IN_REPORT);
        report.killed.retain(|path| !report.stuck.contains(path));
        tracing::error!(actors = ?report.stuck, "cannot be killed: they block their threads");
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").field("phases", &self.phases).finish_non_exhaustive()
    }
}
