//! What the parts of one system share.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::registry::Registry;
use crate::ask::AskTable;
use crate::dead_letters::DeadLetters;
use crate::events::EventStream;
use crate::room::Waits;
use crate::shutdown::Shutdown;
use crate::watch::WatchId;

pub(crate) struct Core {
    pub(crate) name: String,
    pub(crate) runtime: Handle,
    pub(crate) settings: Settings,
    pub(crate) registry: Registry,
    pub(crate) asks: Arc<AskTable>,
    pub(crate) waits: Waits,
    pub(crate) dead_letters: DeadLetters,
    pub(crate) events: EventStream,
    pub(crate) shutdown: Shutdown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) ask_timeout: Duration,
}

impl Core {
    pub(crate) fn next_watch_id() -> WatchId {
        Registry::next_watch_id()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.asks.close();
    }
}
