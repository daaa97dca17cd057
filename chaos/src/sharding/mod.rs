//! Entities under real faults: `cargo xtask chaos sharding`.
//!
//! ```text
//! suite       which scenarios are played, the table, which histories are kept
//! scenario    all of them           moving, killing, parting, bad_links, freezing, wedging, restarting, stubborn, flooding: what is done in each
//! stage       hosts and clients under load: set, harmed, checked
//! layout      what lives where, and whether that is balanced
//! verdict     what came of a scenario
//! failover    how long until every entity answers again, over many kills
//! measure     figures for the benchmark: formation, cold start, kills, joins, leaves, restarts
//! soak        hours of full load: is a healthy node ever removed?
//! ```

mod bad_links;
mod failover;
mod flooding;
mod freezing;
mod killing;
mod layout;
pub mod measure;
mod moving;
mod parting;
mod restarting;
mod scenario;
mod soak;
mod stage;
mod stubborn;
mod suite;
mod verdict;
mod wedging;

pub use self::failover::failover;
pub use self::soak::soak;
pub use self::suite::{Options, list, run};
pub use self::verdict::Bounds;
