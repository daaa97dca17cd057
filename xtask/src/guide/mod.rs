//! `cargo xtask guide`: the pages of `docs/` as a book, in `target/guide`.
//!
//! The promise: one command, on a machine that has only cargo. Where there is no mdBook it is installed into `target/tools`, once, in a bounded time.

mod sources;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// The version that is installed where there is none; the pages are tried with it.
const VERSION: &str = "0.5.4";
/// How long the installation may take: it compiles a few hundred crates.
const INSTALL_TIME: Duration = Duration::from_secs(30 * 60);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Builds the book and says where it begins.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mdbook = find_or_install(&target)?;
    let book = target.join("guide");
    let status = build(&mdbook, root, &book).status().context("mdbook does not start")?;
    ensure!(status.success(), "mdbook build docs: {status}");
    let linked = sources::link(&book, root)?;
    println!("guide: {} ({linked} links to sources)", book.join("index.html").display());
    Ok(())
}

fn build(mdbook: &Path, root: &Path, book: &Path) -> Command {
    let mut command = Command::new(mdbook);
    command.arg("build").arg("--dest-dir").arg(book).arg(root.join("docs"));
    command
}

/// The one on the path, or the one that was installed before, or a new one.
fn find_or_install(target: &Path) -> Result<PathBuf> {
    let tools = target.join("tools");
    let installed = tools.join("bin").join(format!("mdbook{}", env::consts::EXE_SUFFIX));
    for candidate in [Path::new("mdbook"), &installed] {
        if works(candidate) {
            return Ok(candidate.to_path_buf());
        }
    }
    println!("guide: there is no mdbook here; installing {VERSION} into {}", tools.display());
    let child = install(&tools).spawn().context("cargo does not start")?;
    within(child, INSTALL_TIME).with_context(|| {
        format!(
            "mdbook {VERSION} was not installed; without a network, put an mdbook on the PATH and try again"
        )
    })?;
    Ok(installed)
}

fn works(mdbook: &Path) -> bool {
    let version = Command::new(mdbook).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

fn install(tools: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.args(["install", "mdbook", "--locked", "--version", VERSION]);
    // Watching and serving are not needed, and a good part of the compilation.
    command.args(["--no-default-features", "--features", "search", "--root"]).arg(tools);
    // Where there is no network this is known soon.
    command.envs([("CARGO_NET_RETRY", "2"), ("CARGO_HTTP_TIMEOUT", "20")]);
    command
}

/// Waits for a process, and ends it if it takes too long.
fn within(mut child: Child, time: Duration) -> Result<()> {
    let until = Instant::now() + time;
    loop {
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "{status}");
            return Ok(());
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            bail!("it took longer than {} s", time.as_secs());
        }
        thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_version_is_installed_into_the_target_folder() {
        let command = install(Path::new("target/tools"));
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let has = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
        assert!(has(["--version", VERSION]) && has(["--root", "target/tools"]), "{words:?}");
        assert!(words.contains(&"--locked".into()), "{words:?}");
    }

    #[test]
    fn what_is_not_there_does_not_work() {
        assert!(!works(Path::new("no/such/mdbook")));
    }

    #[test]
    #[cfg(unix)]
    fn a_process_that_takes_too_long_is_ended() {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let error = within(child, Duration::ZERO).unwrap_err();
        assert!(error.to_string().contains("longer than 0 s"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_process_that_fails_is_an_error() {
        let child = Command::new("false").spawn().unwrap();
        assert!(within(child, Duration::from_secs(60)).is_err());
    }
}
