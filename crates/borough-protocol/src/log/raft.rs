//! The log carried by noraft.
