//! Ordinary situations of a cluster that keeps nothing on disk: power cycles, lost quorums, wrong seed lists.

use std::time::Duration;

use crate::hearing::Warnings;
use crate::rig::{BOUND, Outcome, Rig, address, after, all_of, each, secs};

const SEEDS: [usize; 3] = [0, 1, 2];
/// A founding that is allowed needs no longer than that.
const SOON: Duration = Duration::from_secs(20);

/// Three nodes, all of them seeds.
async fn three(seed: u64) -> Result<Rig, String> {
    let mut rig = Rig::new(seed, 3);
    rig.form(&SEEDS).await?;
    Ok(rig)
}

/// Those nodes crash at the same moment.
fn crash(rig: &mut Rig, nodes: &[usize]) {
    for number in nodes {
        rig.crash(*number);
    }
}

/// For a minute nobody works.
async fn all_wait(rig: &Rig) -> Outcome {
    let since = rig.history.len();
    rig.run(secs(60)).await;
    rig.nobody_works(since)
}

#[test]
fn a_power_cycle_after_which_all_come_back_founds_one_cluster() {
    each(0..10, |run| async move {
        let mut rig = three(5000 + run).await?;
        crash(&mut rig, &SEEDS);
        after(secs(2)).await;
        let first = usize::try_from(rig.random.below(3)).unwrap();
        for number in [first, (first + 2) % 3, (first + 1) % 3] {
            rig.start(number).await;
            let next = Duration::from_millis(rig.random.between(0, 3000));
            rig.run(next).await;
        }
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_times(2), concluded])
    });
}

#[test]
fn a_power_cycle_after_which_one_node_is_missing_founds_nothing_until_it_is_there() {
    each(0..3, |missing| async move {
        let mut rig = three(51).await?;
        crash(&mut rig, &SEEDS);
        after(secs(2)).await;
        for number in (0..3).filter(|number| *number != missing) {
            rig.start(number).await;
        }
        let waited = all_wait(&rig).await.map_err(|why| format!("while one is missing: {why}"));
        rig.start(missing).await;
        let concluded = rig.conclude(SOON).await;
        all_of([waited, rig.founded_times(2), concluded])
    });
}

/// Two of three are started again, without a list that names the third or with it; that one is dead for good.
async fn two_after_a_power_cycle(dead: usize, has_list: bool) -> Result<(Rig, [usize; 2]), String> {
    let mut rig = three(58).await?;
    crash(&mut rig, &SEEDS);
    after(secs(2)).await;
    let left = [(dead + 1) % 3, (dead + 2) % 3];
    for number in left {
        if has_list {
            rig.seeds_of(number, &left);
        }
        rig.start(number).await;
    }
    Ok((rig, left))
}

/// Which machine is dead for good.
#[test]
fn after_a_power_cycle_without_one_of_three_the_log_names_it_and_recover_goes_on_without() {
    each(0..3, |dead| async move {
        let (warnings, _guard) = Warnings::listen();
        let (rig, left) = two_after_a_power_cycle(dead, false).await?;
        let waited = all_wait(&rig).await;
        let lines = warnings.with("waiting for seeds before a cluster is founded or joined");
        let is_named = lines.iter().any(|line| line.contains(&format!(" never_answered=[n{dead}:1] ")));
        let named = if is_named { Ok(()) } else { Err(format!("the log does not name {dead}: {lines:?}")) };
        let node = rig.node(left[0]);
        let plan = node.recover::<&str>(&[]).await.map_err(|error| error.to_string())?;
        let silent = if plan.silent == [address(dead)] { Ok(()) } else { Err(format!("{plan:?}")) };
        let concluded = rig.conclude(SOON).await;
        all_of([waited, named, silent, rig.founded_times(2), concluded])
    });
}

/// Which machine is dead for good.
#[test]
fn after_a_power_cycle_without_one_of_three_a_list_without_it_is_enough() {
    each(0..3, |dead| async move {
        let (rig, _) = two_after_a_power_cycle(dead, true).await?;
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_times(2), concluded])
    });
}

/// Which node is left.
#[test]
fn two_of_three_crash_and_found_again_with_the_one_that_is_left() {
    each(0..3, |left| async move {
        let mut rig = three(52).await?;
        let crashed: Vec<_> = (0..3).filter(|number| *number != left).collect();
        crash(&mut rig, &crashed);
        rig.may_lose(&[left]);
        rig.run(secs(2)).await;
        for number in crashed {
            rig.start(number).await;
        }
        let whole = rig.until_whole(SOON).await;
        rig.heal();
        let concluded = rig.conclude(SOON).await;
        all_of([whole, rig.founded_times(2), concluded])
    });
}

