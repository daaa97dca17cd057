//! Ordinary situations of a cluster whose nodes have data directories: whatever restarts, it is the same cluster.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use borough_cluster::{Discovery, DiscoveryError, Member, Seeds, Standing, VoterId};

use crate::hearing::Warnings;
use crate::history::Event;
use crate::rig::{BOUND, Rig, after, all_of, each, secs};

const SEEDS: [usize; 3] = [0, 1, 2];
/// A cluster goes on within that time after a majority of its voters is there.
const SOON: Duration = Duration::from_secs(20);

/// Three nodes, all of them seeds, each with a directory.
async fn three(seed: u64) -> Result<Rig, String> {
    let mut rig = Rig::durable(seed, 3);
    rig.form(&SEEDS).await?;
    Ok(rig)
}

fn crash(rig: &mut Rig, nodes: &[usize]) {
    for number in nodes {
        rig.crash(*number);
    }
}

/// The nodes as a run has them: each order of three once.
fn order(run: u64) -> [usize; 3] {
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][usize::try_from(run % 6).unwrap()]
}

/// Which shard each node owns.
async fn owners(rig: &Rig) -> BTreeMap<u32, usize> {
    let mut owners = BTreeMap::new();
    for number in rig.running() {
        for shard in rig.owned(number).await {
            owners.insert(shard, number);
        }
    }
    owners
}

/// How many shards have been moved since the processes that run now were started.
async fn moves(rig: &Rig) -> u64 {
    let mut moves = 0;
    for number in rig.running() {
        let stats = rig.node(number).sharding_stats_here().await;
        moves += stats.kinds.iter().map(|kind| kind.moves.came + kind.moves.called_off).sum::<u64>();
    }
    moves
}

#[test]
fn a_power_cycle_continues_the_same_cluster_and_shards_return_to_their_nodes() {
    each(0..12, |run| async move {
        let mut rig = three(8000 + run).await?;
        let (cluster, before) = (rig.view(0).cluster, owners(&rig).await);
        crash(&mut rig, &SEEDS);
        after(secs(2)).await;
        for number in order(run) {
            rig.start(number).await;
            after(Duration::from_millis(rig.random.between(0, 500))).await;
        }
        let concluded = rig.conclude(SOON).await;
        rig.run(secs(30)).await;
        let now = owners(&rig).await;
        let same = if rig.view(0).cluster == cluster { Ok(()) } else { Err("another cluster".to_owned()) };
        let returned = if now == before { Ok(()) } else { Err(format!("shards {before:?} became {now:?}")) };
        let unmoved = match moves(&rig).await {
            0 => Ok(()),
            moves => Err(format!("{moves} shards were moved after all were back")),
        };
        all_of([same, rig.founded_once(), concluded, returned, unmoved])
    });
}

/// Which node is late. The others have given its shards away by then, so it gets its share of them again.
#[test]
fn after_a_power_cycle_nobody_waits_for_a_node_that_is_late() {
    each(0..3, |late| async move {
        let mut rig = three(80).await?;
        let cluster = rig.view(0).cluster;
        crash(&mut rig, &SEEDS);
        after(secs(2)).await;
        for number in (0..3).filter(|number| *number != late) {
            rig.start(number).await;
        }
        let without = rig.conclude(SOON).await.map_err(|why| format!("while {late} is away: {why}"));
        rig.start(late).await;
        let concluded = rig.conclude(SOON).await;
        rig.run(secs(60)).await;
        let share = match rig.owned(late).await.len() {
            0 => Err(format!("{late} has no shards")),
            _ => Ok(()),
        };
        let same = if rig.view(0).cluster == cluster { Ok(()) } else { Err("another cluster".to_owned()) };
        all_of([without, same, rig.founded_once(), concluded, share, rig.judge()])
    });
}

