//! A process crashes at a write, or its disk takes no write from one on and it crashes later: whatever is in the directory, it is one cluster.
//!
//! A step is a write or a sync. Each phase is played for every step that is reached in it, for each of the three nodes, in both ways.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use borough_cluster::{NodeBuilder, Standing};
use borough_sqlite::failpoints::{Fault, Hook};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::rig::{BOUND, Outcome, Rig, after, all_of, each, secs};

const SEEDS: [usize; 3] = [0, 1, 2];
const LIST: [&str; 3] = ["n0:1", "n1:1", "n2:1"];

/// What the node does meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It founds a cluster with the others, or joins them as they found it.
    Forming,
    /// It joins a cluster of the two others, with an empty directory.
    Joining,
    /// It starts again.
    Restarting,
    /// It leaves in order.
    Leaving,
    /// It closes the whole cluster.
    Closing,
    /// It recovers the cluster, after the two others were lost with their disks.
    Recovering,
}

/// What comes of a step that is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The process is gone in that moment: no time goes by after the step.
    AtOnce,
    /// The process lives on for some seconds with a disk that takes nothing.
    Later,
}

/// A disk that takes no write from one step on. Steps are counted once the phase has begun.
struct Breaking {
    point: u64,
    has_begun: AtomicBool,
    reached: AtomicU64,
    /// When the point was reached, and who waits for that.
    broke_at: OnceLock<Instant>,
    broke: Notify,
}

impl Breaking {
    fn at(point: u64) -> Arc<Self> {
        Arc::new(Self {
            point,
            has_begun: AtomicBool::new(false),
            reached: AtomicU64::new(0),
            broke_at: OnceLock::new(),
            broke: Notify::new(),
        })
    }

    fn begin(&self) {
        self.has_begun.store(true, Ordering::SeqCst);
    }

    fn hook(self: &Arc<Self>) -> Hook {
        let this = self.clone();
        Arc::new(move |_, _| {
            let counts = this.has_begun.load(Ordering::SeqCst);
            if !counts || this.reached.fetch_add(1, Ordering::SeqCst) + 1 < this.point {
                Ok(())
            } else {
                this.broke_at.get_or_init(Instant::now);
                this.broke.notify_one();
                Err(Fault::Io)
            }
        })
    }
}

/// Plays the phase for each step of each node.
#[track_caller]
fn crash_at_every_step(phase: Phase) {
    for (victim, way) in SEEDS.into_iter().flat_map(|victim| [(victim, Way::AtOnce), (victim, Way::Later)]) {
        let mut steps = 0;
        for point in 1.. {
            let breaking = Breaking::at(point);
            each([(victim, way, point)], |_| crash_at(phase, victim, way, breaking.clone()));
            if breaking.reached.load(Ordering::SeqCst) < point {
                break;
            }
            steps = point;
        }
        let how = match way {
            Way::AtOnce => "crashed at",
            Way::Later => "crashed some seconds after its disk failed at",
        };
        println!("{phase:?}: node {victim} {how} each of {steps} writes and syncs");
        assert!(steps > 0, "{phase:?} of node {victim} wrote nothing");
    }
}

async fn crash_at(phase: Phase, victim: usize, way: Way, breaking: Arc<Breaking>) -> Outcome {
    let mut rig = Rig::durable(93, 3);
    let plain = |builder: NodeBuilder| builder.seeds(LIST);
    rig.set_up_all(plain);
    let hook = breaking.hook();
    rig.set_up(victim, move |builder| plain(builder).data_hook(hook.clone()));
    let others: Vec<_> = SEEDS.into_iter().filter(|number| *number != victim).collect();
    form(&mut rig, phase, &others).await?;
    let playing = play(&mut rig, phase, (victim, &others), &breaking);
    match way {
        Way::Later => playing.await,
        // What was under way is dropped first, and the node with it, if it is not yet among those that run.
        Way::AtOnce => tokio::select! {
            biased;
            () = breaking.broke.notified() => {
                die(&mut rig, victim, &breaking);
                if phase == Phase::Closing {
                    // The order was decided, or it was not: the others do what comes of it.
                    after(secs(10)).await;
                }
            }
            () = playing => {}
        },
    }
    let crashing = if phase == Phase::Closing { rig.running() } else { vec![victim] };
    for number in crashing {
        if rig.running().contains(&number) {
            rig.crash(number);
        }
    }
    after(secs(1)).await;
    rig.set_up(victim, plain);
    rig.start(victim).await;
    if phase == Phase::Recovering {
        after(secs(20)).await;
        // Either the cluster was recovered, or the node is the voter that it was, and the order can be given again.
        if rig.view(victim).standing != Standing::Member {
            recover(&rig, victim).await?;
        }
    }
    let running = rig.running();
    for number in others.into_iter().filter(|number| !running.contains(number)) {
        rig.start(number).await;
    }
    let concluded = rig.conclude(secs(60)).await;
    let founded = match phase {
        // The order was decided, or it was not.
        Phase::Closing => rig.founded_once().or_else(|_| rig.founded_times(2)),
        Phase::Recovering => rig.founded_times(2),
        Phase::Forming | Phase::Joining | Phase::Restarting | Phase::Leaving => rig.founded_once(),
    };
    all_of([founded, concluded])
}

