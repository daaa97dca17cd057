//! One message in each codec that is built in.

use borough_wire::codec::CodecId;
use serde::{Deserialize, Serialize};

use super::{Sample, codec_name};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Message {
    Nothing,
    Item { number: u64, name: String, tags: Vec<i32>, maybe: Option<bool> },
}

fn message() -> Vec<Message> {
    let item =
        Message::Item { number: 300, name: "é".to_owned(), tags: vec![-1, 0, 70_000], maybe: Some(true) };
    vec![Message::Nothing, item]
}

pub(super) fn samples() -> Vec<Sample> {
    CodecId::ALL.into_iter().filter(|codec| codec.is_built_in()).map(sample).collect()
}

fn sample(codec: CodecId) -> Sample {
    let mut bytes = Vec::new();
    codec.encode(&message(), &mut bytes).expect("it encodes");
    let read = move |bytes: &[u8]| assert_eq!(codec.decode(bytes), Ok(message()));
    Sample { name: format!("codec-{}.bin", codec_name(codec)), bytes, read: Box::new(read) }
}
