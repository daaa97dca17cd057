//! What can be reached, and how: the one list of it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::bureau::Bureau;
use crate::guard::Guard;
use crate::problem::Problem;
use crate::{dashboard, openapi, orders, reading, stream};

/// No order is larger, in bytes.
const BODY_MAX: usize = 128 * 1024;
/// How long an answer may take, the reading of the request included.
const ANSWER_TIME: Duration = Duration::from_secs(12);
/// The page uses what it came with, and is shown in no frame of another.
const PAGE_POLICY: &str =
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

pub(crate) fn router(bureau: &Arc<Bureau>, guard: Guard) -> Router {
    let router = Router::new()
        .route("/", get(dashboard::page))
        .route("/assets/{name}", get(dashboard::asset))
        .route("/openapi.json", get(openapi::description))
        .route("/health/live", get(reading::live))
        .route("/health/ready", get(reading::ready))
        .route("/metrics", get(reading::metrics))
        .route("/api/members", get(reading::members))
        .route("/api/shards", get(reading::shards))
        .route("/api/stats", get(reading::stats))
        .route("/api/entities", get(reading::entities))
        .route("/api/entities/{kind}/{shard}", get(reading::entity_ids))
        .route("/api/explain/{kind}/{*id}", get(reading::explain))
        .route("/api/settings", get(reading::settings))
        .route("/api/events", get(stream::events))
        .route("/api/leave", post(orders::leave_here))
        .route("/api/leave/{node}", post(orders::leave))
        .route("/api/drain/{node}", post(orders::drain))
        .route("/api/down/{node}", post(orders::down))
        .route("/api/move", post(orders::move_shard))
        .route("/api/recover", get(reading::recovery))
        .route("/api/recover", post(orders::recover));
    router
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(from_fn_with_state(Arc::new(guard), admit))
        .with_state(bureau.clone())
}

/// Lets in who may come in, and sees to it that everybody is answered in time.
async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let checked = guard.check(request.method(), request.uri().path(), request.headers());
    let mut response = match checked {
        Err(problem) => problem.into_response(),
        Ok(()) => match tokio::time::timeout(ANSWER_TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::too_slow().into_response(),
        },
    };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn no_route(uri: Uri) -> Problem {
    Problem::no_route(uri.path())
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    Problem::wrong_method(method.as_str(), uri.path())
}
