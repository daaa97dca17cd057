//! One behaviour each of the log on noraft, by hand.

mod joint;
mod office;
mod repair;

use borough_protocol::log::raft::Raft;

use crate::carrier::State;
use crate::group::Group as AnyGroup;

type Group = AnyGroup<Raft<u64, State>>;
