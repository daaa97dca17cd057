//! What codecs promise: a value comes back, all bytes are used, the buffer before it is left alone.

use serde::{Deserialize, Serialize, Serializer};

use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Message {
    Unit,
    Item { number: u64, name: String, bytes: Vec<u8>, maybe: Option<i32> },
    Pair(i16, char),
}

fn samples() -> [Message; 3] {
    let item =
        Message::Item { number: u64::MAX, name: "é".to_owned(), bytes: vec![0, 255], maybe: Some(-1) };
    [Message::Unit, item, Message::Pair(-3, '–')]
}

fn built_in() -> impl Iterator<Item = CodecId> {
    CodecId::ALL.into_iter().filter(|codec| codec.is_built_in())
}

fn encoded(codec: CodecId, value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut out = Vec::new();
    codec.encode(value, &mut out).expect("it encodes");
    out
}

#[test]
fn a_value_comes_back_and_what_was_in_the_buffer_stays() {
    for codec in built_in() {
        for message in samples() {
            let mut out = vec![1, 2, 3];
            codec.encode(&message, &mut out).unwrap();
            assert_eq!(out[..3], [1, 2, 3]);
            assert_eq!(codec.decode(&out[3..]), Ok(message), "{codec}");
        }
    }
}

#[test]
fn a_value_is_left_in_its_place_and_without_one_the_place_is_empty() {
    for codec in built_in() {
        for message in samples() {
            let mut bytes = encoded(codec, &message);
            let mut place = None;
            assert_eq!(codec.decode_into(&bytes, &mut place), Ok(()));
            assert_eq!(place.as_ref(), Some(&message), "{codec}");
            bytes.push(b'1');
            for wrong in [&bytes[..], &[0xc1], &[]] {
                let mut place = Some(message.clone());
                let error = codec.decode_into(wrong, &mut place).unwrap_err();
                assert_eq!(Err(error), codec.decode::<Message>(wrong), "{codec}");
                assert_eq!(place, None, "{codec}");
            }
        }
    }
}

#[test]
fn bytes_behind_a_value_are_refused() {
    for codec in built_in() {
        for message in samples() {
            let mut out = encoded(codec, &message);
            out.push(b'1');
            let error = codec.decode::<Message>(&out).unwrap_err();
            let expected = CodecError::trailing::<Message>(codec, 1);
            assert!(error == expected || codec == CodecId::Json, "{error}");
        }
    }
}

#[test]
fn bytes_that_end_early_are_refused() {
    for codec in built_in() {
        for message in samples() {
            let out = encoded(codec, &message);
            for length in 0..out.len() {
                let error = codec.decode::<Message>(&out[..length]).unwrap_err();
                assert!(matches!(error, CodecError::Decode { .. }), "{error}");
            }
        }
    }
}

