//! Epochs as text: they are larger than what a number of JSON holds exactly for those who read it as JavaScript does.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let digits = String::deserialize(deserializer)?;
    digits
        .parse()
        .map_err(|_| Error::custom(format_args!("{digits:?} is no epoch: a number in text is needed")))
}
