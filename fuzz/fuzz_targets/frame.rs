//! `borough_wire::fuzz::frame`; see ../README.md.
#![cfg_attr(fuzzing, no_main)]

borough_fuzz::target!(borough_wire::fuzz::frame);
