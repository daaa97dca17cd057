//! Does what the machine of a node wants done.

use std::ops::ControlFlow;
use std::sync::Arc;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Command, Effect, End, Event, Input, Node, Peer};
use borough_protocol::time::Timestamp;
use tokio::sync::mpsc;

use super::driver::{Heard, Perform};
use super::peers::Peers;
use super::words;
use crate::link::Hub;
use crate::topology::{Publisher, Standing};

/// The hands of one life.
pub(super) struct Hands<'a> {
    pub(super) peers: Peers,
    pub(super) hub: Arc<Hub>,
    pub(super) publisher: &'a mut Publisher,
    /// Where it hears itself, later.
    pub(super) heard: mpsc::Sender<Heard<Input>>,
}

impl Perform<Node> for Hands<'_> {
    type Outcome = End;

    fn perform(&mut self, machine: &Node, effect: Effect, _then: &mut Vec<Input>) -> ControlFlow<End> {
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
                self.hub.close(uid);
            }
            Effect::Publish(event) => self.publish(&event),
            Effect::End(end) => return ControlFlow::Break(end),
        }
        ControlFlow::Continue(())
    }

    fn flush(&mut self, machine: &Node, _now: Timestamp) {
        self.publisher.refresh(machine);
    }
}

impl Hands<'_> {
    fn publish(&mut self, event: &Event) {
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
                // Nothing lives here that could move; but what was accepted for others is to reach them.
                let (hub, heard) = (self.hub.clone(), self.heard.clone());
                tokio::spawn(async move {
                    hub.settle().await;
                    let input = Input::Command(Command::Drained);
                    let _ = heard.send(Heard::new(input)).await;
                });
            }
            Event::Closing => self.publisher.stand(Standing::Closing),
            Event::Removed(uid, why) => {
                tracing::info!(%uid, ?why, "a member was removed");
                // The log may need its control lane for a while; nobody needs its data lanes.
                self.hub.close(*uid);
                self.publisher.stir();
            }
            Event::Admitted(_) | Event::Topology | Event::Table(_) => self.publisher.stir(),
            Event::Suspended | Event::Resumed | Event::Freed(_) => {}
        }
    }
}
