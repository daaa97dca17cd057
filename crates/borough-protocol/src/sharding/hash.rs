//! Which shard an id belongs to.
//!
//! Every node, of every version and on every platform, must say the same of the same bytes, or two nodes would each look
//! after an entity of their own. So the functions are frozen: the tests hold values that other programs computed.

use md5::{Digest, Md5};
use twox_hash::XxHash3_64;

use super::kind::Hashing;

impl Hashing {
    /// The shard of an id, below `shards`; 0 if there are none. `None` for a custom function: only its user has it.
    #[inline]
    pub fn shard_of(self, id: &[u8], shards: u32) -> Option<u32> {
        match self {
            Self::Xxh3 => Some(remainder(xxh3(id), shards)),
            Self::Md5 => Some(remainder(u64::from(md5(id)), shards)),
            Self::Custom(_) => None,
        }
    }

    /// How a custom function is declared: by what it says of a few ids.
    ///
    /// The ids are neither empty nor long and consist of ASCII characters. Functions that differ only for other ids are taken for the same.
    pub fn custom(function: impl FnMut(&[u8]) -> u32) -> Self {
        Self::Custom(fingerprint(function))
    }
}

/// xxh3 (64 bits, no seed) of an id. Its remainder is the shard, so within a shard only the quotient tells ids apart.
#[inline]
pub fn xxh3(id: &[u8]) -> u64 {
    XxHash3_64::oneshot(id)
}

/// What a function says of 32 fixed ids, hashed: two nodes whose functions differ in any of them do not agree.
pub fn fingerprint(mut function: impl FnMut(&[u8]) -> u32) -> u64 {
    let mut said = [0_u8; 4 * PROBES.len()];
    for (place, id) in said.chunks_exact_mut(4).zip(PROBES) {
        place.copy_from_slice(&function(id.as_bytes()).to_le_bytes());
    }
    xxh3(&said)
}

