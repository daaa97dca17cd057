//! `borough_wire::fuzz::handshake_acceptor`; see ../README.md.
#![cfg_attr(fuzzing, no_main)]

borough_fuzz::target!(borough_wire::fuzz::handshake_acceptor);
