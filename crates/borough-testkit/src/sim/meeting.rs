//! A node of one cluster is greeted by a node of another: how things stand before it decides whether to yield.

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Greeting, Input, Message};
use borough_protocol::table::Cluster;

use super::life::Life;
use super::moment::Moment;

/// What the rules of a meeting judge.
#[derive(Debug)]
pub(super) struct Meeting {
    /// The node that is greeted.
    pub(super) uid: Uid,
    /// Its cluster.
    pub(super) ours: Cluster,
    /// Whether it has a lease of that cluster.
    pub(super) works: bool,
    /// What it is told.
    pub(super) theirs: Greeting,
}

impl Meeting {
    /// The meeting that this input is, if it is one.
    pub(super) fn of(now: Moment, life: &Life, input: &Input) -> Option<Self> {
        let Input::Message { message: Message::Hello(theirs), .. } = input else { return None };
        let ours = life.node.cluster().filter(|ours| *ours != theirs.cluster)?;
        let works = life.node.may_run(life.local(now));
        Some(Self { uid: life.uid(), ours, works, theirs: theirs.clone() })
    }
}
