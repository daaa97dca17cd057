//! Large clusters: what they cost and how soon they agree, as their number grows.
//!
//! The machines, the queue, the network and the clocks are the simulator's. The rules that it checks after every step are
//! left to it; here it is looked now and then whether all agree, and in the end whether they have the very same. A
//! [`Scenario`] gives the same [`Course`] for the same seed.

mod agreement;
mod crowd;
mod goals;
mod phase;
mod plot;
mod report;
mod scenario;
mod stage;
mod traffic;

pub use self::crowd::Role;
pub use self::goals::{Goal, goals};
pub use self::phase::{Phase, Share};
pub use self::plot::plot;
pub use self::report::report;
pub use self::scenario::{Course, Scenario, crash_bound};
pub use self::traffic::{Kind, Tally, Traffic};

/// A run that was never run: a rest and a crash of one second each, in which a node received so many bytes, and a crash that
/// was known after so many milliseconds.
#[cfg(test)]
fn sample(nodes: usize, member: u64, voter: u64, known: u64) -> Course {
    use crate::sim::moment::{MILLISECOND, SECOND};
    let share = |bytes| {
        let mut traffic = Traffic::default();
        traffic.receive(Kind::Renew, bytes);
        Share { nodes: 1, ran: SECOND, traffic }
    };
    let phase = |name, known_after| Phase {
        name,
        lasted: SECOND,
        known_after,
        handled: 1,
        shares: [share(member), share(voter), share(voter)],
        largest: [0; Kind::COUNT],
    };
    Course { nodes, phases: vec![phase("rest", None), phase("crash", Some(known * MILLISECOND))] }
}
