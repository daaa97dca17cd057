//! `borough_wire::fuzz::codec_json`; see ../README.md.
#![cfg_attr(fuzzing, no_main)]

borough_fuzz::target!(borough_wire::fuzz::codec_json);
