//! When a sender that never waits lets others run.
//!
//! A task that sends into an unbounded mailbox never waits, so without this the actor, woken on the sender's own
//! worker, would not run before the flood is over, and the peers would be slower by half. How often is best was
//! measured (every 16, 256, 4096, 65536 tells, and never): the intervals below are the best for the peers that are
//! best, and within noise of it for the others.

/// How many tells apart the breaths are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breath {
    mask: u64,
}

impl Breath {
    /// For one sender, to one actor or to a thousand.
    pub(super) const ALONE: Self = Self { mask: 4096 - 1 };
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
