//! Why shards of a type get no owner, as the table has it: the type is not known, nobody hosts it, or too few do.
//!
//! What is logged, what `explain` says and the shard event all come from here, so that they agree.

use std::fmt;
use std::sync::Arc;

use borough_protocol::sharding::{Kind, KindId};
use borough_protocol::table::Table;

use super::error::ShardError;
use super::events::ShardNews;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// No member that stays hosts it.
    Nobody {
        kind: Arc<str>,
        /// The role that its hosts must have.
        role: Option<Arc<str>>,
        /// Who is there, each with its roles.
        members: Vec<String>,
    },
    /// Fewer members host it than its minimum.
    TooFew { kind: Arc<str>, hosts: usize, wanted: u32 },
}

impl Lack {
    /// What is lacking; `None` if shards can be given to somebody.
    pub(super) fn of(table: &Table, id: KindId) -> Option<Self> {
        let kind = table.kind(id)?.kind();
        let hosts = table.members().keys().filter(|uid| table.may_host(**uid, id)).count();
        if hosts == 0 {
            let members = table.members().values().map(|member| {
                let (name, roles) = (&member.facts.id, &member.facts.roles);
                if roles.is_empty() { name.to_string() } else { format!("{name} ({})", roles.join(", ")) }
            });
            let (kind, role) = (kind.name.clone(), kind.role.clone());
            return Some(Self::Nobody { kind, role, members: members.collect() });
        }
        let wanted = kind.min_hosts;
        let is_few = u32::try_from(hosts).is_ok_and(|hosts| hosts < wanted);
        is_few.then(|| Self::TooFew { kind: kind.name.clone(), hosts, wanted })
    }

    /// As an event tells it.
    pub(super) fn news(&self, waiting: usize) -> ShardNews {
        match self {
            Self::Nobody { role, .. } => ShardNews::NobodyHosts { role: role.clone(), waiting },
            Self::TooFew { hosts, wanted, .. } => {
                ShardNews::TooFewHosts { hosts: *hosts, wanted: *wanted, waiting }
            }
        }
    }
}

/// Why the cluster does not know a type that is started here.
pub(super) fn unknown(kind: &Kind, table: Option<&Table>) -> String {
    let never = table.and_then(|table| ShardError::undeclarable(kind, table));
    never.map_or_else(|| "the cluster does not know the type yet".to_owned(), |never| never.to_string())
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody { kind, role, members } => {
                let members = members.join(", ");
                match role {
                    None => write!(
                        f,
                        "no member hosts {kind}; there are {members}: start it with `node.shard` where it may live"
                    ),
                    Some(role) => write!(
                        f,
                        "no member of role {role} hosts {kind}; there are {members}: start it with `node.shard` on a node of that role"
                    ),
                }
            }
            Self::TooFew { kind, hosts, wanted } => write!(
                f,
                "{hosts} of at least {wanted} members host {kind}: start it on more, or lower `min_regions` on all"
            ),
        }
    }
}
