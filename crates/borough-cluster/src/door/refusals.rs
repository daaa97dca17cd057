//! Who was not let in, and why: counted always, logged seldom.
//!
//! Promise: strangers cannot fill a log. Each reason is logged at most once a minute, with the number of those that were
//! left out since; the counts are exact.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::seldom::Seldom;

/// Why one who connected was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Refusal {
    /// It speaks something else: a port scanner, a browser, TLS where there is none or nothing where there is TLS.
    NotBorough,
    /// It speaks Borough, and broke its rules.
    Malformed,
    /// It belongs to a cluster of another name.
    OtherCluster,
    /// There is no version of the protocol that both speak.
    Versions,
    /// Its certificate is missing, has run out, or is of an authority that is not trusted here.
    NotCertified,
    /// Its certificate is not valid for the address that it says is its own.
    AddressNotCertified,
    /// It does not know the secret, or knows one where there is none, or repeats what another once said.
    NotAuthenticated,
    /// It looks for an earlier life of this node.
    NotMe,
    /// This node dialled itself.
    Myself,
    /// It was removed from the cluster.
    Removed,
    /// There are as many connections as there may be.
    TooMany,
    /// It said nothing until its time was over.
    Silent,
    /// It began, and was not ready in time.
    TimedOut,
    /// It went away before it was let in.
    ClosedEarly,
    /// It was the oldest of too many who were not ready, and had to make room.
    CrowdedOut,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Self; 15] = [
        Self::NotBorough,
        Self::Malformed,
        Self::OtherCluster,
        Self::Versions,
        Self::NotCertified,
        Self::AddressNotCertified,
        Self::NotAuthenticated,
        Self::NotMe,
        Self::Myself,
        Self::Removed,
        Self::TooMany,
        Self::Silent,
        Self::TimedOut,
        Self::ClosedEarly,
        Self::CrowdedOut,
    ];

    /// What to look at, in a few words.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::NotBorough => "what connects here is no node, or has other TLS settings",
            Self::Malformed => "what connects here breaks the protocol",
            Self::OtherCluster => "give all nodes of one cluster the same name",
            Self::Versions => "upgrade version by version",
            Self::NotCertified => "check its certificate and the authority on both sides",
            Self::AddressNotCertified => "issue its certificate for the host that it advertises",
            Self::NotAuthenticated => "give all nodes the same secret, or none",
            Self::NotMe => "it will learn of this node's new life",
            Self::Myself => "this node's own address is among those it dials",
            Self::Removed => "it will come back under a new uid",
            Self::TooMany => "raise the limit connections_max",
            Self::Silent | Self::TimedOut | Self::ClosedEarly => "a probe of the port, or a bad network",
            Self::CrowdedOut => "too many connect at once and say nothing",
        }
    }

    /// Whether health checks and the like cause it every day.
    const fn is_usual(self) -> bool {
        matches!(self, Self::Silent | Self::ClosedEarly | Self::NotMe | Self::Myself)
    }
}

/// How many were not let in since the node started, by reason.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RefusalCounts {
    counts: [u64; Refusal::ALL.len()],
}

impl RefusalCounts {
    /// How many for this reason.
    pub fn of(&self, reason: Refusal) -> u64 {
        self.counts[reason as usize]
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Every reason with its number, also those that never occurred.
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        Refusal::ALL.into_iter().map(|reason| (reason, self.of(reason)))
    }
}

/// Shows the reasons that occurred.
impl fmt::Debug for RefusalCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().filter(|(_, count)| *count > 0)).finish()
    }
}

/// Where refusals are counted.
#[derive(Default)]
pub(super) struct Refusals {
    reasons: [Reason; Refusal::ALL.len()],
}

#[derive(Default)]
struct Reason {
    count: AtomicU64,
    log: Seldom,
}

impl Refusals {
    pub(super) fn counts(&self) -> RefusalCounts {
        let mut counts = RefusalCounts::default();
        for (count, reason) in counts.counts.iter_mut().zip(&self.reasons) {
            *count = reason.count.load(Ordering::Relaxed);
        }
        counts
    }

    /// One more. The detail may hold text of the stranger: it is logged escaped.
    pub(super) fn add(&self, reason: Refusal, from: &str, detail: &str) {
        let this = &self.reasons[reason as usize];
        this.count.fetch_add(1, Ordering::Relaxed);
        let Some(left_out) = this.log.happened() else { return };
        let hint = reason.hint();
        if reason.is_usual() {
            tracing::debug!(?reason, from, ?detail, hint, left_out, "not let in");
        } else {
            tracing::warn!(?reason, from, ?detail, hint, left_out, "not let in");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_place_of_its_own() {
        for (place, reason) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_logged_is_counted() {
        let refusals = Refusals::default();
        for _ in 0..10 {
            refusals.add(Refusal::NotBorough, "x", "");
        }
        refusals.add(Refusal::Silent, "x", "");
        let counts = refusals.counts();
        assert_eq!((counts.of(Refusal::NotBorough), counts.of(Refusal::Silent), counts.total()), (10, 1, 11));
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 11);
    }
}