/// Which machine is dead for good.
#[test]
fn a_power_cycle_with_one_dead_machine_of_three_continues_by_majority() {
    each(0..3, |dead| async move {
        let mut rig = three(81).await?;
        crash(&mut rig, &SEEDS);
        after(secs(2)).await;
        for number in (0..3).filter(|number| *number != dead) {
            rig.start(number).await;
        }
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

/// Which node is the only one that comes back at first.
#[test]
fn one_of_three_waits_until_a_second_one_is_there() {
    each(0..3, |first| async move {
        let mut rig = three(82).await?;
        crash(&mut rig, &SEEDS);
        after(secs(2)).await;
        rig.start(first).await;
        let since = rig.history.len();
        rig.run(secs(60)).await;
        let waited = rig.nobody_works(since);
        rig.start((first + 1) % 3).await;
        let concluded = rig.conclude(SOON).await;
        all_of([waited, rig.founded_once(), concluded])
    });
}

/// Which node is left.
#[test]
fn two_of_three_crash_and_return_to_the_one_that_is_left() {
    each(0..3, |left| async move {
        let mut rig = three(83).await?;
        let crashed: Vec<_> = (0..3).filter(|number| *number != left).collect();
        crash(&mut rig, &crashed);
        rig.run(secs(2)).await;
        for number in crashed {
            rig.start(number).await;
        }
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

#[test]
fn a_network_outage_of_minutes_costs_nothing() {
    each(0..3, |run| async move {
        let rig = three(8400 + run).await?;
        for node in SEEDS {
            rig.cut(&[node], &SEEDS);
        }
        rig.run(secs(300)).await;
        rig.heal();
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

/// Nodes leave and come back one after the other, in every order.
#[test]
fn a_rolling_update_founds_nothing() {
    each(0..6, |run| async move {
        let mut rig = three(8500 + run).await?;
        for number in order(run) {
            rig.leave(number).await?;
            rig.run(secs(3)).await;
            rig.start(number).await;
            rig.until_whole(SOON).await?;
        }
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

#[test]
fn a_node_that_comes_back_at_another_address_with_its_directory_is_the_same() {
    each(0..3, |run| async move {
        let mut rig = Rig::durable(8600 + run, 5);
        rig.set_up_all(|builder| builder.seeds(["n0:1", "n1:1", "n2:1"]));
        rig.form_in_order(&SEEDS, &[]).await?;
        crash(&mut rig, &[1, 2]);
        after(secs(1)).await;
        // What was on the volumes of nodes 1 and 2 comes up elsewhere.
        for (old, new) in [(1, 3), (2, 4)] {
            fs::rename(rig.directory(old), rig.directory(new)).unwrap();
            rig.start(new).await;
        }
        let concluded = rig.conclude(secs(40)).await;
        all_of([rig.founded_once(), concluded])
    });
}

#[test]
fn from_three_nodes_to_one_and_back_with_a_crash_at_one() {
    each(0..3, |run| async move {
        let mut rig = three(8700 + run).await?;
        for number in [2, 1] {
            rig.leave(number).await?;
            rig.run(secs(12)).await;
        }
        rig.crash(0);
        after(secs(1)).await;
        for number in SEEDS {
            rig.start(number).await;
        }
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

#[test]
fn a_cluster_that_left_in_order_is_founded_again_in_a_later_era() {
    each(0..6, |run| async move {
        let mut rig = three(8800 + run).await?;
        let era = rig.view(0).cluster.map(|cluster| cluster.era);
        for number in order(run) {
            rig.leave(number).await?;
        }
        // The others have handed over what they had; this one had nobody to take it.
        rig.history.add(Event::Lost { node: order(run)[2] });
        for number in SEEDS {
            rig.start(number).await;
        }
        let concluded = rig.conclude(SOON).await;
        let rises = if rig.view(0).cluster.map(|cluster| cluster.era) > era {
            Ok(())
        } else {
            Err("the era does not rise".to_owned())
        };
        all_of([concluded, rig.founded_times(2), rises])
    });
}

#[test]
fn seeds_that_left_and_restart_cut_off_from_the_rest_wait() {
    each(0..3, |run| async move {
        let mut rig = Rig::durable(8900 + run, 5);
        rig.form(&SEEDS).await?;
        for number in SEEDS {
            rig.leave(number).await?;
        }
        rig.run(secs(12)).await;
        rig.cut(&SEEDS, &[3, 4]);
        for number in SEEDS {
            rig.start(number).await;
        }
        rig.run(secs(60)).await;
        let works = SEEDS.into_iter().find(|number| rig.view(*number).standing == Standing::Member);
        let waited = works.map_or(Ok(()), |number| Err(format!("node {number} works: {}", rig.standings())));
        rig.heal();
        let concluded = rig.conclude(SOON).await;
        all_of([waited, rig.founded_once(), concluded])
    });
}

#[test]
fn a_seed_list_that_names_none_of_the_members_is_no_obstacle() {
    each(0..2, |run| async move {
        let mut rig = three(9000 + run).await?;
        crash(&mut rig, &SEEDS);
        after(secs(1)).await;
        rig.set_up_all(|builder| builder.seeds(["nowhere:1"]));
        for number in SEEDS {
            rig.start(number).await;
        }
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

/// A copy of a directory is made while its node is down, the node runs on, and then the copy is restored.
#[test]
fn an_older_copy_of_a_directory_comes_back_as_a_new_node() {
    each(0..3, |victim| async move {
        let mut rig = three(91).await?;
        rig.crash(victim);
        after(secs(1)).await;
        let copy = rig.directory(victim).with_extension("copy");
        copy_directory(&rig.directory(victim), &copy);
        rig.start(victim).await;
        rig.until_settled(BOUND).await?;
        let identity = identity_of(&rig, victim);
        rig.crash(victim);
        after(secs(1)).await;
        fs::remove_dir_all(rig.directory(victim)).unwrap();
        fs::rename(&copy, rig.directory(victim)).unwrap();
        rig.start(victim).await;
        rig.until_settled(BOUND).await?;
        let is_new = if identity_of(&rig, victim) == identity {
            Err(format!("{victim} still votes as {identity:?}"))
        } else {
            Ok(())
        };
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), is_new, concluded])
    });
}

/// A copy is made while the node runs, and put back later: nothing tells its life from the one that follows, and its log is shorter than what it had confirmed.
#[test]
fn a_copy_of_a_running_node_that_is_put_back_is_refused_as_a_voter_until_it_is_taken_in_again() {
    each(0..3, |victim| async move {
        let mut rig = three(94).await?;
        let copy = rig.directory(victim).with_extension("copy");
        copy_directory(&rig.directory(victim), &copy);
        let other = (victim + 1) % 3;
        rig.leave(other).await?;
        rig.run(secs(5)).await;
        rig.start(other).await;
        rig.until_settled(BOUND).await?;
        rig.crash(victim);
        after(secs(1)).await;
        fs::remove_dir_all(rig.directory(victim)).unwrap();
        fs::rename(&copy, rig.directory(victim)).unwrap();
        let (warnings, _guard) = Warnings::listen();
        rig.start(victim).await;
        let settled = rig.until_settled(BOUND).await;
        // The nodes can be one cluster before the coordinator has heard enough short answers to be sure.
        rig.run(secs(3)).await;
        let said = warnings.with("shorter than what it had confirmed");
        let is_error = |line: &&String| line.starts_with("ERROR") && line.contains(&format!("n{victim}:1"));
        let (path, errors) = (rig.directory(victim), said.iter().filter(is_error).count());
        let named = said.iter().any(|line| line.contains(&path.display().to_string()));
        let noticed = if errors > 1 && named {
            Ok(())
        } else {
            Err(format!("{errors} errors name the address, the path is named: {named}; {said:?}"))
        };
        let concluded = rig.conclude(SOON).await;
        all_of([settled, noticed, rig.founded_once(), concluded])
    });
}

/// A discovery that fails, as DNS does in many a power cycle.
struct Fails;

impl Discovery for Fails {
    fn seeds(&self) -> Seeds<'_> {
        Box::pin(async { Err(DiscoveryError::Other("down".into())) })
    }
}

#[test]
fn a_power_cycle_while_the_discovery_fails_continues_the_same_cluster() {
    each([()], |()| async move {
        let mut rig = three(97).await?;
        crash(&mut rig, &SEEDS);
        after(secs(5)).await;
        rig.set_up_all(|builder| builder.discovery(Fails).expect(3));
        for number in SEEDS {
            rig.start(number).await;
        }
        rig.until_settled(BOUND).await?;
        let concluded = rig.conclude(SOON).await;
        all_of([rig.founded_once(), concluded])
    });
}

/// The identity of a node as a voter.
fn identity_of(rig: &Rig, number: usize) -> Option<VoterId> {
    let view = rig.view(number);
    view.member(view.incarnation.uid).map(Member::voter)
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// A node that was a member when its cluster was closed without it.
#[test]
fn a_closed_cluster_is_founded_again() {
    each(0..3, |absent| async move {
        let mut rig = three(92).await?;
        rig.crash(absent);
        rig.run(secs(5)).await;
        let closer = (absent + 1) % 3;
        rig.node(closer).close_cluster().await.map_err(|error| error.to_string())?;
        after(secs(10)).await;
        for number in (0..3).filter(|number| *number != absent) {
            rig.crash(number);
        }
        after(secs(1)).await;
        for number in SEEDS {
            rig.start(number).await;
        }
        let concluded = rig.conclude(secs(60)).await;
        all_of([concluded, rig.founded_times(2)])
    });
}
