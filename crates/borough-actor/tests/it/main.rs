//! The behaviour of local actors, seen through the public interface.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

mod ask;
mod ask_cycles;
mod behaviour;
mod cancel;
mod dead_letters;
mod escalation;
mod events;
mod lifecycle;
mod mailbox_kinds;
mod puppet;
mod remote;
mod shutdown;
mod stash;
mod supervision;
mod support;
mod system;
mod tell;
mod tell_circles;
mod timers;
mod watch;
mod worker;
