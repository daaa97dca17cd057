//! How a field of options takes a value, and shows the one it has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use borough_protocol::formation::FoundWith;
use borough_protocol::settings::{DetectorKind, Strategy};
use borough_protocol::sharding::{Allocation, Hashing};
use borough_wire::codec::CodecId;

use super::value::{Hidden, Value};
use crate::sharding::{Passivation, Policy};

/// A field that a setting sets. What is put was read by the setting's kind, so it is of the field's type.
pub(super) trait Datum {
    fn put(&mut self, value: Value);
    fn show(&self) -> Value;
}

/// Types of fields, with the variant that their values have; each may also be absent.
macro_rules! datum {
    ($($of:ty: $variant:ident($value:ident) => $read:expr, $own:ident => $show:expr;)*) => {$(
        impl Datum for $of {
            fn put(&mut self, value: Value) {
                if let Value::$variant($value) = value && let Some(read) = $read {
                    *self = read;
                }
            }

            fn show(&self) -> Value {
                let $own = self;
                Value::$variant($show)
            }
        }

        impl Datum for Option<$of> {
            fn put(&mut self, value: Value) {
                if let Value::$variant($value) = value {
                    *self = $read;
                }
            }

            fn show(&self) -> Value {
                self.as_ref().map_or(Value::Unset, Datum::show)
            }
        }
    )*};
}

datum! {
    String: Text(text) => Some(text), own => own.clone();
    Vec<String>: List(list) => Some(list), own => own.clone();
    Duration: Time(time) => Some(time), own => *own;
    bool: Switch(switch) => Some(switch), own => *own;
    PathBuf: Path(path) => Some(path), own => own.clone();
    Hidden: Hidden(hidden) => Some(hidden), own => own.clone();
    BTreeMap<String, usize>: Counts(counts) => Some(counts), own => own.clone();
    // Ranges are checked when a number is read; on a machine of 32 bits more than it can count is all it can count.
    usize: Number(number) => Some(usize::try_from(number).unwrap_or(usize::MAX)), own => *own as u64;
    u32: Number(number) => Some(u32::try_from(number).unwrap_or(u32::MAX)), own => u64::from(*own);
    Strategy: Text(text) => strategy(&text), own => own.to_string();
    Allocation: Text(text) => allocation(&text), own => show_allocation(*own);
    DetectorKind: Text(text) => one_of(&DETECTORS, &text), own => named(&DETECTORS, own);
    FoundWith: Text(text) => one_of(&FOUND_WITHS, &text), own => named(&FOUND_WITHS, own);
    CodecId: Text(text) => one_of(&CODECS, &text), own => named(&CODECS, own);
    Hashing: Text(text) => one_of(&HASHINGS, &text), own => named(&HASHINGS, own);
    Passivation: Text(text) => one_of(&POLICIES, &text).map(passivation), own => named(&POLICIES, &own.policy());
}

const DETECTORS: [(&str, DetectorKind); 2] =
    [("phi", DetectorKind::Phi), ("deadline", DetectorKind::Deadline)];
const FOUND_WITHS: [(&str, FoundWith); 3] =
    [("all", FoundWith::All), ("majority", FoundWith::Majority), ("never", FoundWith::Never)];
const CODECS: [(&str, CodecId); 3] =
    [("postcard", CodecId::Postcard), ("message-pack", CodecId::MessagePack), ("json", CodecId::Json)];
const HASHINGS: [(&str, Hashing); 2] = [("xxh3", Hashing::Xxh3), ("md5", Hashing::Md5)];
const POLICIES: [(&str, Option<Policy>); 5] = [
    ("least-recently-used", None),
    ("segmented-least-recently-used", Some(Policy::SEGMENTED)),
    ("most-recently-used", Some(Policy::MostRecentlyUsed)),
    ("least-frequently-used", Some(Policy::LeastFrequentlyUsed { dynamic_aging: false })),
    ("window-tiny-lfu", Some(Policy::RECOMMENDED)),
];

pub(super) const DETECTOR_NAMES: [&str; 2] = names(&DETECTORS);
pub(super) const FOUND_WITH_NAMES: [&str; 3] = names(&FOUND_WITHS);
pub(super) const CODEC_NAMES: [&str; 3] = names(&CODECS);
pub(super) const HASHING_NAMES: [&str; 2] = names(&HASHINGS);
pub(super) const POLICY_NAMES: [&str; 5] = names(&POLICIES);

const fn names<T, const N: usize>(table: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut place = 0;
    while place < N {
        names[place] = table[place].0;
        place += 1;
    }
    names
}

fn one_of<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}

/// What no word stands for was given in code.
fn named<T: PartialEq>(table: &[(&str, T)], value: &T) -> String {
    table.iter().find(|(_, known)| known == value).map_or("custom", |(name, _)| name).to_owned()
}

fn passivation(policy: Option<Policy>) -> Passivation {
    policy.map_or_else(Passivation::least_recently_used, Passivation::by)
}

/// Reads what [`Strategy`] writes.
pub(super) fn strategy(text: &str) -> Option<Strategy> {
    let quorum = || text.strip_prefix("static-quorum(")?.strip_suffix(')')?.parse().ok();
    let simple = [Strategy::KeepMajority, Strategy::KeepOldest, Strategy::DownAll];
    let found = simple.into_iter().find(|strategy| strategy.to_string() == text);
    found.or_else(|| quorum().map(|quorum| Strategy::StaticQuorum { quorum }))
}

const LEAST_SHARDS: &str = "least-shards";

/// Reads `rendezvous`, `external`, `least-shards` or `least-shards(ABSOLUTE, PERCENT %)`.
pub(super) fn allocation(text: &str) -> Option<Allocation> {
    match text {
        "rendezvous" => return Some(Allocation::Rendezvous),
        "external" => return Some(Allocation::External),
        LEAST_SHARDS => return Some(super::KindOptions::default().allocation),
        _ => {}
    }
    let (absolute, percent) =
        text.strip_prefix(LEAST_SHARDS)?.strip_prefix('(')?.strip_suffix("%)")?.split_once(',')?;
    let (absolute, percent) = (absolute.trim().parse().ok()?, percent.trim().parse().ok()?);
    (1..=100).contains(&percent).then_some(Allocation::LeastShards { absolute, percent })
}

fn show_allocation(allocation: Allocation) -> String {
    match allocation {
        Allocation::LeastShards { absolute, percent } => format!("{LEAST_SHARDS}({absolute}, {percent} %)"),
        Allocation::Rendezvous => "rendezvous".to_owned(),
        Allocation::External => "external".to_owned(),
        Allocation::Custom => "custom".to_owned(),
    }
}
