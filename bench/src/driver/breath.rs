//! When a sender that never waits lets others run.
//!
//! A task that sends into an unbounded mailbox never waits. Its tells wake the actor on the sender's own worker, so
//! most likely the actor gets to run late, and the backlog grows: without any yield xtra, coerce and ractor lost a
//! third to a half of their `tell1` rate. actix, whose actor has a thread of its own, neither gained nor lost.
//!
//! Tried: every 16, 256, 4096 and 65536 tells, and never; five runs each on a machine others were using. The
//! intervals below had the highest median for the fastest of the peers concerned, or were within the range of it.

/// How many tells apart the breaths are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breath {
    mask: u64,
}

impl Breath {
    /// For one sender, to one actor or to a thousand.
    pub(crate) const ALONE: Self = Self { mask: 4096 - 1 };
    /// For four, of which two keep the workers busy.
    pub(super) const AMONG_FOUR: Self = Self { mask: 16 - 1 };

    /// To be called after each tell, with its number.
    pub(crate) async fn after(self, number: u64) {
        // A mask, as a division would show in the fastest programs.
        if number & self.mask == 0 {
            tokio::task::yield_now().await;
        }
    }
}
