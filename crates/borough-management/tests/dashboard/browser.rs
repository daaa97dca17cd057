//! A headless Chromium, found and started for one test.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::process::{Child, Command};

use crate::devtools::DevTools;
use crate::page::Page;

const NAMES: [&str; 5] =
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Has the pipe be standard input and output, which a test can hold, instead of the descriptors 3 and 4, which it cannot.
const LAUNCH: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// A browser with a profile of its own. It ends with its pipe, when this is dropped.
pub(crate) struct Browser {
    tools: DevTools,
    profile: PathBuf,
    /// Ended by its id if it does not end by itself.
    process: Child,
}

impl Browser {
    /// Starts one; `None` if there is none here and none is required.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = find() else {
            let words = "no Chromium was found; install `chromium`, or name one in BOROUGH_CHROMIUM";
            assert!(std::env::var_os("BOROUGH_REQUIRE_CHROMIUM").is_none_or(|value| value != "1"), "{words}");
            println!("skipped: {words}");
            return None;
        };
        let profile = profile();
        let mut process = Command::new("sh")
            .args(["-c", LAUNCH])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--remote-debugging-pipe",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            // All that it would ask of the world by itself.
            .args(["--disable-background-networking", "--disable-component-update", "--no-first-run"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let tools = DevTools::new(process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Some(Self { tools, profile, process })
    }

    /// A new page, empty, of the size of a desk's screen.
    pub(crate) async fn page(&self) -> Page<'_> {
        // In a context of its own nothing is written to the profile, so nothing of it is written late.
        let context = self.tools.call(None, "Target.createBrowserContext", json!({})).await;
        let create = json!({ "url": "about:blank", "browserContextId": context["browserContextId"] });
        let target = self.tools.call(None, "Target.createTarget", create).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.tools.call(None, "Target.attachToTarget", attach).await;
        Page::new(&self.tools, attached["sessionId"].as_str().unwrap().to_owned()).await
    }

    /// Ends it in order, so that nothing of it is left when the test is over.
    pub(crate) async fn close(mut self) {
        self.tools.call(None, "Browser.close", json!({})).await;
        self.process.wait().await.unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // What cannot be removed lies in the build's own folder, and is no harm there.
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("BOROUGH_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    NAMES.iter().find_map(|name| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    })
}

fn profile() -> PathBuf {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chromium-{}-{number}", std::process::id()))
}
