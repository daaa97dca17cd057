//! Does what the machine of a node wants done.

use std::ops::ControlFlow;
use std::sync::Arc;

use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::node::{Effect, End, Event, Node, Peer};
use borough_protocol::table::{Removal, Table};
use borough_protocol::time::Timestamp;

use super::disk::Disk;
use super::driver::Perform;
use super::outlook::Outlook;
use super::peers::Peers;
use super::waiting::Waiting;
use super::words;
use crate::link::Hub;
use crate::sharding::Sharding;
use crate::topology::{Publisher, Standing};

/// The hands of one life.
pub(super) struct Hands<'a> {
    pub(super) peers: Peers,
    pub(super) hub: Arc<Hub>,
    pub(super) sharding: Arc<Sharding>,
    pub(super) outlook: Arc<Outlook>,
    pub(super) publisher: &'a mut Publisher,
    pub(super) waiting: Waiting,
    pub(super) disk: Option<&'a mut Disk>,
}

impl Perform<Node> for Hands<'_> {
    type Outcome = End;

    fn perform(&mut self, machine: &Node, effect: Effect) -> ControlFlow<End> {
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
            Effect::Publish(event) => self.publish(machine, &event),
            Effect::Write { number, write } => {
                if let Some(disk) = &mut self.disk {
                    disk.write(number, write);
                }
            }
            Effect::End(end) => return ControlFlow::Break(end),
        }
        ControlFlow::Continue(())
    }

    fn flush(&mut self, machine: &Node, now: Timestamp) {
        if let Some(disk) = &mut self.disk {
            disk.check();
        }
        if machine.is_ended() {
            // It knows of nobody any more; what it knew last stays to be remembered.
            return;
        }
        self.sharding.lease.renew(machine.runs_until());
        self.sharding.show(|sight| {
            let known = sight.table.as_ref().map(|table| table.version());
            let is_new = machine.table().map(Table::version) != known;
            if is_new {
                sight.table = machine.table().cloned().map(Arc::new);
            }
            is_new
        });
        self.outlook.look(machine, now);
        self.waiting.look(machine, now);
        self.publisher.refresh(machine, now);
    }
}

impl Hands<'_> {
    fn publish(&mut self, machine: &Node, event: &Event) {
        let goes = matches!(self.publisher.standing(), Standing::Leaving | Standing::Closing);
        if matches!(event, Event::Suspended | Event::Resumed) {
            self.sharding.lease_changed(*event == Event::Resumed);
        }
        match event {
            Event::Joined(cluster) => {
                tracing::info!(?cluster, "node belongs to a cluster");
                self.publisher.stand(Standing::Joining);
            }
            Event::Suspended if *self.publisher.standing() == Standing::Member => {
                tracing::warn!(
                    "node suspended: no majority of the voters answers it; it runs nothing and keeps its state until they do"
                );
                self.publisher.stand(Standing::Suspended);
            }
            Event::Resumed if !goes => {
                tracing::info!("node is a member with a lease: it runs entities");
                self.publisher.stand(Standing::Member);
            }
            Event::Drain => {
                tracing::info!(
                    "node leaves: it waits until its shards have moved to other members; those of types that no other member hosts end here"
                );
                self.publisher.stand(Standing::Leaving);
                self.sharding.show(|sight| !std::mem::replace(&mut sight.drains, true));
            }
            Event::Closing => {
                tracing::info!(
                    "cluster shuts down: all of its members leave, or it was closed; node waits until the others know"
                );
                self.publisher.stand(Standing::Closing);
            }
            Event::Removed(uid, why) => {
                self.say_removed(*uid, *why);
                // The log may need its control lane for a while; nobody needs its data lanes.
                self.hub.close(*uid);
                self.publisher.stir();
            }
            Event::Admitted(_) | Event::Topology | Event::Table(_) => self.publisher.stir(),
            Event::LogLost(uid) => {
                let path = self.disk.as_ref().filter(|_| *uid == machine.uid()).map(|disk| disk.path());
                tracing::error!(
                    %uid,
                    address = machine.address_of(*uid).map_or("unknown", Address::as_str),
                    path = path.map(|path| tracing::field::display(path.display())),
                    "the log of a voter is shorter than what it had confirmed: its data directory was restored from a copy, or its disk lost writes. It does not vote \
                     until it has been taken in as a new voter; look at that machine's disk"
                );
            }
            Event::Rests(time) => {
                tracing::warn!(
                    ?time,
                    "the new settings shorten leases: this node does not vote until every lease that was granted under the old settings has expired"
                );
            }
            Event::EraIgnored(cluster) => {
                tracing::warn!(
                    ?cluster,
                    "the era of an earlier cluster is more than ten years ahead of this node's clock and is ignored: a clock was wrong when that cluster was founded, or is wrong \
                     here"
                );
            }
            Event::AddressTaken(member, guest) => {
                tracing::error!(
                    %member,
                    %guest,
                    address = machine.address_of(*member).map_or("unknown", Address::as_str),
                    "two nodes say that they listen at the same address: the one that is a member stays, the other one is not admitted. Give it an address of its own \
                     (advertise)"
                );
            }
            Event::Suspended | Event::Resumed | Event::Freed(_) => {}
        }
    }

    fn say_removed(&self, uid: Uid, why: Removal) {
        let last = self.publisher.current();
        let member = last.members.iter().find(|member| member.uid() == uid);
        let node = member.map_or("unknown", |member| member.node_id().as_str());
        let address = member.map_or("unknown", |member| member.address().as_str());
        match why {
            Removal::Goodbye => tracing::info!(node, address, "node left"),
            Removal::Replaced => {
                tracing::info!(
                    node,
                    address,
                    "node removed: its process was started again at the same address"
                );
            }
            Removal::Operator => tracing::warn!(node, address, "node removed: an operator ordered it"),
            Removal::Quiet => {
                tracing::warn!(node, address, "node removed: a majority of the voters does not hear it");
            }
            Removal::CutOff => {
                tracing::warn!(
                    node,
                    address,
                    "node removed: it and other members do not hear each other, and the fewest nodes are lost without it"
                );
            }
        }
    }
}
