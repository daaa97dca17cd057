//! Seeds of everything at once: loss, repeats, reordering, cuts, pauses, crashes and clocks that go wrong.

use std::time::Duration;

use borough_protocol::settings::Settings;

use crate::rig::{Rig, SECOND, STORE, Weather};

const ALL: [&str; 5] = ["a", "b", "c", "d", "e"];

fn trouble(rig: &mut Rig) {
    let one = ALL[usize::try_from(rig.random.below(5)).expect("small")];
    let other = ALL[usize::try_from(rig.random.below(5)).expect("small")];
    match rig.random.below(8) {
        0 => rig.links.cut(&[STORE], &[one]),
        1 => rig.links.cut_one_way(&[STORE], &[one]),
        2 => rig.links.cut(&[STORE], &ALL),
        3 if one != other => rig.links.cut(&[one], &[other]),
        4 if rig.node(one).is_some() => rig.crash(one),
        5 if rig.node(one).is_some() => {
            let time = Duration::from_millis(rig.random.between(10, 3000));
            rig.freeze(one, time);
        }
        _ => rig.links.heal(),
    }
    for address in ALL {
        if rig.node(address).is_none() && rig.random.below(2) == 0 {
            rig.start(address);
        }
    }
}

#[test]
fn whatever_happens_the_rules_hold_and_the_cluster_heals() {
    for seed in 1..=40 {
        let mut rig = Rig::with(Settings::default(), &["a", "b", "c"], seed);
        rig.weather = Weather::FOUL;
        for address in ALL {
            let rate = rig.random.between(900, 1100);
            rig.rates.insert(address, rate);
            rig.start(address);
        }
        for _ in 0..25 {
            let time = Duration::from_millis(rig.random.between(1, 2000));
            rig.pass(time);
            trouble(&mut rig);
        }
        rig.links.heal();
        rig.weather = Weather::FAIR;
        rig.pass(15 * SECOND);
        for address in ALL {
            if rig.node(address).is_none() {
                rig.start(address);
            }
        }
        rig.wait_until(&format!("healed, seed {seed}"), 20 * SECOND, |rig| {
            rig.is_whole(&ALL) && rig.coordinator().is_some()
        });
    }
}
