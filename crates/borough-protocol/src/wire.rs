//! How values are read from bytes of a peer: what serde's own ways would take and must not be taken.
//!
//! The promise: memory follows the bytes that are there, not the count in front of them, and a list that is said to be in order is.
//! What is impossible for one type alone is looked for in the `wire` module beside it.
//!
//! Numbers that chance or a hash made travel as eight bytes: as numbers of variable length they would take nine or ten.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::voters::VoterId;

/// How many bytes are made room for on nothing but a count.
const AT_ONCE: usize = 4096;

/// Why an item of a list is not taken.
type Wrong = &'static str;

/// A number of eight bytes, the least first.
pub(crate) mod fixed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
    pub(crate) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        number.to_le_bytes().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        <[u8; 8]>::deserialize(deserializer).map(u64::from_le_bytes)
    }
}

/// A uid's number: of eight bytes, and not 0.
pub(crate) mod uid {
    use serde::Deserializer;
    use serde::de::Error;

    use super::fixed;
    pub(crate) use super::fixed::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let number = fixed::deserialize(deserializer)?;
        if number == 0 { Err(D::Error::custom("a uid is 0")) } else { Ok(number) }
    }
}

/// A list of voters: nobody is no list.
pub(crate) fn somebody<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<VoterId>, D::Error> {
    let voters = BTreeSet::deserialize(deserializer)?;
    if voters.is_empty() { Err(D::Error::custom("nobody votes")) } else { Ok(voters) }
}

/// A list.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let mut items = Vec::new();
    each(deserializer, |item, left| {
        make_room(&mut items, left);
        items.push(item);
        Ok(())
    })?;
    Ok(items)
}

/// A list that is shared once it is read.
pub(crate) fn shared<'de, D, T>(deserializer: D) -> Result<Arc<[T]>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    list(deserializer).map(Arc::from)
}

/// A list in the order of keys, each key once.
pub(crate) fn ascending<'de, D, T, K>(deserializer: D, key: impl Fn(&T) -> K) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    K: Ord,
{
    let mut items: Vec<T> = Vec::new();
    each(deserializer, |item, left| {
        if items.last().is_some_and(|last| key(last) >= key(&item)) {
            return Err("a list is not in order");
        }
        make_room(&mut items, left);
        items.push(item);
        Ok(())
    })?;
    Ok(items)
}

/// Reads a list item by item; with each goes how many are said to be left, itself included.
pub(crate) fn each<'de, D, T, F>(deserializer: D, take: F) -> Result<(), D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    F: FnMut(T, usize) -> Result<(), Wrong>,
{
    deserializer.deserialize_seq(Each { take, item: PhantomData })
}

/// Makes room for one more item, and for as many to come as a quarter of those that were read: who says that there are more gains
/// nothing by it. Serde's own way would make room for a megabyte on a count alone.
fn make_room<T>(items: &mut Vec<T>, left: usize) {
    if items.len() == items.capacity() {
        let ahead = (items.len() / 4).max(AT_ONCE / size_of::<T>().max(1));
        items.reserve_exact(ahead.min(left).max(1));
    }
}

struct Each<T, F> {
    take: F,
    item: PhantomData<T>,
}

impl<'de, T, F> Visitor<'de> for Each<T, F>
where
    T: Deserialize<'de>,
    F: FnMut(T, usize) -> Result<(), Wrong>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            let left = items.size_hint().map_or(usize::MAX, |behind| behind.saturating_add(1));
            (self.take)(item, left).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
