//! Where the processes of a fleet run, and how the ways between them are cut.
//!
//! | ground | addresses | a cut |
//! |---|---|---|
//! | loopback | one of 127/8 for each node | none |
//! | namespaces | one network namespace for each node, a bridge between them | packets are dropped where they arrive |
//! | proxies | as loopback, with a proxy at each advertised address | bytes are held back, as TCP does without packets |

mod namespaces;
mod proxy;

use std::path::Path;
use std::process::Command;

pub(crate) use self::namespaces::{Namespaces, are_permitted, remove_all, sweep};
pub(crate) use self::proxy::Proxies;

/// The port of every node.
const PORT: u16 = 25520;

/// Where a fleet runs.
pub(crate) enum Ground {
    Loopback(Loopback),
    Namespaces(Namespaces),
    Proxies(Loopback, Proxies),
}

/// Addresses of this machine's loopback that are this run's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loopback {
    /// The middle of the addresses.
    run: [u8; 2],
}

impl Loopback {
    /// Addresses for the run of that number: others run besides.
    pub(crate) fn new(run: u32) -> Self {
        let [low, high, ..] = run.to_le_bytes();
        Self { run: [64 + high % 128, low] }
    }

    fn address(self, last: usize) -> String {
        let [high, low] = self.run;
        format!("127.{high}.{low}.{last}:{PORT}")
    }
}

impl Ground {
    /// Makes room for places up to this one.
    pub(crate) fn prepare(&mut self, last: usize) -> Result<(), String> {
        match self {
            Self::Loopback(_) => Ok(()),
            Self::Namespaces(namespaces) => namespaces.prepare(last),
            Self::Proxies(loopback, proxies) => {
                proxies.prepare(last, |place| (loopback.address(100 + place), loopback.address(place)))
            }
        }
    }

    /// Where the node at a place listens.
    pub(crate) fn listens(&self, place: usize) -> String {
        match self {
            Self::Loopback(loopback) | Self::Proxies(loopback, _) => loopback.address(place),
            Self::Namespaces(_) => Namespaces::address(place),
        }
    }

    /// Where others reach it.
    pub(crate) fn advertised(&self, place: usize) -> String {
        match self {
            Self::Proxies(loopback, _) => loopback.address(100 + place),
            Self::Loopback(_) | Self::Namespaces(_) => self.listens(place),
        }
    }

    /// Starts a program at a place.
    pub(crate) fn command(&self, place: usize, program: &Path) -> Command {
        match self {
            Self::Namespaces(namespaces) => namespaces.command(place, program),
            Self::Loopback(_) | Self::Proxies(..) => Command::new(program),
        }
    }

    /// Nothing that one says reaches the other any more; what the other says still arrives.
    pub(crate) fn cut(&mut self, from: usize, to: usize) -> Result<(), String> {
        match self {
            Self::Loopback(_) => Err("loopback cannot be cut".to_owned()),
            Self::Namespaces(namespaces) => namespaces.cut(from, to),
            Self::Proxies(_, proxies) => {
                proxies.cut(from, to);
                Ok(())
            }
        }
    }

    /// Nothing gets from one side to the other, nor back.
    pub(crate) fn part(&mut self, one_side: &[usize], other_side: &[usize]) -> Result<(), String> {
        for (&one, &other) in one_side.iter().flat_map(|one| other_side.iter().map(move |other| (one, other)))
        {
            self.cut(one, other)?;
            self.cut(other, one)?;
        }
        Ok(())
    }

    /// Everything is as before the cuts.
    pub(crate) fn heal(&mut self) -> Result<(), String> {
        match self {
            Self::Loopback(_) => Ok(()),
            Self::Namespaces(namespaces) => namespaces.heal(),
            Self::Proxies(_, proxies) => {
                proxies.heal();
                Ok(())
            }
        }
    }

    /// What was said to the node at a place so far, connection by connection, where a proxy listens in.
    pub(crate) fn recorded(&self, place: usize) -> Vec<Vec<u8>> {
        match self {
            Self::Proxies(_, proxies) => proxies.recorded(place),
            Self::Loopback(_) | Self::Namespaces(_) => Vec::new(),
        }
    }

    /// What it is called in the table.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Loopback(_) => "loopback",
            Self::Namespaces(_) => "namespaces",
            Self::Proxies(..) => "proxies",
        }
    }
}
