//! Directories that this process may not write, or that nobody can: each is said as it is, with what may not be written.
//!
//! What a machine cannot do, such as a mount in a container without the right to, is printed as `skipped: ...`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use borough_sqlite::{DATABASE_FILE, LOCK_FILE, OpenError, inspect};
use rustix::process::geteuid;

use crate::sample::{open, refused};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The kernel checks the rights of a thread; as root it checks none, so there the thread becomes another user.
#[cfg(target_os = "linux")]
fn become_bound() -> Result<(), String> {
    const NOBODY: u32 = 65534;
    if !geteuid().is_root() {
        return Ok(());
    }
    let nobody = rustix::process::Uid::from_raw(NOBODY);
    rustix::thread::set_thread_uid(nobody)
        .map_err(|error| format!("root cannot become another user: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn become_bound() -> Result<(), String> {
    if geteuid().is_root() { Err("rights do not bind root".to_owned()) } else { Ok(()) }
}

/// Has that done by somebody whom rights bind.
fn bound_by_rights(test: impl FnOnce() + Send) {
    let test = || match become_bound() {
        Ok(()) => test(),
        Err(why) => println!("skipped: {why}"),
    };
    thread::scope(|scope| scope.spawn(test).join()).unwrap();
}

#[test]
fn a_directory_that_may_not_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [new, known, empty] = ["new", "known", "empty"].map(|name| folder.path().join(name));
    drop(open(&known));
    fs::create_dir(&empty).unwrap();
    for path in [&known.join(LOCK_FILE), &known.join(DATABASE_FILE)] {
        set_mode(path, 0o444);
    }
    for path in [&known, &empty, folder.path()] {
        set_mode(path, 0o555);
    }
    bound_by_rights(|| {
        for path in [&new, &known, &empty] {
            let error = refused(path);
            assert!(matches!(error, OpenError::NoPermission { .. }), "{error}");
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
    });
    for path in [folder.path(), &known, &empty] {
        set_mode(path, 0o700);
    }
}

#[test]
fn a_file_that_may_not_be_written_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let file = folder.path().join(DATABASE_FILE);
    fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
    set_mode(&file, 0o444);
    set_mode(folder.path(), 0o777);
    bound_by_rights(|| {
        let error = refused(folder.path());
        assert!(matches!(&error, OpenError::NoPermission { path } if *path == file), "{error}");
    });
}

#[test]
fn a_directory_that_may_not_be_read_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    set_mode(folder.path(), 0o000);
    bound_by_rights(|| {
        let error = inspect(folder.path()).unwrap_err();
        assert!(matches!(error, OpenError::NoPermission { .. }), "{error}");
    });
    set_mode(folder.path(), 0o700);
}

/// Set in the child process, to the directory that is mounted for reading alone.
const READ_ONLY: &str = "STORE_TEST_READ_ONLY";

#[test]
fn a_file_system_that_can_only_be_read_is_said_to_be_so() {
    if let Some(path) = std::env::var_os(READ_ONLY) {
        return refuses_what_can_only_be_read(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder.path().join("known")));
    fs::create_dir(folder.path().join("empty")).unwrap();
    // In a name space of its own, which ends with the process.
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && exec \"$2\" --exact rights::a_file_system_that_can_only_be_read_is_said_to_be_so";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script, "sh"])
        .args([folder.path(), &std::env::current_exe().unwrap()])
        .env(READ_ONLY, folder.path())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return println!("skipped: there is no program `unshare`: {error}"),
    };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // The test program itself says how many tests it runs; what could not be mounted never gets to it.
    if !said.contains("running 1 test") {
        return println!("skipped: nothing can be mounted here: {said}");
    }
    assert!(output.status.success(), "{said}");
}

fn refuses_what_can_only_be_read(folder: &Path) {
    for path in ["new", "known", "empty"].map(|name| folder.join(name)) {
        let error = refused(&path);
        assert!(matches!(error, OpenError::ReadOnly { .. }), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    // A look needs no right to write.
    inspect(folder.join("known")).unwrap();
}
