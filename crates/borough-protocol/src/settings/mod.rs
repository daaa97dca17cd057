//! Settings, and the timing derived from them.
