//! Does what the machine of a node wants done.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Command, Effect, End, Event, Input, Node, Peer};
use borough_protocol::time::Timestamp;

use super::driver::Perform;
use super::peers::Peers;
use super::words;
use crate::link::Links;
use crate::topology::{MemberState, Publisher, Standing};

/// The hands of one life.
pub(super) struct Hands<'a> {
    pub(super) peers: Peers,
    pub(super) links: Arc<Links>,
    pub(super) publisher: &'a mut Publisher,
    /// Whom the links were told of.
    pub(super) reached: BTreeSet<Uid>,
}

impl Perform<Node> for Hands<'_> {
    type Outcome = End;

    fn perform(&mut self, machine: &Node, effect: Effect, then: &mut Vec<Input>) -> ControlFlow<End> {
        match effect {
            // There is no store yet; settings that need one are refused.
            Effect::Send { to: Peer::Node(Uid::STORE), .. } => {}
            Effect::Send { to, message } => {
                if let Some(bytes) = words::encode(&message) {
                    self.peers.send(&to, machine, bytes);
                }
            }
            Effect::Close(uid) => {
                self.peers.close(uid);
                self.links.close(uid);
                self.reached.remove(&uid);
            }
            Effect::Publish(event) => self.publish(&event, then),
            Effect::End(end) => return ControlFlow::Break(end),
        }
        ControlFlow::Continue(())
    }

    fn flush(&mut self, machine: &Node, _now: Timestamp) {
        if !self.publisher.refresh(machine) {
            return;
        }
        let snapshot = self.publisher.current();
        let others = snapshot.members.iter().filter(|member| member.incarnation != snapshot.incarnation);
        for member in others.filter(|member| member.state != MemberState::Down) {
            if self.reached.insert(member.uid()) {
                self.links.reached(&member.incarnation);
            }
        }
    }
}

impl Hands<'_> {
    fn publish(&mut self, event: &Event, then: &mut Vec<Input>) {
        let goes = matches!(self.publisher.standing(), Standing::Leaving | Standing::Closing);
        match event {
            Event::Joined(cluster) => {
                tracing::info!(?cluster, "found its cluster");
                self.publisher.stand(Standing::Joining);
            }
            Event::Suspended if *self.publisher.standing() == Standing::Member => {
                tracing::warn!("suspended: too few voters hear this node; it must not work until they do");
                self.publisher.stand(Standing::Suspended);
            }
            Event::Resumed if !goes => {
                tracing::info!("is a member and may work");
                self.publisher.stand(Standing::Member);
            }
            Event::Drain => {
                self.publisher.stand(Standing::Leaving);
                // Nothing lives here that could move: what is only here ends with the node.
                then.push(Input::Command(Command::Drained));
            }
            Event::Closing => self.publisher.stand(Standing::Closing),
            Event::Removed(uid, why) => {
                tracing::info!(%uid, ?why, "a member was removed");
                self.publisher.stir();
            }
            Event::Admitted(_) | Event::Topology | Event::Table(_) => self.publisher.stir(),
            Event::Suspended | Event::Resumed | Event::Freed(_) => {}
        }
    }
}
