//! What is asked: each answer is made by `look`, and written as JSON here.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;

use crate::bureau::Bureau;
use crate::problem::Problem;
use crate::{look, metrics, view};

type Shared = State<Arc<Bureau>>;

pub(crate) async fn members(State(bureau): Shared) -> Json<view::Members> {
    Json(look::members(&bureau))
}

pub(crate) async fn shards(State(bureau): Shared) -> Json<view::Shards> {
    Json(look::shards(&bureau))
}

pub(crate) async fn stats(State(bureau): Shared) -> Json<view::Stats> {
    Json(bureau.stats.stats(&bureau).await)
}

pub(crate) async fn entities(State(bureau): Shared) -> Json<view::Entities> {
    Json(look::entities(&bureau).await)
}

/// Behind which id a page begins.
#[derive(Deserialize)]
pub(crate) struct Behind {
    after: Option<String>,
}

pub(crate) async fn entity_ids(
    State(bureau): Shared,
    path: Result<Path<(String, u32)>, PathRejection>,
    behind: Result<Query<Behind>, QueryRejection>,
) -> Result<Json<view::EntityIds>, Problem> {
    let (Path((kind, shard)), Query(Behind { after })) = (path?, behind?);
    let after = after.map(|token| look::of_token(&token).ok_or_else(Problem::no_token)).transpose()?;
    Ok(Json(look::entity_ids(&bureau, &kind, shard, after.as_ref()).await?))
}

pub(crate) async fn settings(State(bureau): Shared) -> Json<view::Settings> {
    Json(look::settings(&bureau))
}

pub(crate) async fn recovery(State(bureau): Shared) -> Result<Json<view::Recovery>, Problem> {
    Ok(Json(look::recovery(&bureau)?))
}

/// An id may have slashes in it: it is all that follows the type.
pub(crate) async fn explain(
    State(bureau): Shared,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<view::Location>, Problem> {
    let Path((kind, id)) = path?;
    Ok(Json(look::location(&bureau, &kind, &id)?))
}

pub(crate) async fn live(State(bureau): Shared) -> (StatusCode, Json<view::Health>) {
    health(look::live(&bureau))
}

/// Which types a node must have to be ready.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    types: Option<String>,
}

pub(crate) async fn ready(
    State(bureau): Shared,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<(StatusCode, Json<view::Health>), Problem> {
    let Query(Wanted { types }) = wanted?;
    let types = types.unwrap_or_default();
    let types: Vec<&str> = types.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    Ok(health(look::ready(&bureau, &types)))
}

fn health(health: view::Health) -> (StatusCode, Json<view::Health>) {
    let status = if health.ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(health))
}

pub(crate) async fn metrics(State(bureau): Shared) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], metrics::of(&bureau).await)
}
