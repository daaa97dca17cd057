//! Postcard: compact, quick, and without field names.

use postcard::Deserializer;
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, CodecError, CodecId};

/// The default codec. The order of fields and of variants is its format.
///
/// It reads a type as deep as the bytes say: a type that contains itself should travel with another codec if the peer is not
/// to be trusted, and so should a sequence of values without bytes (`Vec<()>`), whose length costs nothing to write.
#[derive(Clone, Copy, Debug)]
pub struct Postcard;

impl Codec for Postcard {
    const ID: CodecId = CodecId::Postcard;

    #[inline]
    fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = out.len();
        postcard::serialize_with_flavor(value, Tail(out)).map_err(|error| {
            out.truncate(start);
            CodecError::encode::<T>(Self::ID, &error)
        })
    }

    #[inline]
    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
        match postcard::take_from_bytes(bytes) {
            Ok((value, [])) => Ok(value),
            Ok((_, left)) => Err(CodecError::trailing::<T>(Self::ID, left.len())),
            Err(error) => Err(CodecError::decode::<T>(Self::ID, &error)),
        }
    }

    #[inline]
    fn decode_into<T: DeserializeOwned>(bytes: &[u8], place: &mut Option<T>) -> Result<(), CodecError> {
        *place = None;
        let mut decoder = Deserializer::from_bytes(bytes);
        match T::deserialize(&mut decoder) {
            Ok(value) => *place = Some(value),
            Err(error) => return Err(CodecError::decode::<T>(Self::ID, &error)),
        }
        // Left over is never an error of a slice, and would mean as much.
        let left = decoder.finalize().map_or(usize::MAX, <[u8]>::len);
        if left == 0 {
            return Ok(());
        }
        *place = None;
        Err(CodecError::trailing::<T>(Self::ID, left))
    }
}

/// The end of a buffer. Postcard's own way to append to one goes through an iterator for each byte.
struct Tail<'a>(&'a mut Vec<u8>);

impl Flavor for Tail<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
