//! Who a node is: where it listens, which life of that address it is, and what people call it.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::voters::VoterId;

/// Where a node listens: `host:port`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Address(Arc<str>);

impl Address {
    /// The address of that text. What it means is the transport's to say.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// So that it can be given wherever an address is wanted as text, as a seed.
impl From<Address> for String {
    fn from(address: Address) -> Self {
        String::from(&*address.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What tells one life of a node from every other: drawn by chance when the process starts, never 0.
///
/// Everything that must not be mistaken between two lives is keyed by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Uid(#[cfg_attr(feature = "serde", serde(with = "crate::wire::uid"))] u64);

impl Uid {
    /// The shared store, where it is the one voter. No node has this uid.
    pub const STORE: Self = Self(u64::MAX);

    /// The uid of that number; `None` for 0, which stands for nobody.
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:x}", self.0)
    }
}

/// One life of one address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Incarnation {
    /// Where it listens, or listened.
    pub address: Address,
    /// Which life it is.
    pub uid: Uid,
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.address, self.uid)
    }
}

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What people call a node; it may outlive many incarnations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(Arc<str>);

impl NodeId {
    /// The id of that text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a node says of itself when it joins; it never changes in one life.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Facts {
    /// What people call it.
    pub id: NodeId,
    /// What it may be used for, sorted.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub roles: Arc<[String]>,
    /// The version of the user's program.
    pub app_version: Arc<str>,
    /// The data center or zone it stands in; empty if nobody said.
    pub zone: Arc<str>,
    /// Its data directory; `None` if it has none.
    pub disk: Option<Disk>,
}

impl Facts {
    /// The identity of that life as a voter.
    pub fn voter(&self, uid: Uid) -> VoterId {
        self.disk.map_or(VoterId::of_life(uid), |disk| disk.voter)
    }
}

/// A data directory, and which life of its node uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Disk {
    /// The identity that is written there. It is another one in each life that begins without a log.
    pub voter: VoterId,
    /// Rises with each life. One that is not above that of an earlier life is of a copy: a restored backup, or a clone.
    pub life: u64,
}
