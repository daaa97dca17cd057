//! The name of an ask under way.

use std::num::NonZeroU64;

/// How many answer slots can be named.
pub(super) const SLOTS: usize = ABROAD as usize;

/// From here on no table has slots: their asks are those of other nodes, the generation is the deadline, and the slot says of which nodes.
const ABROAD: u32 = (1 << 24) - PLACES;

/// By so many numbers the nodes of asks are told apart; the last stands for any.
pub(super) const PLACES: u32 = 1024;

/// Names one ask of a system: an answer slot, and which use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskId(NonZeroU64);

impl AskId {
    /// `slot` is below [`SLOTS`].
    #[inline]
    pub(super) fn new(slot: u32, generation: u32) -> Self {
        Self(NonZeroU64::MIN | (u64::from(generation) << 32 | u64::from(slot) << 8))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is cut off on purpose")]
    pub(super) fn slot(self) -> u32 {
        self.0.get() as u32 >> 8
    }

    /// The ask of another node, if it is known which, which ends at this moment of the table's own clock.
    #[inline]
    pub(super) fn abroad(deadline: u32, uid: Option<u64>) -> Self {
        Self::new(ABROAD + uid.map_or(PLACES - 1, Self::place_of), deadline)
    }

    /// By which number that node is known; others may have the same.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is below 1024")]
    pub(super) fn place_of(uid: u64) -> u32 {
        (uid % u64::from(PLACES - 1)) as u32
    }

    /// By which number its node is known, if it is another's ask.
    #[inline]
    pub(super) fn place_abroad(self) -> Option<u32> {
        self.slot().checked_sub(ABROAD)
    }

    /// When the ask ends, if it is another node's.
    #[inline]
    pub(crate) fn deadline_abroad(self) -> Option<u32> {
        (self.slot() >= ABROAD).then_some(self.generation())
    }

    #[inline]
    pub(super) fn generation(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    /// The name as a number that can travel.
    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// The name of that number, whatever it is.
    pub(crate) fn of_number(number: u64) -> Self {
        Self(NonZeroU64::MIN | number & !0xff)
    }

    #[inline]
    pub(crate) fn stow(self) -> StowedAskId {
        let [_, bytes @ ..] = self.0.get().to_le_bytes();
        StowedAskId { bytes, niche: Niche::Only }
    }
}

/// An [`AskId`] as it lies in a mailbox.
///
/// One byte is left to the compiler, which tells the variants of a mailbox item apart by it, so that
/// an item that carries no ask pays nothing for those that do. In a register the whole word is quicker.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(crate) struct StowedAskId {
    bytes: [u8; 7],
    #[expect(dead_code, reason = "read by the compiler alone")]
    niche: Niche,
}

#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Niche {
    Only,
}

impl StowedAskId {
    #[inline]
    pub(crate) fn unstow(self) -> AskId {
        let mut word = [1; 8];
        word[1..].copy_from_slice(&self.bytes);
        AskId(NonZeroU64::MIN | u64::from_le_bytes(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_id_is_eight_bytes_and_leaves_room_beside_them() {
        assert_eq!(size_of::<Option<AskId>>(), 8);
        assert_eq!(size_of::<Option<Option<StowedAskId>>>(), 8);
    }

    #[test]
    fn a_name_survives_the_mailbox() {
        for slot in [0, 1, 255, 256, 65_535, 65_536, ABROAD - 1, ABROAD, ABROAD + PLACES - 1] {
            for generation in [0, 1, u32::MAX] {
                let id = AskId::new(slot, generation);
                assert_eq!(id.stow().unstow(), id);
                assert_eq!(id.slot(), slot);
                assert_eq!(AskId::of_number(id.number()), id);
                assert_eq!(id.deadline_abroad(), (slot >= ABROAD).then_some(generation));
            }
        }
    }

    #[test]
    fn an_ask_of_another_node_says_when_it_ends_and_whose_it_is() {
        for (uid, place) in [(Some(0), 0), (Some(1025), 2), (Some(u64::MAX), 15), (None, PLACES - 1)] {
            let id = AskId::abroad(77, uid);
            assert_eq!((id.deadline_abroad(), id.place_abroad()), (Some(77), Some(place)), "{uid:?}");
        }
        assert_eq!(AskId::new(7, 1).place_abroad(), None);
    }
}
