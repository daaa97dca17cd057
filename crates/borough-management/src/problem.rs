//! What is said instead of an answer: a status, and what is wrong and what to do as JSON.

use axum::Json;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use borough_actor::AskError;
use borough_cluster::{
    DownError, EntitiesError, ExplainError, MoveError, NamedError, RecoverError, RemoteLookupError,
};

use crate::view;

/// A status and its words.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    view: view::Problem,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        error: &str,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let (error, what, advice) = (error.to_owned(), what.into(), advice.into());
        Self { status, view: view::Problem { error, what, advice } }
    }

    /// The request cannot be read.
    pub(crate) fn unreadable(what: impl Into<String>, advice: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", what, advice)
    }

    /// No such place.
    pub(crate) fn no_route(path: &str) -> Self {
        let what = format!("there is nothing at {path:?}");
        Self::new(StatusCode::NOT_FOUND, "unknown-path", what, "GET /openapi.json lists all there is")
    }

    /// The place is there, and not for this.
    pub(crate) fn wrong_method(method: &str, path: &str) -> Self {
        let what = format!("{path:?} cannot be reached by {method}");
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "wrong-method",
            what,
            "GET /openapi.json says how each path is reached",
        )
    }

    /// It takes too long.
    pub(crate) fn too_slow() -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            "timeout",
            "the answer takes too long: a node is slow, or the request came in too slowly",
            "ask again; GET /api/members says who cannot be reached",
        )
    }

    /// What stands behind `after` is not from an answer.
    pub(crate) fn no_token() -> Self {
        let advice = "take it from `next` of the answer before, or leave it out for the first page";
        Self::unreadable("what stands behind after= is not where a page begins".to_owned(), advice)
    }

    /// That node has no management that could be told.
    fn unmanaged(node: &str, why: &RemoteLookupError) -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "not-managed",
            format!("{node} runs no management, so it cannot be told: {why}"),
            format!(
                "start Management on {node}, or end its process in order; POST /api/down/{node} removes it without its help"
            ),
        )
    }

    /// That node was not found, or not reached.
    pub(crate) fn of_lookup(node: &str, error: RemoteLookupError) -> Self {
        match error {
            RemoteLookupError::Node(error) => error.into(),
            error @ RemoteLookupError::Actor(_) => Self::unmanaged(node, &error),
            error => Self::unreached(node, &error.to_string()),
        }
    }

    /// That node was told, and did not answer.
    pub(crate) fn of_ask(node: &str, error: &AskError) -> Self {
        Self::unreached(node, &error.to_string())
    }

    fn unreached(node: &str, why: &str) -> Self {
        Self::new(
            StatusCode::BAD_GATEWAY,
            "unreached",
            format!("{node} did not answer: {why}"),
            "see GET /api/members whether it can be reached, then try again: an order may be given twice",
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self.view)).into_response()
    }
}

impl From<NamedError> for Problem {
    fn from(error: NamedError) -> Self {
        let (status, word, advice) = match error {
            NamedError::Ambiguous { .. } => {
                (StatusCode::CONFLICT, "ambiguous-node", "give each node a node_id of its own")
            }
            _ => (StatusCode::NOT_FOUND, "unknown-node", "GET /api/members lists those there are"),
        };
        Self::new(status, word, error.to_string(), advice)
    }
}

impl From<DownError> for Problem {
    fn from(error: DownError) -> Self {
        match error {
            DownError::Name(error) => error.into(),
            error => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopped",
                error.to_string(),
                "ask the management of another node",
            ),
        }
    }
}

impl From<RecoverError> for Problem {
    fn from(error: RecoverError) -> Self {
        let (status, word, advice) = match error {
            RecoverError::Refused { .. } => (
                StatusCode::CONFLICT,
                "nothing-to-recover",
                "GET /api/members says how this node stands; a node that is suspended, or seeks since it gave up, can be told to",
            ),
            RecoverError::Unvouched { .. } => {
                (StatusCode::CONFLICT, "unvouched", "GET /api/recover lists all that would be given up")
            }
            RecoverError::Stopped => {
                (StatusCode::SERVICE_UNAVAILABLE, "stopped", "ask the management of another node")
            }
            RecoverError::Lives => {
                (StatusCode::CONFLICT, "cluster-lives", "GET /api/members says who is there")
            }
            _ => (StatusCode::CONFLICT, "not-begun", "GET /api/members says how this node stands"),
        };
        Self::new(status, word, error.to_string(), advice)
    }
}

impl From<MoveError> for Problem {
    fn from(error: MoveError) -> Self {
        let (status, word, advice) = match error {
            MoveError::Node(error) => return error.into(),
            MoveError::Unknown { .. } => {
                (StatusCode::NOT_FOUND, "unknown-type", "GET /api/shards lists the types there are")
            }
            MoveError::Shard { .. } => {
                (StatusCode::NOT_FOUND, "unknown-shard", "GET /api/shards says how many there are")
            }
            _ => (StatusCode::CONFLICT, "no-host", "GET /api/shards lists the hosts of each type"),
        };
        Self::new(status, word, error.to_string(), advice)
    }
}

impl From<EntitiesError> for Problem {
    fn from(error: EntitiesError) -> Self {
        let (status, word, advice) = match error {
            EntitiesError::Unknown { .. } => {
                (StatusCode::NOT_FOUND, "unknown-type", "GET /api/shards lists the types there are")
            }
            EntitiesError::Shard { .. } => {
                (StatusCode::NOT_FOUND, "unknown-shard", "GET /api/shards says how many there are")
            }
            EntitiesError::Silent { .. } => (
                StatusCode::BAD_GATEWAY,
                "unreached",
                "see GET /api/members whether its owner can be reached, then ask again",
            ),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "between-owners", "ask again in a moment"),
        };
        Self::new(status, word, error.to_string(), advice)
    }
}

impl From<ExplainError> for Problem {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Id(_) => Self::unreadable(error.to_string(), "name an id that an entity can have"),
            _ => Self::new(
                StatusCode::NOT_FOUND,
                "unknown-type",
                error.to_string(),
                "GET /api/shards lists the types there are; ask a node on which it was started",
            ),
        }
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::unreadable(rejection.body_text(), "write what stands in the path as UTF-8 with percent escapes")
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::unreadable(rejection.body_text(), "GET /openapi.json says what can be asked")
    }
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        let advice = "send a small JSON object, as GET /openapi.json says";
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                "the body is larger than any order is",
                advice,
            ),
            _ => Self::unreadable(rejection.body_text(), advice),
        }
    }
}
