//! Whether the cluster is as it should be when nothing is wrong any more.

use super::World;
use crate::sim::invariants;
use crate::sim::life::Life;

impl World {
    /// What keeps the cluster from being as it should be, and the rule that says so; none if nothing does.
    pub(in crate::sim) fn unfinished(&self) -> Option<(&'static str, String)> {
        match self.closed {
            Some(cluster) => {
                Some(("closing", invariants::unclosed((cluster, self.closed_at), &self.lives())?))
            }
            None => Some(("agreement", self.unsettled()?)),
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
