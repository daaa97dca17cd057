//! Which of the two processes this is.

use crate::driver::Job;
use std::net::SocketAddr;

/// One of a pair of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    /// Holds the sink.
    Server,
    /// Reaches the sink of the server at this address, and measures.
    Client(SocketAddr, Job),
}

impl Role {
    /// Reads `server` or `client <address> <workload> <count>`.
    pub(crate) fn from_args(mut args: impl Iterator<Item = String>) -> Option<Self> {
        match args.next()?.as_str() {
            "server" => Some(Self::Server),
            "client" => Some(Self::Client(args.next()?.parse().ok()?, Job::from_args(args)?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Role> {
        Role::from_args(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn both_roles_are_read() {
        let job = Job { workload: "remote_tell".to_owned(), count: 7 };
        assert_eq!(read("server"), Some(Role::Server));
        assert_eq!(
            read("client 127.0.0.1:80 remote_tell 7"),
            Some(Role::Client(([127, 0, 0, 1], 80).into(), job))
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for line in
            ["", "tell1 7", "client", "client here remote_tell 7", "client 127.0.0.1:80 remote_tell 0"]
        {
            assert_eq!(read(line), None, "{line:?}");
        }
    }
}
