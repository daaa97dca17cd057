//! A server that tells made-up answers, with the page's files as they lie in the source.

use std::fmt::Write as _;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use borough_management::view::{Location, Stats};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::scene::Scene;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/dashboard");
/// As the real one says it.
const POLICY: &str =
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

type Stage = Arc<Mutex<Scene>>;

/// Serves a scene until it is dropped.
pub(crate) struct StandIn {
    pub(crate) url: String,
    stage: Stage,
    served: JoinHandle<()>,
}

impl StandIn {
    pub(crate) async fn start(scene: Scene) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let stage = Arc::new(Mutex::new(scene));
        let router = router(stage.clone());
        let served = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url: format!("http://{address}/"), stage, served }
    }

    /// Changes what is told from now on.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Scene)) {
        change(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.served.abort();
    }
}

fn router(stage: Stage) -> Router {
    Router::new()
        .route("/", get(|| file(Path("index.html".to_owned()))))
        .route("/assets/{name}", get(file))
        .route("/api/members", get(|scene: State<Stage>| async move { Json(now(&scene).members) }))
        .route("/api/shards", get(|scene: State<Stage>| async move { Json(now(&scene).shards) }))
        .route("/api/stats", get(stats))
        .route("/api/entities", get(|scene: State<Stage>| async move { Json(now(&scene).entities()) }))
        .route("/api/events", get(events))
        .route("/api/explain/{kind}/{*id}", get(explain))
        .route("/api/drain/{node}", post(refuse))
        .with_state(stage)
}

fn now(State(stage): &State<Stage>) -> Scene {
    stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Counts that grow with the clock, so that the page has rates to draw.
async fn stats(scene: State<Stage>) -> Json<Stats> {
    let _ = timeout(now(&scene).stats_take, pending::<()>()).await;
    let mut stats = now(&scene).stats;
    stats.at_millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap();
    for (at, node) in stats.nodes.iter_mut().enumerate() {
        for kind in &mut node.kinds {
            kind.handled = stats.at_millis * (5 + at as u64) + stats.at_millis % 3_000;
        }
    }
    Json(stats)
}

async fn explain(scene: State<Stage>, Path((kind, id)): Path<(String, String)>) -> Json<Location> {
    Json(now(&scene).explain(kind, id))
}

/// All events that were not told yet. Their ids are more than their numbers, as the real ones are.
async fn events(scene: State<Stage>, headers: HeaderMap) -> Response {
    let last =
        headers.get("last-event-id").and_then(|id| id.to_str().ok()?.strip_prefix("stage-")?.parse().ok());
    let last = last.unwrap_or(0);
    let mut told = String::new();
    for event in now(&scene).events.iter().filter(|event| event.number > last) {
        let data = serde_json::to_string(event).unwrap();
        write!(told, "id: stage-{}\ndata: {data}\n\n", event.number).unwrap();
    }
    ([(header::CONTENT_TYPE, "text/event-stream")], told).into_response()
}

async fn refuse() -> Response {
    let words = serde_json::json!({ "error": "no-node", "what": "nobody is there", "try": "a real cluster" });
    (StatusCode::CONFLICT, Json(words)).into_response()
}

async fn file(Path(name): Path<String>) -> Response {
    let kind = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    };
    match std::fs::read_to_string(format!("{FILES}/{name}")) {
        Ok(text) => {
            ([(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, POLICY)], text).into_response()
        }
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}
