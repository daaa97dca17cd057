//! The data lanes between nodes: messages and answers, and the actors' way onto them.
//!
//! ```text
//! hub.rs      what all links of a node share; finds the link to a peer, admits a peer's lanes
//! peer.rs     the link to one life of one peer: the `Carrier` of the actors there
//! outbound.rs the writer of one lane       queue.rs what waits for it      unacked.rs what it may have to send again
//! inbound.rs  the reader of one connection session.rs what has arrived     inlets.rs  the ways into actors
//! askers.rs   whom answers wake            codes.rs   small numbers on the wire
//! ```
//! A life that was removed is never spoken to again: see [`Hub::close`].

mod askers;
mod codes;
mod dialler;
mod hub;
mod inbound;
mod inlets;
mod outbound;
mod peer;
mod queue;
mod session;
#[cfg(test)]
mod tests;
mod unacked;

use std::future::Future;
use std::pin::Pin;

use borough_protocol::incarnation::Incarnation;

pub(crate) use self::hub::{Hub, Members};
pub(crate) use self::outbound::NoWay;
pub(crate) use self::peer::{Link, next_number};
use crate::door::{Connection, Lane};

/// As soon as so many bytes have arrived and are not acknowledged, a reader acknowledges them; a writer whose window is not larger than twice this asks it to.
const ACK_BYTES: usize = 64 * 1024;

/// Makes connections to peers.
pub(crate) trait Dialler: Send + Sync {
    /// A connection to that life of that peer, and to no other.
    fn dial<'a>(
        &'a self,
        peer: &'a Incarnation,
        lane: Lane,
        session: u64,
    ) -> Pin<Box<dyn Future<Output = Result<Connection, NoWay>> + Send + 'a>>;
}

/// Makes connections to one peer.
trait Dial: Send + Sync {
    fn dial(
        &self,
        lane: Lane,
        session: u64,
    ) -> Pin<Box<dyn Future<Output = Result<Connection, NoWay>> + Send + '_>>;
    fn unacked_max(&self) -> usize;
}
