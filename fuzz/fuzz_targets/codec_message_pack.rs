//! `borough_wire::fuzz::codec_message_pack`; see ../README.md.
#![cfg_attr(fuzzing, no_main)]

borough_fuzz::target!(borough_wire::fuzz::codec_message_pack);
