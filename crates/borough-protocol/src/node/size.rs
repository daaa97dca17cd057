//! About how many bytes a message is on the wire: what the scale report counts, until there is a wire.
//!
//! Uids are 8 bytes; terms, indices and counts are taken at what they need as variable-length numbers in a cluster that has lived for a
//! while; every message has a frame around it.

use super::feed::Feed;
use super::interface::{Message, Word};
use crate::disk::Pledge;
use crate::formation::{Knock, LogEnd, Memory, Past};
use crate::incarnation::{Address, Facts, Incarnation};
use crate::lease::Verdict;
use crate::log::Entry;
use crate::log::raft::{self, Item};
use crate::log::register::{News, Swap};
use crate::sharding::{Kind, ShardReport};
use crate::store::{Answer, Ask};
use crate::table::{Change, KindTable, Table};
use crate::voters::{VoterId, Voters};

/// Length, kind, lane and check sum.
const FRAME: usize = 12;
const UID: usize = 8;
const NUMBER: usize = 3;
const SHARD: usize = 1 + 2;
const VERSION: usize = 2 * NUMBER;
const RENEW: usize = 1 + 3 * VERSION + 2 * NUMBER;
const CLUSTER: usize = 8 + 4 + UID;

impl Message {
    /// About how many bytes it is on the wire, its frame included.
    pub fn wire_size(&self) -> usize {
        let body = match self {
            Self::Knock(knock) => knock_size(knock),
            Self::Promise(vow) => {
                let heard_of: usize = vow.heard_of.iter().map(|memory| memory_size(memory)).sum();
                let addresses = vow.seed.as_str().len() + vow.holder.as_str().len() + 2;
                let pledge_size = |pledge: &Pledge| 2 * UID + pledge.address.as_str().len() + 1 + NUMBER;
                let pledged: usize = vow.pledged.iter().map(pledge_size).sum();
                addresses + UID + NUMBER + 1 + past_size(&vow.past) + pledged + 1 + heard_of
            }
            Self::Release { .. } => NUMBER,
            Self::Gone | Self::Copy => 0,
            Self::Welcome(welcome) => table_size(&welcome.table) + welcome.gossip.wire_size(),
            Self::Refused(refusal) => refusal.setting.len() + refusal.ours.len() + refusal.theirs.len() + 3,
            Self::Hello(greeting) => 3 + CLUSTER * (1 + greeting.ancestors.count()) + 2 * UID + NUMBER,
            Self::Word { word, .. } => UID + word.size(),
            Self::ToStore(ask) => ask_size(ask),
            Self::FromStore(answer) => answer_size(answer),
        };
        FRAME + body
    }
}

impl Word {
    fn size(&self) -> usize {
        match self {
            Self::Gossip(message) => message.wire_size(),
            Self::Heartbeat(message) => message.wire_size(),
            Self::Log(message) => log_size(message),
            Self::Renew(_) => RENEW,
            Self::Renewed(renewed) => NUMBER + 1 + UID + verdict_size(&renewed.verdict),
            Self::Feed(Feed::Whole(table)) => table_size(table),
            Self::Feed(Feed::Entries(entries)) => {
                entries.iter().map(|(_, entry)| VERSION + entry_size(entry)).sum::<usize>() + NUMBER
            }
            Self::Quiet(report) => 2 * NUMBER + UID * report.quiet.len(),
            Self::Report(_) => 1 + UID,
            Self::Shards(report) => report_size(report),
            Self::Gone => 0,
            Self::LogLost(_) => NUMBER,
        }
    }
}

fn ask_size(ask: &Ask) -> usize {
    1 + match ask {
        Ask::Look => 0,
        Ask::Found { settings, .. } => 2 * CLUSTER + settings.wire_size(),
        Ask::Renew { .. } => CLUSTER + RENEW,
        Ask::Log { ask, .. } => {
            let swap = match &ask.swap {
                Swap::None => 0,
                Swap::Stand { .. } => NUMBER,
                Swap::Append { payloads, .. } => {
                    NUMBER + VERSION + NUMBER + payloads.iter().map(change_size).sum::<usize>()
                }
            };
            CLUSTER + NUMBER + VERSION + 2 + swap
        }
    }
}

fn answer_size(answer: &Answer) -> usize {
    1 + match answer {
        Answer::Empty => 0,
        Answer::Holds { settings, .. } => CLUSTER + settings.wire_size() + 1,
        Answer::Renewed(renewed) => NUMBER + 1 + UID + verdict_size(&renewed.verdict),
        Answer::Log(answer) => {
            let news = match &answer.news {
                News::Entries(entries) => {
                    entries.iter().map(|(_, entry)| VERSION + entry_size(entry)).sum::<usize>() + NUMBER
                }
                News::Whole { state, .. } => table_size(state),
            };
            2 * NUMBER + UID + news + answer.renewals.len() * (UID + NUMBER)
        }
    }
}

fn knock_size(knock: &Knock) -> usize {
    let seeds: usize = knock.seeds.iter().map(|seed| 1 + seed.as_str().len()).sum();
    let over = knock.over.len() * (CLUSTER + VERSION) + knock.ended.len() * CLUSTER;
    incarnation_size(&knock.me)
        + facts_size(&knock.facts)
        + knock.settings.wire_size()
        + seeds
        + over
        + NUMBER
        + 2
        + knock.memory.as_ref().map_or(0, |memory| memory_size(memory))
}

