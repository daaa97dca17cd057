//! A seeded simulator of whole nodes: the shells of `borough-cluster`, with actors that talk to each other.
//!
//! The nodes are the real ones: listener, handshakes, control lanes, data lanes, actors. They run on one thread, on a network inside the process and on
//! a clock that is stopped and jumps, with everything drawn from one seed: [`Outcome::trace_hash`] tells two runs apart. What the machines inside the
//! nodes decide is checked by [`sim`](crate::sim); here it is checked what becomes of messages, answers, watches, connections and tasks.
//!
//! ```text
//! plan.rs    what a seed draws: nodes, weather, strikes      fault.rs   what can strike
//! world.rs   the nodes, the strikes, healing, the last looks  house.rs   one node and what lives in it
//! sender.rs  who sends                                        counter.rs who is sent to        words.rs what is said
//! books/     what became of each message and each watch       trace.rs   what happened, as one number
//! ```

pub mod batch;
mod books;
mod counter;
mod fault;
mod house;
mod plan;
mod run;
mod sender;
mod trace;
mod words;
mod world;

pub use self::books::Tally;
pub use self::fault::{Fault, Strike, Way};
pub use self::plan::Plan;
pub use self::run::{Outcome, run};
pub use self::trace::Lines;
pub(crate) use self::trace::Trace;
