//! A program run as two processes: the server says where it is, the client measures and answers with the figure.
//!
//! Every wait is bounded, and the server is ended by its id whatever happens; should the harness itself be killed, the
//! server sees its standard input end.

use crate::programs::{finish, start};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const START_LIMIT: Duration = Duration::from_secs(60);

/// Runs the job once between two fresh processes of a program; the client's answer, or why there is none.
pub(crate) fn run(program: impl Fn() -> Command, job: [&str; 2]) -> Result<String, String> {
    let (server, address) = Server::start(program())?;
    let client = start(program().args(["client", &address.to_string()]).args(job))?;
    let answer = finish(client);
    let last_words = server.end();
    // A client whose server died says only that the connection is gone.
    answer.map_err(|reason| match last_words {
        Some(words) => format!("{reason} (the server: {words})"),
        None => reason,
    })
}

/// The process that is told and asked.
struct Server {
    process: Child,
}

impl Server {
    /// Starts it, and waits until it says where it listens.
    fn start(mut command: Command) -> Result<(Self, SocketAddr), String> {
        let mut server = Self { process: start(command.arg("server").stdin(Stdio::piped()))? };
        let (tell, told) = mpsc::channel();
        if let Some(out) = server.process.stdout.take() {
            // A thread, as a read from a pipe cannot be bounded; it ends with the server.
            std::thread::spawn(move || {
                let mut line = String::new();
                // What cannot be read cannot be an address either.
                BufReader::new(out).read_line(&mut line).ok();
                tell.send(line).ok();
            });
        }
        let line = told.recv_timeout(START_LIMIT);
        match line.map(|line| line.trim().parse()) {
            Ok(Ok(address)) => Ok((server, address)),
            said => {
                let words = server.end().or_else(|| said.is_err().then(|| "no word in time".to_owned()));
                Err(format!(
                    "the server does not start: {}",
                    words.unwrap_or_else(|| "no address".to_owned())
                ))
            }
        }
    }

    /// Ends it; the last line of what it complained about.
    fn end(mut self) -> Option<String> {
        self.kill();
        let mut complaints = String::new();
        self.process.stderr.take()?.read_to_string(&mut complaints).ok()?;
        complaints.lines().rfind(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
    }

    fn kill(&mut self) {
        // Both fail only if the process is gone already.
        self.process.kill().and_then(|()| self.process.wait().map(drop)).ok();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program written in shell, which is given `server` or `client <address> <workload> <count>`.
    fn shell(script: &'static str) -> impl Fn() -> Command {
        move || {
            let mut command = Command::new("sh");
            command.args(["-c", script, "program"]).stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }
    }

    #[test]
    fn the_client_is_given_the_address_of_the_server_and_the_job() {
        let program = shell(r#"if [ $1 = server ]; then echo 127.0.0.1:81; cat; else echo "$@"; fi"#);
        assert_eq!(run(program, ["tell", "7"]), Ok("client 127.0.0.1:81 tell 7\n".to_owned()));
    }

    #[test]
    fn a_server_that_says_no_address_is_told_with_its_complaint() {
        let program = shell("echo oh >&2; echo no >&2");
        assert_eq!(run(program, ["tell", "7"]), Err("the server does not start: no".to_owned()));
        assert_eq!(
            run(shell("echo here"), ["tell", "7"]),
            Err("the server does not start: no address".to_owned())
        );
    }

    #[test]
    fn a_failed_client_is_told_with_the_complaint_of_its_server() {
        let program = shell(
            "if [ $1 = server ]; then echo lost it >&2; echo 127.0.0.1:81; cat; else echo gone >&2; exit 3; fi",
        );
        let failed = run(program, ["tell", "7"]).unwrap_err();
        assert_eq!(failed, "exit status: 3: gone (the server: lost it)");
    }

    #[test]
    fn the_server_is_gone_afterwards() {
        let (server, _) = Server::start(shell("echo 127.0.0.1:81; exec cat")()).unwrap();
        let process = format!("/proc/{}", server.process.id());
        assert!(std::fs::exists(&process).unwrap());
        server.end();
        assert!(!std::fs::exists(&process).unwrap());
    }
}
