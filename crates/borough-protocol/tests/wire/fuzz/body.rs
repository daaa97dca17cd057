//! What is done with bytes: read, with an eye on memory, and told to a node.

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Input, Message};

use peakmem_alloc::PeakMemAllocTrait;

use crate::MEMORY;
use crate::codec::decode;
use crate::net::Net;

/// How much memory reading may take: so many bytes for each of the input, and so many on top.
const TIMES: usize = 64;
const BESIDES: usize = 64 * 1024;

/// Reads a message.
///
/// # Panics
/// If it took more memory than it may.
pub(crate) fn read(bytes: &[u8]) -> Option<Message> {
    let (message, taken) = measured(bytes);
    let most = TIMES * bytes.len() + BESIDES;
    assert!(taken <= most, "reading {} bytes took {taken}, not {most}", bytes.len());
    message
}

/// How much memory reading takes.
pub(crate) fn memory(bytes: &[u8]) -> usize {
    measured(bytes).1
}

/// The memory is the most that was held at one time; a block that grew counts once.
fn measured(bytes: &[u8]) -> (Option<Message>, usize) {
    MEMORY.reset_peak_memory();
    let message = decode(bytes);
    (message, MEMORY.get_peak_memory())
}

/// Tells it to a node. A word is told as one of the node's own cluster, if it is in any: else none would be listened to.
///
/// # Panics
/// If the node does, or if something does not hold afterwards.
pub(crate) fn tell(net: &mut Net, from: Uid, to: Uid, message: Message) {
    match (message, net.nodes[&to].cluster()) {
        (Message::Word { word, .. }, Some(_)) => net.say(from, to, word),
        (message @ Message::FromStore(_), _) => net.input(to, Input::Message { from: Uid::STORE, message }),
        (Message::ToStore(ask), _) => drop(net.register.handle(from, ask)),
        (message, _) => net.input(to, Input::Message { from, message }),
    }
}