fn memory_size(memory: &Memory) -> usize {
    CLUSTER * (1 + memory.ancestors.count()) + voters_size(&memory.voters) + places_size(&memory.places) + 1
}

fn places_size(places: &[(VoterId, Address)]) -> usize {
    places.iter().map(|(_, address)| UID + 1 + address.as_str().len()).sum()
}

fn past_size(past: &Past) -> usize {
    1 + match past {
        Past::Fresh => 0,
        Past::GaveUp(memory) | Past::Left(memory) | Past::Ended(memory) => memory_size(memory),
        Past::Suspended(memory, log) => {
            let end = |log: &LogEnd| VERSION + voters_size(&log.voters) + places_size(&log.places);
            memory_size(memory) + 1 + log.as_ref().map_or(0, |log| end(log))
        }
    }
}

fn incarnation_size(incarnation: &Incarnation) -> usize {
    UID + 1 + incarnation.address.as_str().len()
}

fn facts_size(facts: &Facts) -> usize {
    let roles: usize = facts.roles.iter().map(|role| 1 + role.len()).sum();
    facts.id.as_str().len()
        + roles
        + facts.app_version.len()
        + facts.zone.len()
        + 5
        + facts.disk.map_or(0, |_| UID + NUMBER)
}

fn verdict_size(verdict: &Verdict) -> usize {
    1 + match verdict {
        Verdict::NewVoters(voters) => voters_size(voters),
        Verdict::Acked | Verdict::NotYet | Verdict::NotAdmitted => 0,
    }
}

fn voters_size(voters: &Voters) -> usize {
    VERSION + 2 + UID * (voters.now.len() + voters.next.len())
}

fn table_size(table: &Table) -> usize {
    let members = table
        .members()
        .values()
        .map(|member| incarnation_size(&member.incarnation) + facts_size(&member.facts) + 2 * VERSION + 1);
    20 + CLUSTER * table.ancestors().count()
        + VERSION
        + voters_size(table.voters())
        + members.sum::<usize>()
        + table.removed().len() * (2 * UID + VERSION + NUMBER + 3)
        + table.kinds().iter().map(|kind| kind_table_size(kind)).sum::<usize>()
}

fn kind_table_size(kind: &KindTable) -> usize {
    let moving = kind.shards().values().filter(|entry| entry.moving.is_some()).count();
    kind_size(kind.kind())
        + 2 * NUMBER
        + kind.hosts().len() * UID
        + kind.shards().len() * (NUMBER + 4 * UID + 1)
        + moving * 2 * UID
}

fn kind_size(kind: &Kind) -> usize {
    kind.name.len() + kind.role.as_ref().map_or(0, |role| 1 + role.len()) + 16
}

fn report_size(report: &ShardReport) -> usize {
    let kinds: usize = report.kinds.iter().map(|(kind, _)| kind_size(kind) + 1).sum();
    let with_epoch =
        report.frozen.len() + report.installed.len() + report.impossible.len() + report.dropped.len();
    9 * NUMBER
        + kinds
        + 2 * report.ended.len()
        + SHARD * report.wanted.len()
        + (SHARD + UID) * (with_epoch + report.places.len())
        + (SHARD + 2 * UID) * report.refused.len()
}

fn entry_size(entry: &Entry<Change>) -> usize {
    1 + match entry {
        Entry::Nothing => 0,
        Entry::Voters { now, next } => 2 + UID * (now.len() + next.len()),
        Entry::Payload(change) => change_size(change),
    }
}

fn change_size(change: &Change) -> usize {
    1 + match change {
        Change::Admit(admission) => incarnation_size(&admission.incarnation) + facts_size(&admission.facts),
        Change::Drain(_) | Change::Free(_) => UID,
        Change::Forget(uids) => NUMBER + UID * uids.len(),
        Change::Close => 0,
        Change::Declare(kind) => kind_size(kind),
        Change::Remove(..) | Change::Host(..) | Change::EndHosting(..) => UID + 1,
        Change::Shards(steps) => NUMBER + steps.len() * (SHARD + 1 + 2 * UID),
    }
}

fn log_size(message: &raft::Message<Change, alloc::sync::Arc<Table>>) -> usize {
    1 + match message {
        raft::Message::PreVote { .. } | raft::Message::Vote { .. } | raft::Message::AppendReply { .. } => {
            NUMBER + VERSION
        }
        raft::Message::PreVoteReply { .. }
        | raft::Message::VoteReply { .. }
        | raft::Message::StandNow { .. } => NUMBER + 1,
        raft::Message::Append { entries, .. } => {
            NUMBER + VERSION + NUMBER + NUMBER + entries.iter().map(item_size).sum::<usize>()
        }
        raft::Message::Snapshot(snapshot) => {
            NUMBER + VERSION + voters_size(&snapshot.voters) + table_size(&snapshot.state)
        }
    }
}

fn item_size(item: &Item<Change>) -> usize {
    1 + match item {
        Item::Term(_) => NUMBER,
        Item::Lists { now, next, learners } => 3 + UID * (now.len() + next.len() + learners.len()),
        Item::Payload(change) => change_size(change),
    }
}
