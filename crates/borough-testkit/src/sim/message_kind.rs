//! Kinds of messages as numbers that do not change: they are part of every trace hash.

use borough_protocol::node::{Message, Word};

/// What a message is about, as a number.
pub(super) fn kind(message: &Message) -> u64 {
    match message {
        Message::Knock(..) => 1,
        Message::Promise { .. } => 2,
        Message::Release { .. } => 3,
        Message::Welcome(..) => 4,
        Message::Refused(..) => 5,
        Message::Hello(..) => 6,
        Message::Gone => 7,
        Message::ToStore(..) => 8,
        Message::FromStore(..) => 9,
        Message::Copy => 10,
        Message::Word { word, .. } => match word {
            Word::Gossip(..) => 11,
            Word::Heartbeat(..) => 12,
            Word::Log(..) => 13,
            Word::Renew(..) => 14,
            Word::Renewed(..) => 15,
            Word::Feed(..) => 16,
            Word::Quiet(..) => 17,
            Word::Report(..) => 18,
            Word::Shards(..) => 19,
            Word::Gone => 20,
            Word::LogLost(..) => 21,
        },
    }
}
