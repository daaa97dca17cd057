//! Whether the node is well.

use borough_cluster::{Standing, WedgedWorker};

use super::advice::advice;
use crate::bureau::Bureau;
use crate::view::Health;

/// Whether the process is worth keeping: it is not once the node has ended without having been told to, and may work if it is started again.
///
/// A node that is suspended lives: a restart would cost what it holds, and help nobody. So does one that cannot use its data directory: its process would
/// end in the same way again and again.
pub(crate) fn live(bureau: &Bureau) -> Health {
    let standing = bureau.node.topology().current().standing.clone();
    let is_over = match &standing {
        Standing::GaveUp(_) | Standing::Refused(_) | Standing::Stopped => true,
        Standing::Failed(failure) => failure.ends_with_process(),
        _ => false,
    };
    let why = if is_over { advice(&standing, bureau.is_durable()) } else { None };
    Health { ok: !is_over, node: bureau.name(), standing: standing.to_string(), why }
}

/// Whether it may be sent work: it is a member with a lease, its data directory takes writes, all its workers answer, and these types are started here and
/// known to the cluster.
pub(crate) fn ready(bureau: &Bureau, types: &[&str]) -> Health {
    let standing = bureau.node.topology().current().standing.clone();
    let wedged = bureau.node.wedged_workers();
    // A node that has ended says why it has; otherwise the disk comes first: a node without a lease may have none because of it.
    let disk = bureau.node.data_directory().filter(|_| !standing.is_final()).and_then(|data| data.trouble());
    let missing: Vec<&str> =
        types.iter().copied().filter(|kind| !bureau.node.is_ready_for(&[kind])).collect();
    let why = if disk.is_some() {
        disk
    } else if standing != Standing::Member {
        Some(advice(&standing, bureau.is_durable()).unwrap_or_else(|| format!("it is {standing}")))
    } else if let Some(worker) = wedged.first() {
        Some(blocked(worker))
    } else if !missing.is_empty() {
        Some(format!("not started here, or not known to the cluster yet: {}", missing.join(", ")))
    } else {
        None
    };
    Health { ok: why.is_none(), node: bureau.name(), standing: standing.to_string(), why }
}

/// What is wrong with a worker that does not answer.
fn blocked(worker: &WedgedWorker) -> String {
    let seconds = worker.silent.as_secs();
    match (&worker.kind, &worker.entity) {
        (Some(kind), Some(entity)) => {
            format!(
                "the handler of {kind}/{entity} has blocked its worker for {seconds} s: other entities of that worker wait"
            )
        }
        (Some(kind), None) => {
            format!("the runtime has not run a worker of {kind} for {seconds} s: see what blocks its threads")
        }
        (None, _) => {
            format!("the runtime has not run the region driver for {seconds} s: see what blocks its threads")
        }
    }
}
