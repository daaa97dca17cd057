//! A checksum of each record, over its place and its contents: one that was moved or changed is found when it is read.

use crc32fast::Hasher;

/// Which table a record is of, so that none passes for one of another table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// Of earlier versions: over the identity alone.
    Identity = 1,
    Record = 2,
    Voter = 3,
    Snapshot = 4,
    Entry = 5,
    Pledges = 6,
    Directory = 7,
}

/// The checksum of a record of these numbers and bytes.
pub(crate) fn checksum(of: Of, numbers: &[u64], bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&[of as u8]);
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(bytes);
    hasher.finalize()
}
