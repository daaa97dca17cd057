//! Whether the cluster is as it should be when nothing is wrong any more.

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Removal;

use super::World;
use crate::sim::invariants;
use crate::sim::life::Life;
use crate::sim::moment::Moment;
use crate::sim::plan::nanos;

impl World {
    /// What keeps the cluster from being as it should be, and the rule that says so; none if nothing does.
    pub(in crate::sim) fn unfinished(&self) -> Option<(&'static str, String)> {
        match self.closed {
            Some(cluster) => {
                let heard_after = nanos(self.settings.seed_ask_interval + self.settings.round_trip);
                let unclosed = invariants::unclosed((cluster, self.closed_at), &self.lives(), heard_after)?;
                Some(("closing", unclosed))
            }
            None => Some(("agreement", self.unsettled()?)),
        }
    }

    /// From when on a cluster that heals has its time: an order to remove a member, given before, is a fault that strikes once it is carried out. The node that
    /// took note of it repeats it until then, and is heard only as a member. So is an order to leave: the node is to come back, and joins when it does.
    pub(in crate::sim) fn undisturbed_since(&self, healing: Moment) -> Moment {
        self.removed_on_request.values().copied().fold(healing.max(self.returned), Moment::max)
    }

    /// A node hears that somebody was removed: notes when the first does, if it was by an order.
    pub(super) fn note_order(&mut self, removed: Uid, why: Removal) {
        if why == Removal::Operator {
            self.removed_on_request.entry(removed).or_insert(self.now);
        }
    }

    fn unsettled(&self) -> Option<String> {
        if let Some(slot) = self.slots.first_deserted() {
            return Some(format!("nobody runs in slot {slot}"));
        }
        let lasting = self.lasting();
        let is_elsewhere = |life: &&Life| lasting.is_some_and(|it| life.node.cluster() != Some(it));
        if let Some(life) = self.lives().into_iter().find(is_elsewhere) {
            let (uid, cluster) = (life.uid(), life.node.cluster());
            return Some(format!("{uid:?} is in {cluster:?}, and {lasting:?} has to go on"));
        }
        invariants::unsettled(self.now, &self.lives(), &self.settings).or_else(|| self.unsettled_shards())
    }

    fn lives(&self) -> Vec<&Life> {
        self.slots.running().map(|(_, life)| life).collect()
    }
}
