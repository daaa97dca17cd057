//! The `DevTools` protocol, as much of it as these tests need: calls that are answered, and events that are kept.
//!
//! It is spoken over a pipe: no port, no WebSocket, and a browser whose pipe ends is over too, however the test ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// No answer of a browser that lives takes longer, on a machine however busy.
const ANSWER_TIME: Duration = Duration::from_secs(60);

type Answers = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A conversation with a browser.
pub(crate) struct DevTools {
    pipe: tokio::sync::Mutex<ChildStdin>,
    asked: Mutex<u64>,
    answers: Answers,
    events: Arc<Mutex<Vec<Value>>>,
}

impl DevTools {
    pub(crate) fn new(pipe: ChildStdin, from: ChildStdout) -> Self {
        let answers = Answers::default();
        let events = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(listen(from, answers.clone(), events.clone()));
        Self { pipe: tokio::sync::Mutex::new(pipe), asked: Mutex::new(0), answers, events }
    }

    /// Calls a method, of a page if a session is given; panics with what the browser says if it fails.
    pub(crate) async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = {
            let mut asked = locked(&self.asked);
            *asked += 1;
            *asked
        };
        let (answer, answered) = oneshot::channel();
        locked(&self.answers).insert(id, answer);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.pipe.lock().await.write_all(&bytes).await.unwrap();
        let mut answer = timeout(ANSWER_TIME, answered)
            .await
            .unwrap_or_else(|_| panic!("the browser does not answer {method}"))
            .unwrap_or_else(|_| panic!("the browser ended before it answered {method}"));
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    /// The events of that method so far, the oldest first.
    pub(crate) fn events(&self, method: &str) -> Vec<Value> {
        let events = locked(&self.events);
        events.iter().filter(|event| event["method"] == method).map(|event| event["params"].clone()).collect()
    }
}

/// Messages end with a zero byte each.
async fn listen(from: ChildStdout, answers: Answers, events: Arc<Mutex<Vec<Value>>>) {
    let mut from = BufReader::new(from);
    let mut bytes = Vec::new();
    while from.read_until(0, &mut bytes).await.is_ok_and(|read| read > 0) {
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        bytes.clear();
        match message["id"].as_u64() {
            Some(id) => {
                let waiting = locked(&answers).remove(&id);
                // Whoever asked may have given up.
                let _ = waiting.map(|waiting| waiting.send(message));
            }
            None => locked(&events).push(message),
        }
    }
    // Whoever still waits is told that nothing comes.
    locked(&answers).clear();
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
