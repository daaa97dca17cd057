//! The name of an entity within its type.
//!
//! Promise: an id is a string of 1 to 255 bytes, compared and hashed as such, so it means the same on every node. One of up to 23 bytes is
//! copied as four words and never allocates.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many bytes fit beside their count into three words.
const INLINE: usize = 23;

/// Names an entity within its type: 1 to 255 bytes, most often text.
///
/// Two ids are equal if their bytes are. Up to 23 bytes lie within the id itself; longer ones are shared by their clones.
///
/// ```
/// use borough_actor::{EntityId, IntoEntityId};
/// let id = "alice".into_entity_id()?;
/// assert_eq!(&*id.as_bytes(), b"alice");
/// assert_eq!(id.to_string(), "alice");
/// assert!("".into_entity_id().is_err());
/// # Ok::<(), borough_actor::EntityIdError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct EntityId {
    /// Up to 23 bytes and, in the last byte of the last word, how many; or the first 23 of a longer one and its length.
    ///
    /// Words, because an array of bytes is copied and compared byte by byte where the compiler loses sight of it.
    words: [u64; 3],
    /// All bytes of one that is longer.
    long: Option<Arc<Box<[u8]>>>,
}

/// Why something cannot name an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntityIdError {
    /// It is empty.
    #[error("an entity's id is empty; give it at least one byte")]
    Empty,
    /// It is longer than ids may be.
    #[error("an entity's id takes {len} bytes, and {} are allowed; name it by a hash of that", EntityId::MAX)]
    TooLong {
        /// How many bytes it has.
        len: usize,
    },
}

impl EntityId {
    /// How many bytes an id may have.
    pub const MAX: usize = 255;

    /// The id of these bytes.
    #[inline]
    pub fn new(bytes: &[u8]) -> Result<Self, EntityIdError> {
        IdView::new(bytes).map(IdView::to_id)
    }

    /// The id of these words, if it is all in them.
    #[inline]
    pub(crate) fn of_words(words: [u64; 3]) -> Option<Self> {
        let len = (words[2] >> 56) as usize;
        (1..=INLINE).contains(&len).then_some(Self { words, long: None })
    }

    /// How many bytes it has.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "only that of nobody is")]
    pub fn len(&self) -> usize {
        (self.words[2] >> 56) as usize
    }

    /// Gives `look` its bytes.
    #[inline]
    pub fn with_bytes<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        if let Some(long) = &self.long {
            return look(long);
        }
        let mut bytes = [0; 24];
        for (at, word) in bytes.chunks_exact_mut(8).zip(&self.words) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        look(&bytes[..self.len().min(INLINE)])
    }

    /// Appends its bytes. Of a short one by whole words, which is faster than to copy as many bytes as it has.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        if let Some(long) = &self.long {
            return out.extend_from_slice(long);
        }
        let [first, second, third] = self.words.map(u64::to_le_bytes);
        let end = out.len() + self.len();
        out.reserve(3 * 8);
        out.extend_from_slice(&first);
        out.extend_from_slice(&second);
        out.extend_from_slice(&third);
        out.truncate(end);
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> Cow<'_, [u8]> {
        match &self.long {
            Some(long) => Cow::Borrowed(long),
            None => Cow::Owned(self.with_bytes(<[u8]>::to_vec)),
        }
    }
}

/// An id where it lies in a message: hashed and compared as the [`EntityId`] of its bytes, which need not be made.
#[derive(Clone, Copy, Debug)]
pub struct IdView<'a> {
    words: [u64; 3],
    long: Option<&'a [u8]>,
}

impl<'a> IdView<'a> {
    /// The id of these bytes.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self, EntityIdError> {
        match bytes.len() {
            0 => Err(EntityIdError::Empty),
            1..=INLINE => Ok(Self { words: words(bytes, bytes.len()), long: None }),
            len @ ..=EntityId::MAX => Ok(Self { words: words(&bytes[..INLINE], len), long: Some(bytes) }),
            len => Err(EntityIdError::TooLong { len }),
        }
    }

    /// That id, wherever it lies.
    #[inline]
    pub fn of(id: &'a EntityId) -> Self {
        Self { words: id.words, long: id.long.as_deref().map(|long| &**long) }
    }

    /// Whether it is that one.
    #[inline]
    pub fn is(self, id: &EntityId) -> bool {
        // Word by word: what is compared as one was written as three just before, and would be waited for.
        let [a, b, c] = self.words;
        let differs = (a ^ id.words[0]) | (b ^ id.words[1]) | (c ^ id.words[2]);
        differs == 0 && self.long == IdView::of(id).long
    }

    /// The id to keep.
    #[inline]
    pub fn to_id(self) -> EntityId {
        EntityId { words: self.words, long: self.long.map(|long| Arc::new(long.into())) }
    }

    /// Three words that depend on every byte of a short id and on the first 23 of a long one, and its length: for hashing within a process.
    #[inline]
    pub(crate) fn words(self) -> [u64; 3] {
        self.words
    }

    /// All bytes of an id that is not in its words alone.
    #[inline]
    pub(crate) fn long(self) -> Option<&'a [u8]> {
        self.long
    }
}

