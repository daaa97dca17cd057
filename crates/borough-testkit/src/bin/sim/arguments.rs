//! What the program was asked to do.

use borough_protocol::flaws::Flaw;
use borough_testkit::sim::plan::{Kind, Mode, Wish};

pub(crate) const USAGE: &str = "\
usage: cargo xtask sim [--seeds N] [--from M] [--threads T]   many seeds; default 1000 from 0 on 2 threads
       cargo xtask sim --seed N [--trace]                     one seed; cut down if it fails
       cargo xtask sim --seed N --save FILE                   one seed that fails: the schedule of its faults, cut down, as a file
       cargo xtask sim --plan FILE [--trace]                  the run of such a file
       cargo xtask sim --planted [--seeds N]                  each planted flaw must be found within N seeds
       cargo xtask sim --nodes N [--nodes M ...] [--seed S]   large clusters, from 10 nodes on: what they cost
       cargo xtask sim --shells [--seeds N] [--from M]        whole nodes with actors; default 200 seeds from 0
       cargo xtask sim --shells --seed N [--trace]            one seed of them
  --state FILE                    many seeds in pieces: records what is finished, goes on after it, prints the rate
  --scenario cluster|sharding     members and leases alone (default), or also shards, entities and senders
  --plot FILE                     draws large clusters
  --check                         fails if a large cluster misses a goal
  --flaw NAME                     with --planted, that flaw alone; with --seed, the run in which nodes have it
  --disks, --no-disks             all clusters keep votes and logs on disks, or none does
  --mode calm|safe|wild|closing   all runs in this mode
  --kind usual|bad-links|founders|replaced|remembering
                                  all runs of this kind, instead of that of their numbers
  --nodes N                       so many nodes, below 10, instead of the drawn number
  --keep I,J,K                    only these faults of a seed";

/// From so many nodes on it is a large cluster that is asked for, and not a variant of a drawn plan: those have fewer.
const SCALE_MIN: usize = 10;

/// Everything on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    pub(crate) task: Task,
    pub(crate) from: u64,
    /// How many seeds; none: as many as the task thinks right.
    pub(crate) seeds: Option<u64>,
    pub(crate) threads: usize,
    pub(crate) is_traced: bool,
    pub(crate) wish: Wish,
    /// The flaw that all nodes have, or the only one to be found.
    pub(crate) flaw: Option<Flaw>,
    /// How many nodes each large cluster has.
    pub(crate) scale: Vec<usize>,
    /// What large clusters draw their chance from; none: the usual.
    pub(crate) scale_seed: Option<u64>,
    /// Where the schedule of a failing seed goes.
    pub(crate) save: Option<String>,
    /// Where it is recorded which seeds are finished.
    pub(crate) state: Option<String>,
    /// Where the plot of large clusters goes.
    pub(crate) plot: Option<String>,
    /// Whether a goal that is missed is a failure.
    pub(crate) is_checked: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Task {
    Seeds,
    Replay(u64),
    /// The run of a file.
    Plan(String),
    Planted,
    Scale,
    /// Whole nodes: many seeds, or this one.
    Shells(Option<u64>),
}

impl Arguments {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            task: Task::Seeds,
            from: 0,
            seeds: None,
            threads: 2,
            is_traced: false,
            wish: Wish::default(),
            flaw: None,
            scale: Vec::new(),
            scale_seed: None,
            save: None,
            state: None,
            plot: None,
            is_checked: false,
        };
        let (mut words, mut are_shells) = (words, false);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--seeds" => arguments.seeds = Some(number(&value()?)?),
                "--from" => arguments.from = number(&value()?)?,
                "--threads" => arguments.threads = size(&value()?)?.max(1),
                "--seed" => arguments.task = Task::Replay(number(&value()?)?),
                "--planted" => arguments.task = Task::Planted,
                "--shells" => are_shells = true,
                "--scenario" => arguments.wish.sharding = is_sharding(&value()?)?,
                "--disks" => arguments.wish.durable = Some(true),
                "--no-disks" => arguments.wish.durable = Some(false),
                "--flaw" => arguments.flaw = Some(flaw(&value()?)?),
                "--trace" => arguments.is_traced = true,
                "--nodes" => arguments.count(size(&value()?)?.max(1)),
                "--state" => arguments.state = Some(value()?),
                "--save" => arguments.save = Some(value()?),
                "--plan" => arguments.task = Task::Plan(value()?),
                "--plot" => arguments.plot = Some(value()?),
                "--check" => arguments.is_checked = true,
                "--keep" => arguments.wish.keep = Some(list(&value()?)?),
                "--mode" => arguments.wish.mode = Some(mode(&value()?)?),
                "--kind" => arguments.wish.kind = Some(kind(&value()?)?),
                "--help" => return Err("how to use it".to_owned()),
                _ => return Err(format!("{word} is not known")),
            }
        }
        if !arguments.scale.is_empty() {
            if let Task::Replay(seed) = arguments.task {
                arguments.scale_seed = Some(seed);
            }
            arguments.task = Task::Scale;
        }
        if are_shells {
            arguments.task = match arguments.task {
                Task::Replay(seed) => Task::Shells(Some(seed)),
                Task::Seeds => Task::Shells(None),
                other => return Err(format!("--shells and {other:?} are two things")),
            };
        }
        Ok(arguments)
    }

    fn count(&mut self, nodes: usize) {
        if nodes < SCALE_MIN {
            self.wish.nodes = Some(nodes);
        } else {
            self.scale.push(nodes);
        }
    }

    /// Whether runs are as the seeds draw them.
    pub(crate) fn is_plain(&self) -> bool {
        let Wish { nodes, keep, mode, durable, kind, .. } = &self.wish;
        nodes.is_none() && keep.is_none() && mode.is_none() && durable.is_none() && kind.is_none()
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.replace('_', "").parse().map_err(|_| format!("{text} is no number"))
}

