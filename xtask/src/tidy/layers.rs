//! The law of who may know whom: between crates, towards heavy dependencies, and between modules.
//!
//! This is the only place where it is written. A row may stand before the crate it speaks of; a crate
//! of the workspace without a row is an error. Dependencies of tests alone are free.

/// Which crates of the workspace a crate may use, and which foreign crates it must not.
pub(super) struct CrateLayer {
    pub(super) name: &'static str,
    pub(super) may_use: &'static [&'static str],
    pub(super) must_not_use: &'static [&'static str],
}

/// A heavy foreign crate and the only crates of the workspace that may use it.
pub(super) struct Edge {
    pub(super) foreign: &'static str,
    pub(super) only_in: &'static [&'static str],
}

/// Which paths of its own crate a module must not name: modules (`host`), or items (`host::Host`).
pub(super) struct ModuleLayer {
    pub(super) of_crate: &'static str,
    pub(super) module: &'static str,
    pub(super) must_not_use: &'static [&'static str],
}

/// What would let a clock, a socket, a task or chance into the pure core.
const IMPURE: &[&str] = &["tokio", "tokio-util", "futures", "mio", "socket2", "rustix", "rand", "getrandom"];

pub(super) const CRATES: &[CrateLayer] = &[
    CrateLayer {
        name: "borough",
        may_use: &["borough-actor", "borough-cluster", "borough-persistence"],
        must_not_use: &[],
    },
    // Its codecs alone: a message is encoded by code made for its type, and only its own crate can make that.
    CrateLayer { name: "borough-actor", may_use: &["borough-wire"], must_not_use: &[] },
    CrateLayer { name: "borough-protocol", may_use: &[], must_not_use: IMPURE },
    CrateLayer { name: "borough-wire", may_use: &[], must_not_use: IMPURE },
    CrateLayer {
        name: "borough-cluster",
        may_use: &["borough-actor", "borough-protocol", "borough-sqlite", "borough-wire"],
        must_not_use: &[],
    },
    CrateLayer { name: "borough-persistence", may_use: &["borough-actor"], must_not_use: &[] },
    // Payloads are opaque to it: it knows neither the rules nor the runtime.
    CrateLayer { name: "borough-sqlite", may_use: &[], must_not_use: &["tokio", "tokio-util", "futures"] },
    CrateLayer { name: "borough-postgres", may_use: &["borough-persistence"], must_not_use: &[] },
    CrateLayer {
        name: "borough-management",
        may_use: &["borough-actor", "borough-cluster"],
        must_not_use: &[],
    },
    // The data of a stopped node is read without one: by the store, and by the rules' own types.
    CrateLayer {
        name: "borough-cli",
        may_use: &["borough", "borough-cluster", "borough-management", "borough-protocol", "borough-sqlite"],
        must_not_use: &[],
    },
    CrateLayer {
        name: "borough-testkit",
        may_use: &[
            "borough-actor",
            "borough-cluster",
            "borough-persistence",
            "borough-protocol",
            "borough-wire",
        ],
        must_not_use: &[],
    },
    CrateLayer { name: "borough-bench", may_use: &["borough", "borough-actor"], must_not_use: &[] },
    CrateLayer { name: "borough-chaos", may_use: &["borough", "borough-wire"], must_not_use: &[] },
    CrateLayer { name: "xtask", may_use: &[], must_not_use: &[] },
];

pub(super) const EDGES: &[Edge] = &[
    Edge { foreign: "axum", only_in: &["borough-management"] },
    Edge { foreign: "hyper", only_in: &["borough-management"] },
    Edge { foreign: "hyper-util", only_in: &["borough-management"] },
    Edge { foreign: "rusqlite", only_in: &["borough-sqlite"] },
    Edge { foreign: "tokio-postgres", only_in: &["borough-postgres"] },
    Edge { foreign: "deadpool-postgres", only_in: &["borough-postgres"] },
    Edge { foreign: "tokio-rustls", only_in: &["borough-cluster"] },
    // For the program, which asks over HTTPS; nodes have it by `tokio-rustls`.
    Edge { foreign: "rustls", only_in: &["borough-cli"] },
    Edge { foreign: "clap", only_in: &["borough-cli", "borough-bench", "borough-chaos"] },
    Edge { foreign: "ratatui", only_in: &["borough-cli"] },
    Edge { foreign: "anyhow", only_in: &["borough-cli", "borough-bench", "xtask"] },
];

pub(super) const MODULES: &[ModuleLayer] = &[
    // The mailbox is a queue: its race tests compile it without any of the others.
    ModuleLayer {
        of_crate: "borough-actor",
        module: "mailbox",
        must_not_use: &["actor", "ask", "cell", "context", "host", "item", "system", "tell"],
    },
    // What refs use must not know how an actor is run.
    ModuleLayer { of_crate: "borough-actor", module: "cell", must_not_use: &["actor", "context", "host"] },
    ModuleLayer {
        of_crate: "borough-actor",
        module: "tell",
        must_not_use: &["cell", "context", "host", "system"],
    },
    ModuleLayer { of_crate: "borough-actor", module: "ask", must_not_use: &["context", "host"] },
    ModuleLayer {
        of_crate: "borough-actor",
        module: "supervision",
        must_not_use: &["cell", "host", "system"],
    },
    // Each part of a node knows its own question; only the office and the node bring them together.
    ModuleLayer {
        of_crate: "borough-protocol",
        module: "detector",
        must_not_use: &["gossip", "heartbeat", "lease", "log", "node", "office", "store", "table"],
    },
    ModuleLayer {
        of_crate: "borough-protocol",
        module: "heartbeat",
        must_not_use: &["gossip", "lease", "log", "node", "office", "store", "table"],
    },
    ModuleLayer {
        of_crate: "borough-protocol",
        module: "gossip",
        must_not_use: &["formation", "heartbeat", "lease", "log", "node", "office", "store", "table"],
    },
    ModuleLayer {
        of_crate: "borough-protocol",
        module: "table",
        must_not_use: &["formation", "gossip", "heartbeat", "lease", "node", "office", "store"],
    },
    ModuleLayer {
        of_crate: "borough-protocol",
        module: "lease",
        must_not_use: &["formation", "gossip", "heartbeat", "node", "office"],
    },
];
