//! What the program was asked to do.

use borough_testkit::sim::plan::{Mode, Wish};

pub(crate) const USAGE: &str = "\
usage: cargo xtask sim [--seeds N] [--from M] [--threads T]   many seeds; default 1000 from 0 on 2 threads
       cargo xtask sim --seed N [--trace]                     one seed; cut down if it fails
       cargo xtask sim --planted [--seeds N]                  each planted flaw must be found within N seeds
  --mode calm|safe|wild|closing   all runs in this mode
  --nodes N                       so many nodes instead of the drawn number
  --keep I,J,K                    only these faults of a seed";

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
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Task {
    Seeds,
    Replay(u64),
    Planted,
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
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--seeds" => arguments.seeds = Some(number(&value()?)?),
                "--from" => arguments.from = number(&value()?)?,
                "--threads" => arguments.threads = size(&value()?)?.max(1),
                "--seed" => arguments.task = Task::Replay(number(&value()?)?),
                "--planted" => arguments.task = Task::Planted,
                "--trace" => arguments.is_traced = true,
                "--nodes" => arguments.wish.nodes = Some(size(&value()?)?.max(1)),
                "--keep" => arguments.wish.keep = Some(list(&value()?)?),
                "--mode" => arguments.wish.mode = Some(mode(&value()?)?),
                "--help" => return Err("how to use it".to_owned()),
                _ => return Err(format!("{word} is not known")),
            }
        }
        Ok(arguments)
    }

    /// Whether runs are as the seeds draw them.
    pub(crate) fn is_plain(&self) -> bool {
        let Wish { nodes, keep, mode, .. } = &self.wish;
        nodes.is_none() && keep.is_none() && mode.is_none()
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

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "calm" => Ok(Mode::Calm),
        "safe" => Ok(Mode::Safe),
        "wild" => Ok(Mode::Wild),
        "closing" => Ok(Mode::Closing),
        _ => Err(format!("{text} is no mode")),
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
    fn what_is_wrong_is_said() {
        let wrong = |line| parse(line).expect_err("it is wrong");
        assert_eq!(wrong("--sedes 3"), "--sedes is not known");
        assert_eq!(wrong("--seed"), "--seed needs a value");
        assert_eq!(wrong("--seed x"), "x is no number");
    }
}