/// The id of nobody, which stands where one was taken out: it is empty, and no message goes to it.
impl Default for EntityId {
    fn default() -> Self {
        Self { words: [0; 3], long: None }
    }
}

/// At most 23 bytes as three words, in the last byte of which is `len`. Without a detour by memory, where what was written in small pieces is
/// waited for if it is read in large ones.
#[inline]
fn words(bytes: &[u8], len: usize) -> [u64; 3] {
    let [first, second, third] = match bytes.len() {
        0..8 => [bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0, 0],
        8..16 => [word(bytes), rest(bytes), 0],
        _ => [word(bytes), word(&bytes[8..]), rest(bytes)],
    };
    [first, second, third | (len as u64) << 56]
}

/// The first eight bytes.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// The bytes behind the last whole word.
#[inline]
fn rest(bytes: &[u8]) -> u64 {
    let last = bytes.last_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    // In two steps: a word cannot be shifted by all its bits.
    last >> 8 >> (56 - 8 * (bytes.len() % 8))
}

impl Hash for EntityId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.hash(state);
        if let Some(long) = &self.long {
            state.write(&long[INLINE..]);
        }
    }
}

impl PartialOrd for EntityId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// By their bytes.
impl Ord for EntityId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.with_bytes(|own| other.with_bytes(|others| own.cmp(others)))
    }
}

/// As text if it is printable text, as a UUID if it is 16 other bytes, else in hexadecimal digits.
impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_bytes(|bytes| match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains(char::is_control) => f.write_str(text),
            _ => {
                let is_uuid = bytes.len() == 16;
                for (at, byte) in bytes.iter().enumerate() {
                    if is_uuid && matches!(at, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
        })
    }
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntityId({self})")
    }
}

/// As bytes; where people read it, as text if it is text.
impl Serialize for EntityId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let human = serializer.is_human_readable();
        self.with_bytes(|bytes| match std::str::from_utf8(bytes) {
            Ok(text) if human => serializer.serialize_str(text),
            _ => serializer.serialize_bytes(bytes),
        })
    }
}

impl<'de> Deserialize<'de> for EntityId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Bytes)
        } else {
            deserializer.deserialize_bytes(Bytes)
        }
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = EntityId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1 to {} bytes that name an entity", EntityId::MAX)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<EntityId, E> {
        self.visit_bytes(text.as_bytes())
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<EntityId, E> {
        EntityId::new(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<EntityId, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
            if bytes.len() > EntityId::MAX {
                break;
            }
        }
        self.visit_bytes(&bytes)
    }
}

/// What can name an entity: text, 16 bytes (a UUID's), and numbers, which name it by their decimal digits, so that `7` and `"7"` are one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot name an entity",
    note = "text (`&str`, `String`), `[u8; 16]` (as of `uuid.into_bytes()`), `u64`, `u32` and `EntityId` can",
    note = "other bytes can by `EntityId::new(&bytes)?`"
)]
pub trait IntoEntityId {
    /// The id, or why it is none.
    fn into_entity_id(self) -> Result<EntityId, EntityIdError>;
}

impl IntoEntityId for &str {
    #[inline]
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        EntityId::new(self.as_bytes())
    }
}

impl IntoEntityId for String {
    #[inline]
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        EntityId::new(self.as_bytes())
    }
}

impl IntoEntityId for &String {
    #[inline]
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        EntityId::new(self.as_bytes())
    }
}

impl IntoEntityId for [u8; 16] {
    #[inline]
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        EntityId::new(&self)
    }
}

/// All but the [default](EntityId::default), which names nobody.
impl IntoEntityId for EntityId {
    #[inline]
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        if self.len() == 0 { Err(EntityIdError::Empty) } else { Ok(self) }
    }
}

