//! What goes wrong.

use std::time::Duration;

use borough_protocol::voters::VoterId;

use super::{Event, Network, PLACES, Rig};
use crate::carrier::Carrier;

impl<L: Carrier> Rig<L> {
    pub(super) fn make_trouble(&mut self) {
        let (a, b) = (self.place(), self.place());
        let victim = self.victim();
        match self.random.below(14) {
            0 | 1 => self.crash(victim),
            2 => drop(self.network.cut.insert((a, b))),
            3 => self.network.cut.extend([(a, b), (b, a)]),
            4 => self.split(),
            5 => self.make_half_deaf(a),
            6 | 7 => self.network.cut.clear(),
            8 => self.worsen(),
            9 => self.begin_to_leave(victim),
            10 | 11 => self.compact(victim),
            12 => self.stand_for_no_reason(victim),
            _ => self.network = Network::healthy(),
        }
    }

    fn place(&mut self) -> usize {
        usize::try_from(self.random.below(PLACES as u64)).expect("few")
    }

    /// Anybody; one time in three the coordinator.
    fn victim(&mut self) -> VoterId {
        let all: Vec<VoterId> = self.hosts.keys().copied().collect();
        let office = self.hosts.iter().find(|(_, host)| host.log.in_office()).map(|(uid, _)| *uid);
        let any = *self.random.pick(&all).expect("somebody lives");
        office.filter(|_| self.random.below(3) == 0).unwrap_or(any)
    }

    fn split(&mut self) {
        let sides = self.random.between(1, (1 << PLACES) - 2);
        for a in 0..PLACES {
            for b in 0..PLACES {
                if (sides >> a) & 1 != (sides >> b) & 1 {
                    self.network.cut.insert((a, b));
                }
            }
        }
    }

    fn make_half_deaf(&mut self, a: usize) {
        for b in 0..PLACES {
            let cut = if self.random.below(2) == 0 { (a, b) } else { (b, a) };
            self.network.cut.insert(cut);
        }
    }

    fn worsen(&mut self) {
        self.network.lost_per_mille = self.random.below(3) * self.random.below(150);
        self.network.doubled_per_mille = self.random.below(200);
        let low = self.random.between(1, 20);
        let spread = if self.random.below(3) == 0 { 600 } else { 80 };
        self.network.delay_ms = (low, low + self.random.between(1, spread));
    }

    fn compact(&mut self, who: VoterId) {
        let Some(host) = self.hosts.get_mut(&who) else { return };
        host.log.compact(host.state.version, host.state);
        self.settle(who, Vec::new());
    }

    fn stand_for_no_reason(&mut self, who: VoterId) {
        if !self.harsh {
            return;
        }
        let (Some(host), mut out) = (self.hosts.get_mut(&who), Vec::new()) else { return };
        host.log.stand(self.now, &mut out);
        self.settle(who, out);
    }

    fn begin_to_leave(&mut self, who: VoterId) {
        let Some(host) = self.hosts.get_mut(&who) else { return };
        host.leaving.get_or_insert(self.now);
    }

    /// The fourth rule: who leaves goes on answering until no list in force names it, or for some seconds.
    pub(super) fn leave_if_unneeded(&mut self, who: VoterId) {
        let Some(since) = self.hosts.get(&who).and_then(|host| host.leaving) else { return };
        let named = self.lists_in_force().any(|voters| voters.names(who));
        if !named && self.hosts.len() > 1 {
            self.kill(who);
        } else if self.now > since + Duration::from_secs(4) {
            self.crash(who);
        }
    }

    fn crash(&mut self, who: VoterId) {
        if self.hosts.len() > 1 && (!self.survivable || self.rest_survives(who)) {
            self.kill(who);
        }
    }

    fn rest_survives(&self, who: VoterId) -> bool {
        let alive = |uid| uid != who && self.hosts.contains_key(&uid);
        self.now > self.crashed_at + Duration::from_millis(900)
            && self.lists_in_force().all(|voters| voters.quorum(alive))
    }

    fn kill(&mut self, who: VoterId) {
        let Some(host) = self.hosts.remove(&who) else { return };
        self.crashed_at = self.now;
        self.counts.crashes += 1;
        let pause = self.random.between(100, 1200);
        self.after(pause, Event::Start { place: host.place });
    }
}
