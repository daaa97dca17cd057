//! The behaviour of local actors, seen through the public interface.

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
mod shutdown;
mod stash;
mod supervision;
mod support;
mod system;
mod tell;
mod timers;
mod watch;
mod worker;
