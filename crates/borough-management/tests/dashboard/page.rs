//! One page: what is done to it, and what is seen on it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::devtools::DevTools;

/// Long enough for a machine that does much else; what has a bound of its own says so.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Gives the place to press, and has the next click judged: only what was aimed at hears of it.
const AIM: &str = r"new Promise((aimed) => {
  const find = () => document.querySelector(SELECTOR);
  let before = null;
  const look = () => {
    const found = find();
    found?.scrollIntoView({ block: 'center' });
    const box = found?.getBoundingClientRect();
    const at = box ? [box.x + box.width / 2, box.y + box.height / 2] : null;
    const isStill = at !== null && before !== null && at[0] === before[0] && at[1] === before[1];
    if (!isStill || !found.contains(document.elementFromPoint(...at))) {
      before = at;
      return void setTimeout(look, 20);
    }
    window.hit = false;
    window.judge = (event) => {
      window.hit = find()?.contains(event.target) ?? false;
      if (window.hit) return;
      event.stopImmediatePropagation();
      event.preventDefault();
    };
    window.addEventListener('click', window.judge, true);
    aimed(at);
  };
  look();
})";
/// Whether the click met what was aimed at.
const HIT: &str = "(() => { window.removeEventListener('click', window.judge, true); return window.hit; })()";

pub(crate) struct Page<'a> {
    tools: &'a DevTools,
    session: String,
}

impl<'a> Page<'a> {
    pub(crate) async fn new(tools: &'a DevTools, session: String) -> Self {
        let page = Self { tools, session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({})).await;
        }
        page.resize(1280, 900).await;
        page
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        self.tools.call(Some(&self.session), method, params).await
    }

    pub(crate) async fn open(&self, url: &str) {
        let opened = self.call("Page.navigate", json!({ "url": url })).await;
        assert!(opened.get("errorText").is_none(), "{url}: {}", opened["errorText"]);
    }

    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Has a wish of the user hold, as `("prefers-color-scheme", "dark")`; all others are forgotten.
    pub(crate) async fn prefer(&self, wishes: &[(&str, &str)]) {
        let features: Vec<_> =
            wishes.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// What an expression of JavaScript gives; a promise is awaited.
    pub(crate) async fn evaluate<T: DeserializeOwned>(&self, expression: &str) -> T {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut given = self.call("Runtime.evaluate", params).await;
        let wrong = given["exceptionDetails"].take();
        assert!(wrong.is_null(), "{expression}: {wrong}");
        serde_json::from_value(given["result"]["value"].take()).unwrap()
    }

    /// Waits until an expression holds; panics with what the page says if it takes too long.
    pub(crate) async fn until(&self, condition: &str) {
        self.until_within(PATIENCE, condition).await;
    }

    pub(crate) async fn until_within(&self, bound: Duration, condition: &str) {
        let look = format!(
            "new Promise((done) => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look(); }})"
        );
        if timeout(bound, self.evaluate::<bool>(&look)).await.is_err() {
            let text: String = self.evaluate("document.body.innerText").await;
            panic!("not within {bound:?}: {condition}\n{text}");
        }
    }

    /// Clicks in the middle of what is found, as a hand would: once it is there, lies still, and nothing lies over it.
    ///
    /// The page goes on between the look and the press: one that meets something else counts for nothing there, and is made again.
    pub(crate) async fn click(&self, selector: &str) {
        let aim = AIM.replace("SELECTOR", &format!("{selector:?}"));
        let clicked = async {
            loop {
                let (x, y): (f64, f64) = self.evaluate(&aim).await;
                for kind in ["mousePressed", "mouseReleased"] {
                    let mouse = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
                    self.call("Input.dispatchMouseEvent", mouse).await;
                }
                if self.evaluate::<bool>(HIT).await {
                    return;
                }
            }
        };
        assert!(timeout(PATIENCE, clicked).await.is_ok(), "{selector} cannot be clicked");
    }

    /// Presses a key by its name.
    pub(crate) async fn press(&self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let text = if key == "Enter" && kind == "keyDown" { "\r" } else { "" };
            let pressed =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", pressed).await;
        }
    }

    /// Types into what has the focus.
    pub(crate) async fn write(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text })).await;
    }

    /// Keeps a picture of the whole page, once nothing moves on it.
    pub(crate) async fn picture(&self, name: &str) {
        self.until("document.getAnimations().length === 0").await;
        let size = self.call("Page.getLayoutMetrics", json!({})).await["cssContentSize"].take();
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let taken = self.call("Page.captureScreenshot", params).await;
        let bytes = BASE64_STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
        let folder = pictures();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// What the page complained about: errors on its console, exceptions, what could not be loaded.
    pub(crate) fn complaints(&self) -> Vec<Value> {
        let mut found = self.tools.events("Runtime.exceptionThrown");
        found.extend(
            self.tools
                .events("Log.entryAdded")
                .into_iter()
                .filter(|entry| entry["entry"]["level"] == "error"),
        );
        let loud = |call: &Value| matches!(call["type"].as_str(), Some("error" | "warning" | "assert"));
        found.extend(self.tools.events("Runtime.consoleAPICalled").into_iter().filter(loud));
        found
    }

    /// Every address that the page asked for.
    pub(crate) fn requests(&self) -> Vec<String> {
        let sent = self.tools.events("Network.requestWillBeSent");
        sent.iter().map(|sent| sent["request"]["url"].as_str().unwrap().to_owned()).collect()
    }
}

fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("dashboard")
}