#[test]
fn what_cannot_be_encoded_leaves_nothing_behind_and_is_named() {
    struct Stubborn;
    impl Serialize for Stubborn {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    for codec in built_in() {
        let mut out = vec![1, 2, 3];
        let error = codec.encode(&("begun", Stubborn), &mut out).unwrap_err();
        assert_eq!(out, [1, 2, 3]);
        let shown = error.to_string();
        assert!(shown.contains("Stubborn") && shown.contains(&codec.to_string()), "{shown}");
    }
}

#[test]
fn a_codec_that_is_not_built_in_names_its_feature() {
    for (codec, feature) in [(CodecId::MessagePack, "message-pack"), (CodecId::Json, "json")] {
        let absent = CodecError::Absent { codec, feature };
        let expected = if codec.is_built_in() { None } else { Some(absent) };
        assert_eq!(codec.encode(&7, &mut Vec::new()).err(), expected);
        let decoded = codec.decode::<u8>(b"\x07").err();
        assert_eq!(decoded.filter(|error| matches!(error, CodecError::Absent { .. })), expected);
    }
}

#[test]
fn numbers_are_kept_and_zero_is_none() {
    assert_eq!(CodecId::ALL.map(CodecId::number), [1, 2, 3]);
    for number in 0..=u8::MAX {
        assert_eq!(
            CodecId::from_number(number).map_or(0, CodecId::number),
            if number < 4 { number } else { 0 }
        );
    }
}

#[test]
fn a_mask_holds_what_is_built_in_and_keeps_what_it_does_not_know() {
    let built = Codecs::built_in();
    assert!(CodecId::ALL.iter().all(|codec| built.contains(*codec) == codec.is_built_in()));
    let newer = Codecs::from_mask(0b1000_0001);
    assert_eq!(newer.mask(), 0b1000_0001);
    assert_eq!(newer.common(built), [CodecId::Postcard].into_iter().collect());
}

#[test]
fn with_postcard_a_variant_at_the_end_a_wider_number_and_another_name_are_read() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Old {
        Item { number: u16, signed: i16 },
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum New {
        Item { wide: u64, far: i64 },
        Added,
    }
    let bytes = encoded(CodecId::Postcard, &Old::Item { number: 300, signed: -300 });
    assert_eq!(Postcard::decode(&bytes), Ok(New::Item { wide: 300, far: -300 }));
    let bytes = encoded(CodecId::Postcard, &New::Item { wide: 300, far: -300 });
    assert_eq!(Postcard::decode(&bytes), Ok(Old::Item { number: 300, signed: -300 }));
    for unknown in [New::Item { wide: 70_000, far: 0 }, New::Added] {
        assert!(Postcard::decode::<Old>(&encoded(CodecId::Postcard, &unknown)).is_err());
    }
}

#[test]
fn a_length_that_lies_allocates_no_more_than_there_are_bytes_for() {
    // Postcard: a vector of 2^40 bytes, of which two are there.
    let lie = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 1, 2];
    let info = allocation_counter::measure(|| {
        assert!(Postcard::decode::<Vec<u64>>(&lie).is_err());
        assert!(Postcard::decode::<String>(&lie).is_err());
    });
    assert!(info.bytes_max < 4096, "{info:?}");
}

/// The same message in two versions of a program.
#[cfg(any(feature = "message-pack", feature = "json"))]
mod upgrades {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Old {
        id: u64,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct New {
        id: u64,
        #[serde(default)]
        note: String,
    }

    fn named() -> impl Iterator<Item = CodecId> {
        built_in().filter(|codec| *codec != CodecId::Postcard)
    }

    #[test]
    fn an_older_node_skips_a_field_that_it_does_not_know() {
        for codec in named() {
            let bytes = encoded(codec, &New { id: 7, note: "new".to_owned() });
            assert_eq!(codec.decode(&bytes), Ok(Old { id: 7 }), "{codec}");
        }
    }

    #[test]
    fn a_newer_node_fills_a_field_that_is_not_there() {
        for codec in named() {
            let bytes = encoded(codec, &Old { id: 7 });
            assert_eq!(codec.decode(&bytes), Ok(New { id: 7, note: String::new() }), "{codec}");
        }
    }

    #[test]
    fn fields_may_change_their_order() {
        #[derive(Serialize)]
        struct Turned {
            note: &'static str,
            id: u64,
        }
        for codec in named() {
            let bytes = encoded(codec, &Turned { note: "n", id: 7 });
            assert_eq!(codec.decode(&bytes), Ok(New { id: 7, note: "n".to_owned() }), "{codec}");
        }
    }

    #[test]
    fn with_postcard_an_added_field_is_refused_not_misread() {
        let bytes = encoded(CodecId::Postcard, &New { id: 7, note: "new".to_owned() });
        assert!(CodecId::Postcard.decode::<Old>(&bytes).is_err());
        let bytes = encoded(CodecId::Postcard, &Old { id: 7 });
        assert!(CodecId::Postcard.decode::<New>(&bytes).is_err());
    }

    #[test]
    fn values_too_deep_are_refused() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Deep(Option<Box<Deep>>, Vec<Deep>);
        for (codec, one) in [(CodecId::MessagePack, b"\x92".as_slice()), (CodecId::Json, b"[")] {
            if codec.is_built_in() {
                let error = codec.decode::<Deep>(&one.repeat(100_000)).unwrap_err();
                assert!(matches!(error, CodecError::Decode { .. }), "{error}");
            }
        }
    }
}
