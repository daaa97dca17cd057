//! A founder founds only with the word of everybody that had a promise of it, or of one that promised to it, and did not give it back.
//!
//! A promise on a disk outlasts the process that gave it: the one that had it may have founded a cluster that nobody has joined yet. Judged by what the
//! founder was told for its present attempt, and by its own disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use borough_protocol::disk::Image;
use borough_protocol::formation::Vow;
use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::node::Message;

use crate::sim::violation::Violation;

/// What others said to one life in its present attempt to found a cluster.
#[derive(Debug, Default)]
pub(super) struct Vows {
    attempt: Option<u32>,
    /// By address: whether it promises, and who had a promise of it before.
    said: BTreeMap<Address, (bool, Arc<[Address]>)>,
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
            let Vow { seed, granted, pledged, .. } = vow;
            self.said.insert(seed.clone(), (*granted, pledged.clone()));
        }
    }

    /// The life founds a cluster, with that disk.
    pub(super) fn founds(&self, (uid, own): (Uid, &Address), image: &Image) -> Result<(), Violation> {
        let of_others =
            self.said.values().filter(|(granted, _)| *granted).flat_map(|(_, pledged)| pledged.iter());
        let all: BTreeSet<&Address> =
            image.pledges.iter().map(|pledge| &pledge.address).chain(of_others).collect();
        let promises = |address: &Address| self.said.get(address).is_some_and(|(granted, _)| *granted);
        match all.into_iter().find(|address| *address != own && !promises(address)) {
            Some(address) => {
                let text =
                    format!("{uid:?} founds a cluster without the word of {address}, which had a promise");
                Err(Violation::Safety("pledged", text))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::disk::Pledge;
    use borough_protocol::formation::Past;
    use borough_protocol::voters::VoterId;

    use super::*;
    use crate::sim::invariants::samples::uid;

    #[test]
    fn who_had_a_promise_is_heard_first() {
        let [own, seed, other] = ["a", "m", "b"].map(|name| Address::new(name.to_owned()));
        let mut vows = Vows { attempt: Some(1), said: BTreeMap::new() };
        let mut image = Image::new(VoterId::of_life(uid(1)));
        let vow = |from: &Address, attempt, pledged: &[&Address]| {
            Message::Promise(Vow {
                seed: from.clone(),
                attempt,
                granted: true,
                withdrawn: false,
                holder: own.clone(),
                past: Past::Fresh,
                pledged: pledged.iter().copied().cloned().collect(),
                heard_of: [].into(),
            })
        };
        let founds = |vows: &Vows, image: &Image| vows.founds((uid(1), &own), image);
        vows.hears(&vow(&seed, 1, &[&own]));
        assert!(founds(&vows, &image).is_ok());
        vows.hears(&vow(&seed, 1, &[&other]));
        vows.hears(&vow(&other, 0, &[]));
        assert!(matches!(founds(&vows, &image), Err(Violation::Safety("pledged", _))), "an earlier attempt");
        vows.hears(&vow(&other, 1, &[]));
        assert!(founds(&vows, &image).is_ok());
        let pledge =
            Pledge { voter: image.voter, address: Address::new("c".to_owned()), uid: uid(3), attempt: 1 };
        image.pledges = [pledge].into();
        assert!(founds(&vows, &image).is_err(), "a promise of its own");
    }
}
