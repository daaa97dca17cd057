//! One node's management, over HTTP or HTTPS.
//!
//! Every error here is for a person: what was tried, what came of it, what to do.
//!
//! ```text
//! endpoint     where it is asked, and by which of the two
//! credentials  the certificates for HTTPS, read and checked before anybody is asked
//! unanswered   what it means that no answer came
//! ```

mod credentials;
mod endpoint;
mod unanswered;

use std::io::{BufRead, BufReader};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use borough_management::view;
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::{Agent, Body};

use self::credentials::Credentials;
use self::endpoint::Endpoint;
use crate::arguments::Target;

/// How long a node may take to answer. It asks all others for some answers, and gives those 3 s.
const PATIENCE: Duration = Duration::from_secs(10);
/// No answer is longer: shards of 65 536 are some megabytes.
const LARGEST: u64 = 64 << 20;

/// Asks one node.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    agent: Agent,
    endpoint: Endpoint,
    /// Over HTTPS alone.
    credentials: Option<Credentials>,
    token: Option<String>,
}

impl Client {
    /// Reads the certificates where they are needed; asks nobody yet.
    pub(crate) fn new(target: &Target) -> Result<Self> {
        let endpoint = Endpoint::read(&target.address, target.names_certificates())?;
        let credentials = endpoint.is_secured().then(|| Credentials::read(target, &endpoint)).transpose()?;
        let settings = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(PATIENCE))
            // A proxy of the environment is for the world outside: it would be asked for its own loopback, and be told the token.
            .proxy(None)
            // A management sends nobody elsewhere, and the token is for none but it.
            .max_redirects(0);
        let settings = match &credentials {
            Some(credentials) => settings.tls_config(credentials.settings()),
            None => settings,
        };
        let agent = settings.build().new_agent();
        Ok(Self { agent, endpoint, credentials, token: target.token.clone() })
    }

    /// Where it asks.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn members(&self) -> Result<view::Members> {
        self.read("/api/members")
    }

    pub(crate) fn shards(&self) -> Result<view::Shards> {
        self.read("/api/shards")
    }

    pub(crate) fn entities(&self) -> Result<view::Entities> {
        self.read("/api/entities")
    }

    /// One page; the next begins behind `next` of the one before.
    pub(crate) fn entity_ids(&self, kind: &str, shard: u32, after: Option<&str>) -> Result<view::EntityIds> {
        let after = after.map_or_else(String::new, |after| format!("?after={after}"));
        self.read(&format!("/api/entities/{}/{shard}{after}", escaped(kind)))
    }

    pub(crate) fn stats(&self) -> Result<view::Stats> {
        self.read("/api/stats")
    }

    pub(crate) fn settings(&self) -> Result<view::Settings> {
        self.read("/api/settings")
    }

    pub(crate) fn recovery(&self) -> Result<view::Recovery> {
        self.read("/api/recover")
    }

    pub(crate) fn explain(&self, kind: &str, id: &str) -> Result<view::Location> {
        self.read(&format!("/api/explain/{}/{}", escaped(kind), escaped(id)))
    }

    /// What the node said to `drain`, `leave` or `down` of a node.
    pub(crate) fn order(&self, order: &str, node: &str) -> Result<view::Accepted> {
        self.post(&format!("/api/{order}/{}", escaped(node)), "{}")
    }

    pub(crate) fn move_shard(&self, order: &view::MoveOrder) -> Result<view::Accepted> {
        self.post("/api/move", &serde_json::to_string(order)?)
    }

    pub(crate) fn recover(&self, order: &view::RecoverOrder) -> Result<view::Accepted> {
        self.post("/api/recover", &serde_json::to_string(order)?)
    }

    /// Each event from now on, until `heard` says that it is enough or the node ends.
    pub(crate) fn events(&self, mut heard: impl FnMut(view::ClusterEvent) -> Result<bool>) -> Result<()> {
        let request = self.authorised(self.agent.get(self.url("/api/events")));
        let mut answer = self.accepted(request.call())?;
        for line in BufReader::new(answer.body_mut().as_reader()).lines() {
            let line = line.with_context(|| {
                format!("{} ended the stream of events; its node may be gone: try another", self.endpoint)
            })?;
            let Some(event) = line.strip_prefix("data:") else { continue };
            if !heard(self.decoded(event.trim())?)? {
                return Ok(());
            }
        }
        bail!("{} ended the stream of events: its node is gone; try another", self.endpoint)
    }

    fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let request = self.authorised(self.agent.get(self.url(path)));
        let answer = self.accepted(request.config().timeout_global(Some(PATIENCE)).build().call())?;
        self.decoded(&self.text(answer)?)
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &str) -> Result<T> {
        let request =
            self.agent.post(self.url(path)).content_type("application/json").header("x-borough", "1");
        let request = self.authorised(request).config().timeout_global(Some(PATIENCE)).build();
        let answer = self.accepted(request.send(body))?;
        self.decoded(&self.text(answer)?)
    }

    fn authorised<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.endpoint)
    }

    /// The answer, if it is one; otherwise what the node says is wrong.
    fn accepted(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<Response<Body>> {
        let answer =
            answer.map_err(|error| unanswered::explain(&self.endpoint, self.credentials.as_ref(), &error))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        let text = self.text(answer)?;
        match serde_json::from_str::<view::Problem>(&text) {
            Ok(problem) => bail!("{}; {}", problem.what, problem.advice),
            Err(_) => bail!(
                "{} answered with {status}, and not as a node's management would: is another program there?",
                self.endpoint
            ),
        }
    }

    fn text(&self, mut answer: Response<Body>) -> Result<String> {
        let body = answer.body_mut().with_config().limit(LARGEST);
        body.read_to_string().with_context(|| format!("the answer of {} broke off", self.endpoint))
    }

    fn decoded<T: DeserializeOwned>(&self, text: &str) -> Result<T> {
        serde_json::from_str(text).with_context(|| {
            format!(
                "{} answered, but not as a node's management would: is another program there?",
                self.endpoint
            )
        })
    }
}

/// A part of a path, so that a slash in it is no slash of the path, and a `#` or `?` not its end.
fn escaped(part: &str) -> String {
    let mut text = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.extend(
                [byte >> 4, byte & 15].map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)])),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn an_id_is_one_part_of_the_path_whatever_is_in_it() {
        assert_eq!(escaped("a/b c%ü#1?"), "a%2Fb%20c%25%C3%BC%231%3F");
    }
}
