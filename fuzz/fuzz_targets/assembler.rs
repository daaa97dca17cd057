//! `borough_wire::fuzz::assembler`; see ../README.md.
#![cfg_attr(fuzzing, no_main)]

borough_fuzz::target!(borough_wire::fuzz::assembler);
