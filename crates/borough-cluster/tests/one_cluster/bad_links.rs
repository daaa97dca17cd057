//! Some links of one node are bad, and every other node is well.

use std::collections::BTreeSet;

use borough_cluster::{Member, Uid};

use crate::rig::{Outcome, Rig, all_of, secs};

/// Makes the links between a node and four others bad; the remaining two nodes hear everybody.
type Fault = fn(&Rig, usize, &[usize]);

/// The oldest of seven nodes is removed, because that mends all bad links, and the six others are not; it is back once the links are good again.
async fn one_node_is_removed(seed: u64, fault: Fault) -> Outcome {
    let mut rig = Rig::new(seed, 7);
    rig.form(&[0, 1, 2]).await?;
    let age = rig.by_age();
    let (bad, good) = (age[0], &age[1..]);
    let uids = |rig: &Rig| -> BTreeSet<Uid> { good.iter().map(|number| rig.node(*number).uid()).collect() };
    let before = uids(&rig);
    fault(&rig, bad, &age[3..]);
    rig.may_lose(&[bad]);
    rig.run(secs(60)).await;
    let stay = good.iter().try_for_each(|number| {
        let view = rig.view(*number);
        let up: BTreeSet<Uid> = view.up().map(Member::uid).collect();
        (up == before).then_some(()).ok_or_else(|| {
            format!(
                "node {bad} has the bad links, and node {number} does not see all others: {}",
                rig.standings()
            )
        })
    });
    let lives = (uids(&rig) == before).then_some(()).ok_or("a healthy node lost its membership".to_owned());
    rig.heal();
    let concluded = rig.conclude(secs(300)).await;
    all_of([stay, lives, rig.founded_once(), concluded])
}

#[tokio::test(start_paused = true)]
async fn the_node_that_four_others_cannot_hear_is_removed_and_not_the_four() -> Outcome {
    one_node_is_removed(20, |rig, bad, four| rig.cut(&[bad], four)).await
}

#[tokio::test(start_paused = true)]
async fn the_node_whose_words_do_not_reach_four_others_is_removed_and_not_the_four() -> Outcome {
    one_node_is_removed(21, |rig, bad, four| rig.cut_one_way(&[bad], four)).await
}