/// The first four bytes of the MD5 sum, the greatest first.
fn md5(id: &[u8]) -> u32 {
    let sum: [u8; 16] = Md5::digest(id).into();
    let [a, b, c, d, ..] = sum;
    u32::from_be_bytes([a, b, c, d])
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a remainder is below its divisor, which is a u32")]
fn remainder(hash: u64, shards: u32) -> u32 {
    let shards = u64::from(shards.max(1));
    // The same; but to divide takes longer than all else that finds the shard.
    (if shards.is_power_of_two() { hash & (shards - 1) } else { hash % shards }) as u32
}

/// Never to be changed: nodes that hold other ids would refuse each other. Numbers, names, prefixes and UUIDs, because a function
/// may look at only one part of an id.
const PROBES: [&str; 32] = [
    "0",
    "1",
    "2",
    "7",
    "10",
    "42",
    "255",
    "256",
    "1000",
    "65536",
    "4294967296",
    "a",
    "b",
    "z",
    "A",
    "abc",
    "cba",
    "user-1",
    "user-2",
    "user-1000",
    "order-1",
    "order:1",
    "eu/user/1",
    "us/user/1",
    "eu/order/9",
    "someone@example.com",
    "00000000-0000-0000-0000-000000000000",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "0123456789abcdef",
    "fedcba9876543210",
    "the quick brown fox jumps over the lazy dog",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{PROBES, fingerprint, xxh3};
    use crate::sharding::Hashing;

    /// Id, its xxh3 by the C library (0.8.4), the first four bytes of its MD5 sum by Python's hashlib.
    const VECTORS: [(&[u8], u64, u32); 14] = [
        (b"", 0x2d06_8005_38d3_94c2, 0xd41d_8cd9),
        (b"a", 0xe6c6_32b6_1e96_4e1f, 0x0cc1_75b9),
        (b"0", 0x1982_e3a7_bb24_1055, 0xcfcd_2084),
        (b"user-1", 0x7c76_15c1_1438_e5c9, 0xd6d7_7053),
        (b"order-4711", 0xeb5e_a296_3eb0_cc60, 0x1894_38b9),
        (b"6ba7b810-9dad-11d1-80b4-00c04fd430c8", 0x1739_7162_34c4_dd43, 0x1677_cad0),
        (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 0x8355_e3a6_f617_70db, 0x1ac1_ef01),
        (&[b'x'; 17], 0x8997_5e6b_7d2f_5a11, 0x3ef8_2839),
        (&[b'y'; 128], 0x22b1_c316_76fb_61ba, 0xd5d6_7553),
        (&[b'z'; 129], 0x4e15_1cfc_44a9_680c, 0x200e_0d64),
        (&[b'w'; 240], 0x760d_6204_16ef_0d6c, 0x978b_0c39),
        (&[b'v'; 241], 0x1424_70b8_035f_c7a8, 0xf190_de59),
        ("Zürich".as_bytes(), 0x0ba4_4fcc_12cc_a74e, 0x103a_821a),
        (&[0xff; 8], 0x5111_c7e4_7d78_4413, 0xc2cb_56f4),
    ];

    #[test]
    fn xxh3_says_what_the_c_library_says() {
        for (id, hash, _) in VECTORS {
            assert_eq!(xxh3(id), hash, "{id:?}");
        }
    }

    #[test]
    fn the_shard_is_the_remainder_of_the_hash() {
        for (id, hash, sum) in VECTORS {
            for shards in [1, 2, 100, 256, 1000, u32::MAX] {
                let xxh3 = u32::try_from(hash % u64::from(shards)).expect("below a u32");
                assert_eq!(Hashing::Xxh3.shard_of(id, shards), Some(xxh3), "{id:?} of {shards}");
                assert_eq!(Hashing::Md5.shard_of(id, shards), Some(sum % shards), "{id:?} of {shards}");
            }
        }
    }

    /// Written out, so that a wrong remainder cannot hide behind the same mistake in the test.
    #[test]
    fn a_few_shards_are_frozen_as_numbers() {
        assert_eq!(Hashing::Xxh3.shard_of(b"user-1", 256), Some(201));
        assert_eq!(Hashing::Xxh3.shard_of(b"order-4711", 1000), Some(784));
        assert_eq!(Hashing::Md5.shard_of(b"user-1", 100), Some(19));
        assert_eq!(Hashing::Md5.shard_of(b"order-4711", 1000), Some(33));
    }

    #[test]
    fn no_shards_are_no_reason_to_panic() {
        assert_eq!(Hashing::Xxh3.shard_of(b"a", 0), Some(0));
        assert_eq!(Hashing::Md5.shard_of(b"a", 0), Some(0));
    }

    #[test]
    fn a_custom_function_is_its_users_own() {
        assert_eq!(Hashing::custom(|_| 0).shard_of(b"a", 8), None);
    }

    #[test]
    fn functions_that_differ_in_one_answer_have_other_fingerprints() {
        let length = |id: &[u8]| u32::try_from(id.len()).expect("short");
        let other_for =
            |probe: &'static str| fingerprint(move |id| if id == probe.as_bytes() { 99 } else { length(id) });
        let mut seen: BTreeSet<u64> = PROBES.into_iter().map(other_for).collect();
        seen.insert(fingerprint(length));
        assert_eq!(seen.len(), PROBES.len() + 1);
        assert_eq!(Hashing::custom(length), Hashing::Custom(fingerprint(length)));
    }

    /// Another value would split clusters of mixed versions. Computed with Python's xxhash over the lengths of the ids, as `<I`.
    #[test]
    fn the_fingerprint_of_a_known_function_is_frozen() {
        assert_eq!(fingerprint(|id| u32::try_from(id.len()).expect("short")), 0x809b_92fd_18ab_a11b);
    }

    #[test]
    fn ids_that_count_spread_evenly() {
        let mut shards = [0_u32; 64];
        for n in 0..64_000_u32 {
            let shard = Hashing::Xxh3.shard_of(std::format!("user-{n}").as_bytes(), 64).expect("not custom");
            shards[usize::try_from(shard).expect("small")] += 1;
        }
        // 1000 each, with a standard deviation of 31.
        assert!(shards.iter().all(|count| (850..1150).contains(count)), "{shards:?}");
    }
}
