//! Notices that the runtime of a node goes by another clock than the node, as it does where a test has stopped the time of the runtime.

use super::Node;
use crate::clock::runtime_runs_ahead;

impl Node {
    /// Says, once, if the runtime's time is stopped: its timers fire early then, and the node's own do not.
    pub(super) fn compare_clocks(&self) {
        let ended = self.shared.ending();
        tokio::spawn(async move {
            tokio::select! {
                () = ended => {}
                (runtime, system) = runtime_runs_ahead() => tracing::warn!(
                    ?runtime,
                    ?system,
                    "the clock of the tokio runtime runs ahead of the system's, as with `start_paused`: this node and its network go by the system's, so asks to other nodes time out too early; use \
                     `borough_testkit::TestCluster` in tests, whose nodes go by the runtime's clock"
                ),
            }
        });
    }
}