/// All but the [default](EntityId::default), which names nobody.
impl IntoEntityId for &EntityId {
    #[inline]
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        self.clone().into_entity_id()
    }
}

/// By its decimal digits: a number is an id, always.
impl From<u64> for EntityId {
    fn from(number: u64) -> Self {
        // Twenty digits at the most.
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut left = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                let digits = &digits[at..];
                return Self { words: words(digits, digits.len()), long: None };
            }
        }
    }
}

impl IntoEntityId for u64 {
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        Ok(self.into())
    }
}

impl IntoEntityId for u32 {
    fn into_entity_id(self) -> Result<EntityId, EntityIdError> {
        u64::from(self).into_entity_id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_four_words() {
        assert_eq!(size_of::<EntityId>(), 32);
        assert_eq!(size_of::<Option<EntityId>>(), 40);
    }

    #[test]
    fn the_bytes_come_back_whatever_their_number() {
        for len in 1..=255 {
            let bytes: Vec<u8> = (1..=255).take(len).collect();
            let id = EntityId::new(&bytes).unwrap();
            assert_eq!(&*id.as_bytes(), &bytes[..]);
            assert_eq!(id.len(), len);
            let mut behind = b"before".to_vec();
            id.append_to(&mut behind);
            assert_eq!(behind, [b"before", &bytes[..]].concat());
            assert_eq!(id, id.clone());
        }
    }

    #[test]
    fn bytes_where_they_lie_are_the_id_made_of_them_and_no_other() {
        for len in 1..=255 {
            let mut bytes: Vec<u8> = (1..=255).take(len).collect();
            let id = EntityId::new(&bytes).unwrap();
            assert!(IdView::new(&bytes).unwrap().is(&id));
            assert_eq!(IdView::new(&bytes).unwrap().to_id(), id);
            bytes[len - 1] ^= 1;
            assert!(!IdView::new(&bytes).unwrap().is(&id));
            bytes.pop();
            assert!(IdView::new(&bytes).is_ok_and(|shorter| !shorter.is(&id)) == (len > 1));
        }
    }

    #[test]
    fn none_and_too_many_bytes_are_refused() {
        assert_eq!(EntityId::new(b""), Err(EntityIdError::Empty));
        assert_eq!(EntityId::new(&[1; 256]), Err(EntityIdError::TooLong { len: 256 }));
    }

    #[test]
    fn the_id_of_nobody_is_refused_as_an_empty_one() {
        let nobody = EntityId::default();
        assert_eq!(IntoEntityId::into_entity_id(&nobody), Err(EntityIdError::Empty));
        assert_eq!(nobody.into_entity_id(), Err(EntityIdError::Empty));
        for len in [1, 23, 24, 255] {
            let id = EntityId::new(&vec![0; len]).unwrap();
            assert_eq!(IntoEntityId::into_entity_id(&id), Ok(id.clone()));
            assert_eq!(id.clone().into_entity_id(), Ok(id));
        }
    }

    #[test]
    fn ids_that_differ_in_any_byte_or_in_length_differ() {
        for len in [1, 8, 23, 24, 40, 255] {
            let id = EntityId::new(&vec![0; len]).unwrap();
            for at in 0..len {
                let mut bytes = vec![0; len];
                bytes[at] = 1;
                assert_ne!(id, EntityId::new(&bytes).unwrap());
            }
            assert_ne!(id, EntityId::new(&vec![0; if len == 255 { 254 } else { len + 1 }]).unwrap());
        }
    }

    #[test]
    fn text_is_shown_as_text_16_bytes_as_a_uuid_others_in_hexadecimal() {
        assert_eq!("zürich".into_entity_id().unwrap().to_string(), "zürich");
        assert_eq!([0xab; 16].into_entity_id().unwrap().to_string(), "abababab-abab-abab-abab-abababababab");
        assert_eq!(EntityId::new(&[0xff, 1]).unwrap().to_string(), "ff01");
    }

    #[test]
    fn a_number_names_what_its_digits_name() {
        for number in [0, 7, 10, 12_345, u64::MAX] {
            assert_eq!(number.into_entity_id(), number.to_string().into_entity_id());
            assert_eq!(Ok(EntityId::from(number)), number.into_entity_id());
        }
        assert_eq!(7_u32.into_entity_id(), "7".into_entity_id());
    }
}
