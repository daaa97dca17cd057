//! JSON: for people who read along, and for programs that are not ours.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, CodecError, CodecId};

/// JSON, without white space. Values lie at most 128 deep.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Codec for Json {
    const ID: CodecId = CodecId::Json;

    fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = out.len();
        serde_json::to_writer(&mut *out, value).map_err(|error| {
            out.truncate(start);
            CodecError::encode::<T>(Self::ID, &error)
        })
    }

    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
        // Anything but white space behind the value is an error of its own there.
        serde_json::from_slice(bytes).map_err(|error| CodecError::decode::<T>(Self::ID, &error))
    }
}
