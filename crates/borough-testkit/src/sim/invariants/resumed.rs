//! A voter that starts again goes by the term and the vote on its disk, and a node without a log is no voter.
//!
//! One that forgot its vote could give it to another candidate of the same term, and a term could have two coordinators. Of a node without a log nobody knows
//! whether it had one: its disk may be a copy.

use borough_protocol::disk::Image;
use borough_protocol::log::Log;
use borough_protocol::node::Node;

use crate::sim::violation::Violation;

/// The node of a voter with that disk has just started; some list that may be in force names it, or none.
pub(super) fn starts(node: &Node, image: &Image, is_listed: bool) -> Result<(), Violation> {
    if image.log.is_none() && is_listed {
        let text = format!("{:?} starts without a log as {:?}, which a list names", node.uid(), node.voter());
        return Err(Violation::Safety("resumed", text));
    }
    let Some((log, stored)) = node.log().zip(image.log.as_ref()) else { return Ok(()) };
    // One that begins as another voter, or stands at once, is past what is stored.
    if node.voter() != image.voter || log.term() > stored.term {
        return Ok(());
    }
    let (term, vote) = (log.term(), log.vote());
    if (term, vote) == (stored.term, stored.vote) {
        return Ok(());
    }
    let text = format!(
        "{:?} starts in {term:?} with its vote for {vote:?}; on its disk are {:?} and {:?}",
        node.uid(),
        stored.term,
        stored.vote
    );
    Err(Violation::Safety("resumed", text))
}