/// The one that is left may have a quorum with nodes that the two do not know: while it is silent they found nothing.
#[tokio::test(start_paused = true)]
async fn two_of_three_crash_and_wait_for_the_one_that_is_cut_off() -> Outcome {
    let mut rig = three(53).await?;
    rig.cut(&[0, 1], &[2]);
    crash(&mut rig, &[0, 1]);
    rig.may_lose(&[2]);
    after(secs(2)).await;
    rig.start(0).await;
    rig.start(1).await;
    rig.run(secs(5)).await;
    let waited = all_wait(&rig).await.map_err(|why| format!("while one is cut off: {why}"));
    rig.heal();
    rig.may_lose(&[2]);
    let whole = rig.until_whole(SOON).await;
    rig.heal();
    let concluded = rig.conclude(SOON).await;
    all_of([waited, whole, rig.founded_times(2), concluded])
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_left_in_order_is_founded_again() -> Outcome {
    let mut rig = three(54).await?;
    rig.may_lose(&SEEDS);
    for number in SEEDS {
        rig.leave(number).await?;
    }
    for number in SEEDS {
        rig.start(number).await;
    }
    let concluded = rig.conclude(SOON).await;
    all_of([rig.founded_times(2), concluded])
}

#[tokio::test(start_paused = true)]
async fn a_cluster_of_one_that_crashes_waits_for_its_seeds() -> Outcome {
    let mut rig = three(55).await?;
    rig.leave(2).await?;
    rig.until_settled(BOUND).await?;
    rig.leave(1).await?;
    rig.until_settled(BOUND).await?;
    rig.crash(0);
    after(secs(2)).await;
    rig.start(0).await;
    let waited = all_wait(&rig).await;
    rig.start(1).await;
    rig.start(2).await;
    let concluded = rig.conclude(SOON).await;
    all_of([waited, rig.founded_times(2), concluded])
}

/// The others are gone for good, or so the operator believes: they come back later, and join.
#[tokio::test(start_paused = true)]
async fn from_three_nodes_to_one_that_crashes_and_recovers_and_back_to_three() -> Outcome {
    let mut rig = three(59).await?;
    for number in [2, 1] {
        rig.leave(number).await?;
        rig.until_settled(BOUND).await?;
    }
    rig.crash(0);
    after(secs(2)).await;
    rig.start(0).await;
    let waited = all_wait(&rig).await;
    let plan = rig.node(0).recover::<&str>(&[]).await.map_err(|error| error.to_string())?;
    let silent = if plan.silent == [address(1), address(2)] { Ok(()) } else { Err(format!("{plan:?}")) };
    rig.until_settled(SOON).await?;
    let alone = rig.conclude(SOON).await;
    let recovered = rig.view(0).cluster;
    for number in [1, 2] {
        rig.start(number).await;
        rig.until_settled(BOUND).await?;
    }
    let same = if rig.view(2).cluster == recovered { Ok(()) } else { Err("another cluster".to_owned()) };
    let concluded = rig.conclude(SOON).await;
    all_of([waited, silent, alone, same, rig.founded_times(2), concluded])
}

#[tokio::test(start_paused = true)]
async fn nodes_wait_for_a_seed_that_never_existed() -> Outcome {
    let mut rig = Rig::new(56, 2);
    for number in [0, 1] {
        rig.seeds_of(number, &[0, 1, 9]);
        rig.start(number).await;
    }
    all_wait(&rig).await
}

/// The one exception of a cluster without disks: two clusters run until they meet. Then the older one wins, and loses nothing.
#[tokio::test(start_paused = true)]
async fn all_seeds_leave_and_come_back_cut_off_and_the_older_cluster_wins_when_they_meet() -> Outcome {
    let mut rig = Rig::new(57, 5);
    rig.form(&[0, 1]).await?;
    let older = rig.view(2).cluster;
    for number in [0, 1] {
        rig.leave(number).await?;
    }
    rig.until_settled(BOUND).await?;
    let uids = |rig: &Rig| [2, 3, 4].map(|number| rig.node(number).uid());
    let before = uids(&rig);
    rig.cut(&[0, 1], &[2, 3, 4]);
    rig.start(0).await;
    rig.start(1).await;
    rig.run(secs(20)).await;
    let counts = rig.counts(2).await?;
    rig.heal();
    rig.until_whole(BOUND).await?;
    let won = (rig.view(2).cluster == older && uids(&rig) == before).then_some(());
    let won = won.ok_or_else(|| format!("the older cluster did not win: {}", rig.standings()));
    let later = rig.counts(2).await?;
    let lost = counts.iter().zip(&later).filter(|(before, now)| now <= before).count();
    let kept = if lost == 0 { Ok(()) } else { Err(format!("{lost} entities lost acknowledged counts")) };
    all_of([won, kept])
}
