//! The dashboard in a real browser: a headless Chromium that opens the page, clicks, types and looks.
//!
//! What must hold still to be looked at (a shard in the middle of a move) comes from a [stand-in](stand_in) that tells made-up answers; what
//! must be true comes from real nodes. Pictures of both stay in `target/dashboard`.
//!
//! Without a Chromium the tests say `skipped: ...` and pass, unless `BOROUGH_REQUIRE_CHROMIUM=1`. `BOROUGH_CHROMIUM` names one that is not found by itself.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod browser;
mod city;
mod devtools;
mod page;
mod reading;
mod renewing;
mod scene;
mod stand_in;
mod watching;
