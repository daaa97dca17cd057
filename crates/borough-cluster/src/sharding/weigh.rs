//! How many bytes a message takes, near enough for a bound: what serde would write of it, counted and not written.
//!
//! Promise: it is counted without an effect. Replies and refs inside a message cannot be written outside a passage to a node; such a part counts
//! nothing, and the rest of the message is counted all the same.

use std::fmt::{self, Display};

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

/// The bytes of that value.
pub(super) fn weigh<T: Serialize + ?Sized>(value: &T) -> usize {
    let mut scales = Scales(0);
    // A part that cannot be written counts nothing.
    let _ = value.serialize(&mut scales);
    scales.0
}

/// What was counted so far.
struct Scales(usize);

/// A part cannot be written.
#[derive(Debug)]
struct Unweighable;

impl Display for Unweighable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of the message cannot be weighed")
    }
}

impl std::error::Error for Unweighable {}

impl ser::Error for Unweighable {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

type Weighed = Result<(), Unweighable>;

#[expect(clippy::unnecessary_wraps, reason = "as serde wants it")]
impl Scales {
    fn add(&mut self, bytes: usize) -> Weighed {
        self.0 = self.0.saturating_add(bytes);
        Ok(())
    }

    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Weighed {
        // What is wrong with one part is no reason to pass over the others.
        let _ = value.serialize(self);
        Ok(())
    }
}

macro_rules! plain {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Weighed {
            self.add(size_of::<$type>())
        })*
    };
}

impl ser::Serializer for &mut Scales {
    type Ok = ();
    type Error = Unweighable;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    plain!(
        serialize_bool: bool, serialize_char: char, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64
    );

    fn serialize_str(self, text: &str) -> Weighed {
        self.add(text.len())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Weighed {
        self.add(bytes.len())
    }

    fn serialize_none(self) -> Weighed {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Weighed {
        self.part(value)
    }

    fn serialize_unit(self) -> Weighed {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Weighed {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Weighed {
        self.add(1)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Weighed {
        self.part(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Weighed {
        self.part(value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Unweighable> {
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident),*) => {
        $(impl $trait for &mut Scales {
            type Ok = ();
            type Error = Unweighable;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Weighed {
                self.part(value)
            }

            fn end(self) -> Weighed {
                Ok(())
            }
        })*
    };
}

elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl $trait for &mut Scales {
            type Ok = ();
            type Error = Unweighable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Weighed {
                self.part(value)
            }

            fn end(self) -> Weighed {
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for &mut Scales {
    type Ok = ();
    type Error = Unweighable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Weighed {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Weighed {
        self.part(value)
    }

    fn end(self) -> Weighed {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// As a reply outside a passage.
    struct Stubborn;

    impl Serialize for Stubborn {
        fn serialize<S: ser::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(ser::Error::custom("not here"))
        }
    }

    #[derive(serde::Serialize)]
    enum Message {
        Put { blob: Vec<u8>, reply: Stubborn, name: &'static str },
        Get(Stubborn, u64),
    }

    #[test]
    fn what_a_message_owns_counts_whatever_else_is_in_it() {
        let put = Message::Put { blob: vec![0; 1000], reply: Stubborn, name: "four" };
        assert_eq!(weigh(&put), 1004);
        assert_eq!(weigh(&Message::Get(Stubborn, 7)), 8);
        assert_eq!(weigh(&BTreeMap::from([(1_u32, Some("ab")), (2, None)])), 10);
        assert_eq!(weigh(&Stubborn), 0);
    }
}
