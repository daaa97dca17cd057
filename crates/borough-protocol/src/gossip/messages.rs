//! What nodes say to each other to agree on the document.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::document::version_of;
use super::member::Member;
use super::reachability::Report;
use super::tombstones::Obituary;
use crate::incarnation::Uid;
use crate::vector_clock::{Author, Dot, VectorClock};

/// A message of gossip. Cheap to clone: what is large is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This is what I have": always of the same small size.
    Digest {
        /// Identifies the document.
        #[cfg_attr(feature = "serde", serde(with = "crate::wire::fixed"))]
        version: u64,
        /// Identifies the set of those who have that version.
        seen: u32,
    },
    /// Answers a digest of another version: "this is how far I have come, send me the rest".
    Pull {
        /// The changes that are known here.
        clock: Arc<VectorClock>,
    },
    /// What the receiver lacks.
    Delta(Arc<Delta>),
    /// "We have the same version, and these have it too."
    Seen {
        /// Identifies the document.
        #[cfg_attr(feature = "serde", serde(with = "crate::wire::fixed"))]
        version: u64,
        /// Bit `i % 64` of word `i / 64` stands for the `i`-th member in the order of uids.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
        bits: Arc<[u64]>,
    },
}

/// The part of a document that another one lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Delta {
    /// Records of members, in the order of uids.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::wire::members"))]
    pub members: Vec<Arc<Member>>,
    /// Reports by observer, in the order of uids.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::wire::reports"))]
    pub reachability: Vec<(Uid, Arc<Report>)>,
    /// Who is gone, in the order of uids.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::wire::obituaries"))]
    pub tombstones: Vec<Obituary>,
    /// The changes that are known to the sender.
    pub clock: Arc<VectorClock>,
    /// The hash of all records of the sender.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::fixed"))]
    pub content: u64,
    /// Those who have the sender's version, over the sender's members; laid out as in [`Message::Seen`].
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub seen: Arc<[u64]>,
    /// Whether it answers a delta: then no delta answers it, however different the documents still are.
    pub reply: bool,
}

impl Message {
    /// About how many bytes it is on the wire.
    pub fn wire_size(&self) -> usize {
        let body = match self {
            Self::Digest { .. } => 8 + 4,
            Self::Pull { clock } => clock_size(clock),
            Self::Delta(delta) => delta.wire_size(),
            Self::Seen { bits, .. } => 8 + list_size(bits, |_| 8),
        };
        1 + body
    }
}

impl Delta {
    /// Identifies the sender's document.
    pub fn version(&self) -> u64 {
        version_of(&self.clock, self.content)
    }

    /// About how many bytes it is on the wire.
    pub fn wire_size(&self) -> usize {
        list_size(&self.members, |member| member_size(member))
            + list_size(&self.reachability, |(_, report)| report_size(report))
            + list_size(&self.tombstones, obituary_size)
            + clock_size(&self.clock)
            + 8
            + list_size(&self.seen, |_| 8)
            + 1
    }
}

fn member_size(member: &Member) -> usize {
    let facts = &member.facts;
    let names = [member.incarnation.address.as_str(), facts.id.as_str(), &facts.app_version, &facts.zone];
    let names: usize = names.iter().map(|text| text_size(text)).sum();
    let roles = list_size(&facts.roles, |role: &String| text_size(role));
    let admission = number_size(member.admission.term.get()) + number_size(member.admission.index);
    8 + names + roles + 1 + admission + dot_size(member.dot)
}

/// The observer is the dot's author.
fn report_size(report: &Report) -> usize {
    dot_size(report.dot) + number_size(report.unreachable.len() as u64) + 8 * report.unreachable.len()
}

fn obituary_size(obituary: &Obituary) -> usize {
    8 + 1 + dot_size(obituary.dot) + number_size(u64::try_from(obituary.age.as_millis()).unwrap_or(u64::MAX))
}

fn clock_size(clock: &VectorClock) -> usize {
    let entries: usize = clock.iter().map(|(author, count)| dot_size(Dot { author, count })).sum();
    number_size(clock.len() as u64) + entries
}

fn dot_size(dot: Dot) -> usize {
    let author = match dot.author {
        Author::Table => 1,
        Author::Node(_) => 1 + 8,
    };
    author + number_size(dot.count)
}

fn text_size(text: &str) -> usize {
    number_size(text.len() as u64) + text.len()
}

fn list_size<T>(items: &[T], size: impl Fn(&T) -> usize) -> usize {
    number_size(items.len() as u64) + items.iter().map(size).sum::<usize>()
}

/// A number takes seven bits a byte.
fn number_size(number: u64) -> usize {
    let bits = u64::BITS - number.leading_zeros();
    bits.div_ceil(7).max(1) as usize
}