/// The victim is gone, in the moment in which its disk was to do the step.
fn die(rig: &mut Rig, victim: usize, breaking: &Breaking) {
    if rig.running().contains(&victim) {
        rig.crash(victim);
    }
    rig.may_lose(&[victim]);
    assert_eq!(breaking.broke_at.get(), Some(&Instant::now()), "time went by between the step and the crash");
}

/// What there is before the phase.
async fn form(rig: &mut Rig, phase: Phase, others: &[usize]) -> Outcome {
    match phase {
        Phase::Forming => {
            for number in others {
                rig.start(*number).await;
            }
        }
        Phase::Joining => {
            for number in others {
                rig.seeds_of(*number, others);
            }
            rig.form_in_order(others, &[]).await?;
        }
        Phase::Restarting | Phase::Leaving | Phase::Closing | Phase::Recovering => {
            rig.form_in_order(&SEEDS, &[]).await?;
        }
    }
    Ok(())
}

/// Plays the phase, in which the victim's disk breaks.
async fn play(rig: &mut Rig, phase: Phase, (victim, others): (usize, &[usize]), breaking: &Breaking) {
    match phase {
        Phase::Forming | Phase::Joining => {
            breaking.begin();
            // It does not even start if its directory cannot be made or opened.
            rig.try_start(victim).await;
            after(secs(12)).await;
        }
        Phase::Restarting => {
            rig.crash(victim);
            breaking.begin();
            rig.try_start(victim).await;
            after(secs(12)).await;
        }
        Phase::Leaving => {
            breaking.begin();
            rig.may_lose(&[victim]);
            // Whether it has left depends on what its disk took.
            let _ = rig.leave(victim).await;
        }
        Phase::Closing => {
            breaking.begin();
            rig.may_lose(&SEEDS);
            let _ = timeout(BOUND, rig.node(victim).close_cluster()).await;
            after(secs(10)).await;
        }
        Phase::Recovering => {
            for number in others {
                rig.crash(*number);
                fs::remove_dir_all(rig.directory(*number)).unwrap();
            }
            after(secs(20)).await;
            breaking.begin();
            rig.may_lose(&[victim]);
            let _ = recover(rig, victim).await;
            after(secs(12)).await;
        }
    }
}

/// Orders that node to recover the cluster.
async fn recover(rig: &Rig, number: usize) -> Outcome {
    let plan = rig.node(number).recovery_plan().map_err(|error| error.to_string())?;
    let dead: Vec<_> = plan.given_up.iter().map(|member| member.node_id.to_string()).collect();
    rig.node(number).recover(&dead).await.map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_crash_at_every_write_while_a_cluster_forms_leaves_one_cluster() {
    crash_at_every_step(Phase::Forming);
}

#[test]
fn a_crash_at_every_write_while_a_node_joins_leaves_one_cluster() {
    crash_at_every_step(Phase::Joining);
}

#[test]
fn a_crash_at_every_write_of_a_second_start_leaves_one_cluster() {
    crash_at_every_step(Phase::Restarting);
}

#[test]
fn a_crash_at_every_write_while_a_node_leaves_leaves_one_cluster() {
    crash_at_every_step(Phase::Leaving);
}

#[test]
fn a_crash_at_every_write_while_a_cluster_is_closed_leaves_one_cluster() {
    crash_at_every_step(Phase::Closing);
}

#[test]
fn a_crash_at_every_write_of_an_order_to_recover_leaves_one_cluster() {
    crash_at_every_step(Phase::Recovering);
}
