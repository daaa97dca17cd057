//! Borough.
