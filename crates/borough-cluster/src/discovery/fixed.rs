//! Seeds that are known beforehand.

use borough_protocol::incarnation::Address;

use super::{Discovery, Seeds};

/// The same seeds every time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticSeeds {
    seeds: Vec<Address>,
}

impl StaticSeeds {
    /// These seeds, each as `host:port`, in this order.
    pub fn new<A: AsRef<str>>(seeds: impl IntoIterator<Item = A>) -> Self {
        Self { seeds: seeds.into_iter().map(|seed| Address::new(seed.as_ref())).collect() }
    }

    pub(crate) fn of(seeds: Vec<Address>) -> Self {
        Self { seeds }
    }
}

impl Discovery for StaticSeeds {
    fn seeds(&self) -> Seeds<'_> {
        Box::pin(async { Ok(self.seeds.clone()) })
    }

    fn is_complete(&self) -> bool {
        true
    }
}