fn size(text: &str) -> Result<usize, String> {
    number(text).and_then(|number| usize::try_from(number).map_err(|_| format!("{text} is too large")))
}

fn list(text: &str) -> Result<Vec<usize>, String> {
    text.split(',').filter(|part| !part.is_empty()).map(size).collect()
}

fn is_sharding(text: &str) -> Result<bool, String> {
    match text {
        "cluster" => Ok(false),
        "sharding" => Ok(true),
        _ => Err(format!("{text} is no scenario")),
    }
}

#[cfg(feature = "flaws")]
fn flaw(text: &str) -> Result<Flaw, String> {
    borough_testkit::sim::planted::named(text).ok_or_else(|| format!("{text} is no flaw that runs show"))
}

#[cfg(not(feature = "flaws"))]
fn flaw(_: &str) -> Result<Flaw, String> {
    Err("flaws can be planted only in a build with the feature `flaws`".to_owned())
}

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "calm" => Ok(Mode::Calm),
        "safe" => Ok(Mode::Safe),
        "wild" => Ok(Mode::Wild),
        "closing" => Ok(Mode::Closing),
        _ => Err(format!("{text} is no mode")),
    }
}

fn kind(text: &str) -> Result<Kind, String> {
    match text {
        "usual" => Ok(Kind::Usual),
        "bad-links" => Ok(Kind::BadLinks),
        "founders" => Ok(Kind::Founders),
        "replaced" => Ok(Kind::Replaced),
        "remembering" => Ok(Kind::Remembering),
        _ => Err(format!("{text} is no kind of run")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_replay_names_seed_nodes_and_faults() {
        let arguments = parse("--seed 1_234 --nodes 3 --keep 1,5, --mode wild --trace").expect("known");
        assert_eq!(arguments.task, Task::Replay(1234));
        let Wish { nodes, keep, mode, .. } = arguments.wish;
        assert_eq!((nodes, keep, mode), (Some(3), Some(vec![1, 5]), Some(Mode::Wild)));
        assert!(arguments.is_traced);
    }

    #[test]
    fn many_nodes_are_a_large_cluster_and_few_are_not() {
        let arguments = parse("--nodes 1000 --nodes 100 --seed 7 --check").expect("known");
        assert_eq!((arguments.task, arguments.scale_seed), (Task::Scale, Some(7)));
        assert_eq!(arguments.scale, [1000, 100]);
        assert!(arguments.is_checked);
        assert_eq!(parse("--seeds 9 --nodes 9").expect("known").task, Task::Seeds);
    }

    #[test]
    fn shells_are_run_by_many_seeds_or_by_one() {
        assert_eq!(parse("--shells --seeds 9").expect("known").task, Task::Shells(None));
        assert_eq!(parse("--seed 9 --shells").expect("known").task, Task::Shells(Some(9)));
        assert!(parse("--planted --shells").is_err());
    }

    #[test]
    fn a_scenario_is_named() {
        assert!(parse("--scenario sharding").expect("known").wish.sharding);
        assert!(!parse("--scenario cluster").expect("known").wish.sharding);
        assert_eq!(parse("--scenario x").expect_err("it is none"), "x is no scenario");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |line| parse(line).expect_err("it is wrong");
        assert_eq!(wrong("--sedes 3"), "--sedes is not known");
        assert_eq!(wrong("--seed"), "--seed needs a value");
        assert_eq!(wrong("--seed x"), "x is no number");
    }
}
