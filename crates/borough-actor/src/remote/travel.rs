//! How an `ActorRef` and a `Reply` look in a message between nodes.
//!
//! Most are of the node that sends or of the one that receives, which both know: only for others does the address travel.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::away::{Away, actor_at};
use super::carrier::{Carrier, ReplyAddress};
use super::message::Message;
use super::passage;
use crate::actor_ref::ActorRef;
use crate::ask::{Reply, Travel};
use crate::cell::ActorCell;

const NOT_HERE: &str = "an ActorRef or Reply can be serialised only as part of a message between nodes";

/// Whose actor or ask it is. The order of the variants is the format.
#[derive(Serialize, Deserialize)]
enum Whose<'a> {
    /// Of the node that sends.
    Sender,
    /// Of the node that receives.
    Receiver,
    /// Of this one.
    Other { uid: u64, address: Cow<'a, str> },
    /// Of nobody any more.
    Nobody,
}

#[derive(Serialize, Deserialize)]
struct WireRef<'a> {
    whose: Whose<'a>,
    target: u64,
    path: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct WireReply<'a> {
    whose: Whose<'a>,
    ask: u64,
}

/// Who the other end of `to` is, as seen by a message that goes by `passage`.
fn whose<'a>(passage: &Arc<dyn Carrier>, to: &'a Arc<dyn Carrier>) -> Whose<'a> {
    if passage.number() == to.number() {
        Whose::Receiver
    } else {
        Whose::Other { uid: to.uid(), address: to.address().into() }
    }
}

/// What is at the other end of a passage a message came by.
enum Origin {
    Here,
    There(Arc<dyn Carrier>),
    Nobody,
}

fn origin(passage: &Arc<dyn Carrier>, whose: &Whose<'_>) -> Origin {
    match whose {
        Whose::Sender => Origin::There(passage.clone()),
        Whose::Receiver => Origin::Here,
        Whose::Other { uid, .. } if *uid == passage.home().uid() => Origin::Here,
        Whose::Other { uid, address } => Origin::There(passage.home().clone().carrier_to(*uid, address)),
        Whose::Nobody => Origin::Nobody,
    }
}

/// Travels as an address; works only inside a message between nodes, and fails elsewhere.
impl<M: Message> Serialize for ActorRef<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = |passage: &Arc<dyn Carrier>| match self.away() {
            None => {
                let target = passage.home().exports().export(self);
                WireRef { whose: Whose::Sender, target, path: self.path().into() }.serialize(serializer)
            }
            Some(away) => wire_of(passage, away).serialize(serializer),
        };
        passage::current(wire).unwrap_or_else(|| Err(S::Error::custom(NOT_HERE)))
    }
}

fn wire_of<'a>(passage: &Arc<dyn Carrier>, away: &'a Away) -> WireRef<'a> {
    WireRef { whose: whose(passage, away.carrier()), target: away.target(), path: away.own_path().into() }
}

impl<'de, M: Message> Deserialize<'de> for ActorRef<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = WireRef::deserialize(deserializer)?;
        let passage = passage::current(Clone::clone).ok_or_else(|| D::Error::custom(NOT_HERE))?;
        Ok(match origin(&passage, &wire.whose) {
            Origin::There(carrier) => actor_at(carrier, wire.target, &wire.path),
            Origin::Here => passage.home().exports().actor(wire.target).unwrap_or_else(|| gone(&passage)),
            Origin::Nobody => gone(&passage),
        })
    }
}

/// The address of an actor that is gone.
fn gone<M: Message>(passage: &Arc<dyn Carrier>) -> ActorRef<M> {
    ActorRef::here(Arc::new(ActorCell::closed(passage.home().system().core().clone())))
}

/// Travels as the name of its ask; works only inside a message between nodes, and fails elsewhere.
impl<T: Message> Serialize for Reply<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = |passage: &Arc<dyn Carrier>| {
            let asks = &passage.home().system().core().asks;
            match self.travel(asks, passage.number()) {
                Travel::From(ask) => WireReply { whose: Whose::Sender, ask }.serialize(serializer),
                Travel::Further(ReplyAddress { carrier, ask, .. }) => {
                    WireReply { whose: whose(passage, &carrier), ask }.serialize(serializer)
                }
                Travel::Unwanted => WireReply { whose: Whose::Nobody, ask: 0 }.serialize(serializer),
            }
        };
        passage::current(wire).unwrap_or_else(|| Err(S::Error::custom(NOT_HERE)))
    }
}

impl<'de, T: Message> Deserialize<'de> for Reply<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WireReply { whose, ask } = WireReply::deserialize(deserializer)?;
        let reply = |passage: &Arc<dyn Carrier>| match origin(passage, &whose) {
            Origin::There(carrier) => Self::abroad(ReplyAddress { carrier, ask, codec: passage::codec() }),
            Origin::Here => Self::home(&passage.home().system().core().asks, ask),
            Origin::Nobody => Self::unwanted(),
        };
        passage::current(reply).ok_or_else(|| D::Error::custom(NOT_HERE))
    }
}
