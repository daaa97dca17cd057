//! What happened before what.
