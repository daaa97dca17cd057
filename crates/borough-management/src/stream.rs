//! Events as they happen, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use crate::bureau::{Bureau, LISTENERS};
use crate::problem::Problem;
use crate::view::ClusterEvent;

/// How often a listener hears that nothing happened: a connection that is gone is noticed by it.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Where to begin, for those who cannot send a header.
#[derive(Deserialize)]
pub(crate) struct Since {
    after: Option<u64>,
}

/// From now on; or after the event of that id or number, as far as it is kept.
pub(crate) async fn events(
    State(bureau): State<Arc<Bureau>>,
    since: Result<Query<Since>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Query(Since { after }) = since?;
    let place = bureau.listeners.clone().try_acquire_owned().map_err(|_| crowded())?;
    let header = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::trim);
    let header = header.filter(|id| !id.is_empty()).map(str::to_owned);
    // The header is newer than the address, which a browser keeps.
    let last = header.or_else(|| after.map(|number| number.to_string()));
    let (seen, first) = match last.map(|id| bureau.chronicle.number_of(&id)) {
        None => (bureau.chronicle.newest(), None),
        Some(Some(number)) => (number, None),
        Some(None) => (0, Some(bureau.chronicle.beginning())),
    };
    let listener = Listener { bureau, seen, first, _place: place };
    let stream = unfold(listener, Listener::next);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// One who listens, and how far it has come.
struct Listener {
    bureau: Arc<Bureau>,
    seen: u64,
    /// What is told before all else.
    first: Option<ClusterEvent>,
    _place: OwnedSemaphorePermit,
}

impl Listener {
    /// The next event; `None` once management ends.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let event = if let Some(event) = self.first.take() {
            event
        } else {
            tokio::select! {
                biased;
                () = self.bureau.closed() => return None,
                event = self.bureau.chronicle.after(self.seen) => event,
            }
        };
        self.seen = event.number;
        // It is made of numbers and texts, which can always be written.
        let data = serde_json::to_string(&event).ok()?;
        Some((Ok(Event::default().id(self.bureau.chronicle.id(event.number)).data(data)), self))
    }
}

fn crowded() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too-many-listeners",
        format!("{LISTENERS} listen to the events of this node already"),
        "listen at another node, or end one of them",
    )
}
