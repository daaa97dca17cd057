//! The description of all that can be asked and ordered, for programs: kept by hand, and held against the routes by a test.

use axum::http::header;
use axum::response::IntoResponse;

/// The description itself.
pub(crate) const TEXT: &str = include_str!("openapi.json");

pub(crate) async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], TEXT)
}
