//! Ids of sixteen bytes, made from numbers without an allocation, and which of them a number goes to.

/// Sixteen hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id([u8; 16]);

impl Id {
    fn new(number: u64) -> Self {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&digits((number >> 32) as u32).to_be_bytes());
        id[8..].copy_from_slice(&digits(number as u32).to_be_bytes());
        Self(id)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits are text")
    }

    pub(crate) fn bytes(self) -> [u8; 16] {
        self.0
    }
}

/// Eight hexadecimal digits at once: a table look-up a digit would show beside the fastest programs.
fn digits(number: u32) -> u64 {
    let mut spread = u64::from(number);
    spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF;
    spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF;
    spread = (spread | spread << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    spread + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)
}

/// So many ids, and which of them each number goes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) count: u64,
    first: u64,
    shuffled: bool,
}

impl Ids {
    /// Numbers go to random ones of them, the same in every run.
    pub(crate) fn shuffled(count: u64) -> Self {
        Self { count, first: 0, shuffled: true }
    }

    /// Others than the shuffled ones; each number below `count` goes to one of its own.
    pub(crate) fn fresh(count: u64) -> Self {
        Self { count, first: 1 << 40, shuffled: false }
    }

    /// The id that a number goes to.
    pub(crate) fn of(self, number: u64) -> Id {
        self.nth(self.place_of(number))
    }

    /// One after the other.
    pub(crate) fn nth(self, place: u64) -> Id {
        // One to one, so no two places share an id.
        Id::new(mix(self.first + place))
    }

    /// The place of the id that a number goes to.
    pub(crate) fn place_of(self, number: u64) -> u64 {
        if !self.shuffled {
            return number;
        }
        ((u128::from(mix(!number)) * u128::from(self.count)) >> 64) as u64
    }
}

fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_id_is_its_number_in_hexadecimal_digits() {
        for number in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX, 0xfedc_ba98_7654_3210] {
            assert_eq!(Id::new(number).as_str(), format!("{number:016x}"));
        }
    }

    #[test]
    fn all_ids_differ_and_all_are_used() {
        let ids = Ids::shuffled(1000);
        let all: BTreeSet<Id> = (0..1000).map(|place| ids.nth(place)).collect();
        let used: BTreeSet<Id> = (0..20_000).map(|number| ids.of(number)).collect();
        let fresh: BTreeSet<Id> = (0..1000).map(|number| Ids::fresh(1000).of(number)).collect();
        assert_eq!(all.len(), 1000);
        assert_eq!(used, all);
        assert_eq!(fresh.len(), 1000);
        assert!(fresh.is_disjoint(&all));
    }
}
