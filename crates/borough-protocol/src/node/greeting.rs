//! Those outside: one who knocks is welcomed, refused or told that it is gone, and another founding is met.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::interface::{Effect, End, GaveUp, Greeting, Message, Peer};
use super::participant::Participant;
use crate::formation::{Knock, Welcome};
use crate::gossip::Gone;
use crate::incarnation::Uid;
use crate::lease::Standing;
use crate::machine::Effects;
use crate::settings::check;
use crate::time::Timestamp;

impl Participant {
    pub(super) fn knocked(&mut self, now: Timestamp, knock: &Knock, effects: &mut Effects<Effect>) {
        let to = Peer::Node(knock.me.uid);
        if let Err(refusal) = check(self.identity.settings.cluster_settings(), &knock.settings) {
            return effects.push(Effect::Send { to, message: Message::Refused(refusal) });
        }
        if self.table.is_closing() || !self.is_alive(now) {
            return;
        }
        if self.is_gone(knock.me.uid) {
            return effects.push(Effect::Send { to, message: Message::Gone });
        }
        let guests = self.gossip.document().guests_at(&knock.me.address);
        let older: Vec<Uid> = guests.filter(|uid| *uid != knock.me.uid).collect();
        for older in older {
            self.gossip.bury(now, older, Gone::Replaced);
        }
        self.gossip.add_joining(now, knock.me.clone(), knock.facts.clone());
        let gossip = Arc::new(self.gossip.document().everything(now, false));
        let table = self.feeder.whole(&self.table);
        effects.push(Effect::Send { to, message: Message::Welcome(Arc::new(Welcome { table, gossip })) });
    }

    /// Whether the cluster lives, as far as this node can tell. Who has no part in a living one must welcome nobody: guests of a
    /// dead cluster would go on welcoming each other for ever.
    fn is_alive(&self, now: Timestamp) -> bool {
        match self.holder.standing(now) {
            Standing::Running => true,
            Standing::Suspended => false,
            Standing::Guest => now.since(self.holder.heard()) < self.identity.settings.timing().suspect_after,
        }
    }

    /// Another founding of this cluster is there, or its like answers: the lesser one gives up.
    ///
    /// One that lives is greater than one that has not begun to act: two seeds that restart must not end the cluster of the others.
    pub(super) fn meet(
        &mut self,
        now: Timestamp,
        from: Uid,
        other: Greeting,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        let ours = self.greeting(now);
        if other.cluster.name != ours.cluster.name || other.cluster == ours.cluster {
            return None;
        }
        if other > ours {
            return Some(End::GaveUp(GaveUp::Overtaken(other.cluster)));
        }
        effects.push(Effect::Send { to: Peer::Node(from), message: Message::Hello(ours) });
        None
    }

    /// How it greets others.
    pub(super) fn greeting(&self, now: Timestamp) -> Greeting {
        let lives = !self.table.members().is_empty() && self.is_alive(now);
        Greeting { lives, cluster: self.table.cluster() }
    }
}
