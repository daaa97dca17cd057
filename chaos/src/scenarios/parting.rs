//! Ways that are cut, both ways or one, and healed or not.

use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND, seconds};
use crate::fleet::{Fleet, SETTLE_BOUND};
use crate::words::View;

/// How long a cut lasts that is not healed: several times as long as anything that a node waits for.
const NOT_HEALED: Duration = Duration::from_secs(30);

pub(super) fn two_from_three(fleet: &mut Fleet) -> Outcome {
    part(fleet, &[1, 2], &[3, 4, 5])
}

pub(super) fn one_from_four(fleet: &mut Fleet) -> Outcome {
    part(fleet, &[1], &[2, 3, 4, 5])
}

fn part(fleet: &mut Fleet, fewer: &[usize], more: &[usize]) -> Outcome {
    fleet.form(5)?;
    let went_on = split(fleet, fewer, more)?;
    fleet.ground.heal()?;
    let healed = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    Ok(format!(
        "the others agreed after {}, all after healing within {}",
        seconds(went_on),
        seconds(healed.elapsed())
    ))
}

/// Cuts both ways, and waits until the larger part goes on alone and the smaller does not work.
fn split(fleet: &mut Fleet, fewer: &[usize], more: &[usize]) -> Result<Duration, String> {
    let cut = Instant::now();
    fleet.ground.part(fewer, more)?;
    for &place in fewer {
        fleet.hear(place, REMOVAL_BOUND, |heard| match heard.view() {
            Some(view) if view.standing != "member" => Ok(()),
            _ => Err("it works without a quorum".to_owned()),
        })?;
    }
    fleet.settled_at(more, SETTLE_BOUND)?;
    Ok(cut.elapsed())
}

pub(super) fn not_healed(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let began = Instant::now();
    let cluster = fleet.status(1)?.view.cluster;
    let before = [fleet.uid(1)?, fleet.uid(2)?];
    let went_on = split(fleet, &[1, 2], &[3, 4, 5])?;
    while began.elapsed() < NOT_HEALED {
        for (place, before) in [1, 2].into_iter().zip(before) {
            let view = fleet.status(place)?.view;
            if view.standing != "suspended" || view.uid != before || view.cluster != cluster {
                let View { standing, uid, cluster, .. } = view;
                return Err(format!("n{place} of the smaller part is {standing} as {uid} of {cluster:?}"));
            }
        }
        // How long it lasts is what is tested.
        std::thread::sleep(Duration::from_millis(200));
    }
    fleet.settled_at(&[3, 4, 5], SETTLE_BOUND)?;
    Ok(format!("the 3 agreed after {}, the 2 stayed suspended for {NOT_HEALED:?}", seconds(went_on)))
}

pub(super) fn one_way(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let mute = super::killing::coordinator(fleet)?;
    let others: Vec<_> = fleet.places().into_iter().filter(|place| *place != mute).collect();
    let cut = Instant::now();
    for &other in &others {
        fleet.ground.cut(mute, other)?;
    }
    fleet.settled_at(&others, SETTLE_BOUND)?;
    let went_on = cut.elapsed();
    fleet.hear(mute, REMOVAL_BOUND, |heard| match heard.view() {
        Some(view) if view.standing != "member" => Ok(()),
        _ => Err("it works though nobody hears it".to_owned()),
    })?;
    fleet.ground.heal()?;
    let healed = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    Ok(format!(
        "the coordinator was mute: the others agreed after {}, all after healing within {}",
        seconds(went_on),
        seconds(healed.elapsed())
    ))
}

pub(super) fn one_way_pair(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let before: Vec<_> =
        fleet.places().into_iter().map(|place| fleet.uid(place)).collect::<Result<_, _>>()?;
    let cluster = fleet.status(1)?.view.cluster;
    fleet.ground.cut(4, 5)?;
    // Long enough for any removal that this causes.
    let until = Instant::now() + Duration::from_secs(8);
    while Instant::now() < until {
        for place in [1, 2, 3] {
            let view = fleet.status(place)?.view;
            if view.standing != "member" || view.cluster != cluster {
                return Err(format!("one that no cut touches is {} of {:?}", view.standing, view.cluster));
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    fleet.ground.heal()?;
    let healed = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    let after: Vec<_> = fleet.places().into_iter().map(|place| fleet.uid(place)).collect::<Result<_, _>>()?;
    let kept = before.iter().zip(&after).filter(|(before, after)| before == after).count();
    Ok(format!("{kept} of 5 kept their lives, all agreed {} after healing", seconds(healed.elapsed())))
}
