//! The oldest node and four others do not hear each other, one way: it is removed, and they are not.

use std::time::{Duration, Instant};

use super::one_cluster::{cluster_of, one_cluster};
use super::{Outcome, seconds};
use crate::fleet::{ANSWER_BOUND, Fleet, SETTLE_BOUND};

/// How long it may take until the node is removed. It has to be unheard for 10 of 15 s, in the gossip of most voters; if it is the coordinator, another takes its office first.
pub(crate) const BAD_LINKS_BOUND: Duration = Duration::from_secs(90);
/// How long the links stay bad after that: long enough for another removal.
const LONGER: Duration = Duration::from_secs(15);

pub(super) fn mute(fleet: &mut Fleet) -> Outcome {
    bad_links(fleet, |oldest, other| (oldest, other))
}

pub(super) fn deaf(fleet: &mut Fleet) -> Outcome {
    bad_links(fleet, |oldest, other| (other, oldest))
}

/// Cuts the ways that are made of the oldest and each of four others.
fn bad_links(fleet: &mut Fleet, way: fn(usize, usize) -> (usize, usize)) -> Outcome {
    fleet.form(7)?;
    let cluster = cluster_of(fleet)?;
    let by_age = fleet.by_age()?;
    let (Some((oldest, others)), began) = (by_age.split_first(), Instant::now()) else {
        return Err("there is nobody".to_owned());
    };
    let uid = fleet.uid(*oldest)?;
    // The two next to it hear everybody.
    for other in &others[2..] {
        let (from, to) = way(*oldest, *other);
        fleet.ground.cut(from, to)?;
    }
    let removed = fleet.removed(uid, others, began, BAD_LINKS_BOUND)?;
    // The last to say so may be behind the others.
    fleet.all_up_at(others, ANSWER_BOUND)?;
    let until = Instant::now() + LONGER;
    while Instant::now() < until {
        fleet.all_up_at(others, Duration::ZERO)?;
        // How long it lasts is what is tested.
        std::thread::sleep(Duration::from_millis(200));
    }
    fleet.ground.heal()?;
    let healed = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    let back = healed.elapsed();
    fleet.undisturbed_lives(others, began)?;
    one_cluster(fleet, began, &cluster)?;
    Ok(format!(
        "n{oldest} alone was removed, after {}; back {} after healing",
        seconds(removed),
        seconds(back)
    ))
}
