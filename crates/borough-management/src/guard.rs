//! Who may ask, and who may order.
//!
//! Promise: without its token nobody learns more of the cluster than a probe is told (what this node is called, how it stands, and whether types that the
//! probe names are known), and no page from elsewhere that runs in somebody's browser can read from a management on loopback or have it do anything.
//!
//! | against | how |
//! |---|---|
//! | strangers on the network | a token, or certificates on both sides |
//! | a page from elsewhere that sends orders | orders need a header, or a content type, that such a page cannot send unasked |
//! | a name that is made to lead to loopback | on loopback the `host` must be loopback too |

use std::fmt;
use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use subtle::ConstantTimeEq;

use crate::error::ManagementError;
use crate::problem::Problem;

/// How long a token may be.
const TOKEN_LENGTH: std::ops::RangeInclusive<usize> = 16..=512;
/// What a page from elsewhere cannot send unasked.
const OWN_HEADER: &str = "x-borough";

/// See the module.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) token: Option<Token>,
    pub(crate) is_loopback: bool,
}

/// What whoever asks must know.
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new(text: String) -> Result<Self, ManagementError> {
        let is_sound = TOKEN_LENGTH.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_sound { Ok(Self(text)) } else { Err(ManagementError::Token { length: text.len() }) }
    }

    /// Whether it is the same; the time it takes says nothing of where it differs.
    fn is(&self, other: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(other).into()
    }
}

/// Never shows it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Guard {
    /// Whether a request with that head is answered at all.
    pub(crate) fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
        self.check_host(headers)?;
        self.check_token(path, headers)?;
        check_origin(method, headers)
    }

    fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if !self.is_loopback {
            return Ok(());
        }
        // Without one it is no browser: those always send it.
        let is_own =
            headers.get_all(header::HOST).iter().all(|host| host.to_str().is_ok_and(is_loopback_host));
        if is_own {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "wrong-host",
            "this management listens on loopback, and was called by another name",
            "call it 127.0.0.1, [::1] or localhost, or have the proxy in between do so",
        ))
    }

    fn check_token(&self, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else { return Ok(()) };
        if is_open(path) {
            return Ok(());
        }
        let said = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let said = said.and_then(|said| {
            let (scheme, rest) = said.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then_some(rest)
        });
        if said.is_some_and(|said| token.is(said)) {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "wrong-token",
            "this management needs its token, and this is none or another",
            "send the header `authorization: Bearer <token>`",
        ))
    }
}

/// What is given to everybody: probes, which tell of this node alone, and the page, which holds no data and asks for the rest.
fn is_open(path: &str) -> bool {
    matches!(path, "/" | "/health/live" | "/health/ready") || path.starts_with("/assets/")
}

/// Orders come from programs, and from our own page alone.
fn check_origin(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    let is_json = |kind: &str| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    };
    let content = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if content.is_some_and(is_json) || headers.get(OWN_HEADER).is_some_and(|value| value == "1") {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "cross-site",
        "an order must show that it comes from no page of elsewhere",
        "send the header `x-borough: 1`, or a body of content type application/json",
    ))
}

fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
