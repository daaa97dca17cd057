//! A living picture of a cluster in the terminal, for `top` and for `demo`.
//!
//! ```text
//! feed    asks a node's management again and again, on threads of its own
//! tally   what each node does, made of two looks at its counts
//! map     each shard a tile, by its owner's letter and colour
//! draw    all of it on a terminal
//! ```

mod draw;
mod feed;
mod map;
mod tally;

use std::collections::BTreeMap;

use borough_management::view::{BusyEntity, Entities, Members, Shards, SlowEntity, Stats};

pub(crate) use self::draw::{Footer, draw, printed};
pub(crate) use self::feed::Feed;
use self::tally::Tally;

/// What a feed brings.
#[derive(Debug)]
pub(crate) enum News {
    /// Who is there and who hosts what: what one node knows by itself.
    Table(Members, Shards),
    /// What each node has counted: all of them were asked.
    Counts(Stats, Entities),
    /// Nobody answered, and why.
    Silence(String),
}

/// The cluster as last seen.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    members: Option<Members>,
    shards: Option<Shards>,
    tally: Tally,
    busiest: Vec<BusyEntity>,
    slowest: Vec<SlowEntity>,
    /// Why there is nothing new.
    silence: Option<String>,
    /// The number of each node, in the order in which they were first seen: its letter and its colour, for good.
    marks: BTreeMap<String, usize>,
}

impl Scene {
    /// Takes in what a feed brought.
    pub(crate) fn take_in(&mut self, news: News) {
        match news {
            News::Table(members, shards) => {
                self.silence = None;
                for member in &members.members {
                    self.mark(&member.node);
                }
                for host in shards.kinds.iter().flat_map(|map| &map.hosts) {
                    self.mark(host);
                }
                self.members = Some(members);
                self.shards = Some(shards);
            }
            News::Counts(stats, entities) => {
                self.tally.add(&stats);
                self.busiest = entities.busiest;
                self.slowest = entities.slowest;
            }
            News::Silence(why) => self.silence = Some(why),
        }
    }

    fn mark(&mut self, node: &str) {
        let next = self.marks.len();
        self.marks.entry(node.to_owned()).or_insert(next);
    }
}
