//! A founder founds only with the word of everybody that had a promise of it, or of one that promised to it, and did not give it back.
//!
//! A promise on a disk outlasts the process that gave it: the one that had it may have founded a cluster that nobody has joined yet. Judged by what the
//! founder was told for its present attempt, and by its own disk once it has all that the founder gave it to write: a promise may have been given back
//! while the disk was full.

use std::collections::BTreeMap;

use borough_protocol::disk::{Image, Pledge};
use borough_protocol::formation::Vow;
use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::node::Message;

use crate::sim::violation::Violation;

/// What others said to one life in its present attempt to found a cluster.
#[derive(Debug, Default)]
pub(super) struct Vows {
    attempt: Option<u32>,
    /// By address.
    said: BTreeMap<Address, Vow>,
}

impl Vows {
    /// The life says something.
    pub(super) fn says(&mut self, message: &Message) {
        if let Message::Knock(knock) = message
            && knock.attempt.is_some()
            && knock.attempt != self.attempt
        {
            self.attempt = knock.attempt;
            self.said.clear();
        }
    }

    /// The life hears something.
    pub(super) fn hears(&mut self, message: &Message) {
        let Message::Promise(vow) = message else { return };
        if Some(vow.attempt) == self.attempt {
            self.said.insert(vow.seed.clone(), vow.clone());
        }
    }

    /// The life founds a cluster, with that disk.
    pub(super) fn founds(&self, uid: Uid, image: &Image) -> Result<(), Violation> {
        let of_others = self.said.values().filter(|vow| vow.granted).flat_map(|vow| vow.pledged.iter());
        let says = |pledge: &Pledge| {
            let vow = self.said.get(&pledge.address);
            vow.is_some_and(|vow| vow.granted && vow.voter.is_of_directory(pledge.voter))
        };
        let is_open = |pledge: &&Pledge| !pledge.voter.is_of_directory(image.voter) && !says(pledge);
        match image.pledges.iter().chain(of_others).find(is_open) {
            Some(pledge) => {
                let text =
                    format!("{uid:?} founds a cluster without the word of the one that had {pledge:?}");
                Err(Violation::Safety("pledged", text))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::formation::Past;
    use borough_protocol::voters::VoterId;

    use super::*;
    use crate::sim::invariants::samples::uid;

    #[test]
    fn who_had_a_promise_is_heard_first() {
        let [own, seed, other] = ["a", "m", "b"].map(|name| Address::new(name.to_owned()));
        let mut vows = Vows { attempt: Some(1), ..Vows::default() };
        let mut image = Image::new(VoterId::of_life(uid(1)));
        let pledge = |name: &Address, of: u64| Pledge {
            voter: VoterId::of_life(uid(of)),
            address: name.clone(),
            uid: uid(of),
            attempt: 1,
        };
        let vow = |from: &Address, of: u64, attempt, pledged: &[Pledge]| {
            Message::Promise(Vow {
                seed: from.clone(),
                voter: VoterId::of_life(uid(of)),
                attempt,
                granted: true,
                withdrawn: false,
                holder: own.clone(),
                past: Past::Fresh,
                pledged: pledged.into(),
                heard_of: [].into(),
            })
        };
        let founds = |vows: &Vows, image: &Image| vows.founds(uid(1), image);
        vows.hears(&vow(&seed, 2, 1, &[pledge(&own, 1)]));
        assert!(founds(&vows, &image).is_ok());
        vows.hears(&vow(&seed, 2, 1, &[pledge(&other, 3)]));
        vows.hears(&vow(&other, 3, 0, &[]));
        assert!(matches!(founds(&vows, &image), Err(Violation::Safety("pledged", _))), "an earlier attempt");
        vows.hears(&vow(&other, 4, 1, &[]));
        assert!(founds(&vows, &image).is_err(), "another directory at its address");
        vows.hears(&vow(&other, 3, 1, &[]));
        assert!(founds(&vows, &image).is_ok());
        image.pledges = [pledge(&Address::new("c".to_owned()), 5)].into();
        assert!(founds(&vows, &image).is_err(), "a promise of its own");
    }
}
