//! `MessagePack` with field names: messages may gain fields while a cluster is upgraded.

use rmp_serde::config::DefaultConfig;
use rmp_serde::decode::{Deserializer, ReadReader};
use rmp_serde::encode::Serializer;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, CodecError, CodecId};

/// How deep values may lie in each other: enough for any message, and far from the end of a stack.
const DEPTH_MAX: usize = 128;

/// `MessagePack`, structs as maps with field names.
#[derive(Clone, Copy, Debug)]
pub struct MessagePack;

impl Codec for MessagePack {
    const ID: CodecId = CodecId::MessagePack;

    fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = out.len();
        value.serialize(&mut Serializer::new(&mut *out).with_struct_map()).map_err(|error| {
            out.truncate(start);
            CodecError::encode::<T>(Self::ID, &error)
        })
    }

    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
        let mut left = bytes;
        let mut decoder: Deserializer<ReadReader<&mut &[u8]>, DefaultConfig> = Deserializer::new(&mut left);
        decoder.set_max_depth(DEPTH_MAX);
        let value =
            T::deserialize(&mut decoder).map_err(|error| CodecError::decode::<T>(Self::ID, &error))?;
        if left.is_empty() { Ok(value) } else { Err(CodecError::trailing::<T>(Self::ID, left.len())) }
    }
}
