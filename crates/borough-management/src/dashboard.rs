//! The page by which people look into a cluster: a few files inside this program, and nothing from elsewhere.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{Uri, header};
use axum::response::{Html, IntoResponse, Response};

use crate::problem::Problem;

const PICTURE: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The files beside the page: name, kind, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("dom.js", SCRIPT, include_str!("dashboard/dom.js")),
    ("feed.js", SCRIPT, include_str!("dashboard/feed.js")),
    ("icon.svg", PICTURE, include_str!("dashboard/icon.svg")),
    ("inspect.js", SCRIPT, include_str!("dashboard/inspect.js")),
    ("log.js", SCRIPT, include_str!("dashboard/log.js")),
    ("losses.js", SCRIPT, include_str!("dashboard/losses.js")),
    ("main.js", SCRIPT, include_str!("dashboard/main.js")),
    ("map.css", STYLE, include_str!("dashboard/map.css")),
    ("map.js", SCRIPT, include_str!("dashboard/map.js")),
    ("marks.js", SCRIPT, include_str!("dashboard/marks.js")),
    ("members.js", SCRIPT, include_str!("dashboard/members.js")),
    ("notices.js", SCRIPT, include_str!("dashboard/notices.js")),
    ("orders.js", SCRIPT, include_str!("dashboard/orders.js")),
    ("panels.css", STYLE, include_str!("dashboard/panels.css")),
    ("plots.js", SCRIPT, include_str!("dashboard/plots.js")),
    ("style.css", STYLE, include_str!("dashboard/style.css")),
];

pub(crate) async fn page() -> Html<&'static str> {
    Html(include_str!("dashboard/index.html"))
}

pub(crate) async fn asset(uri: Uri, name: Result<Path<String>, PathRejection>) -> Result<Response, Problem> {
    let Path(name) = name?;
    let found = ASSETS.iter().find(|(known, ..)| *known == name);
    let (_, kind, content) = found.ok_or_else(|| Problem::no_route(uri.path()))?;
    Ok(([(header::CONTENT_TYPE, *kind)], *content).into_response())
}
