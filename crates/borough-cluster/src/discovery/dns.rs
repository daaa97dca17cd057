//! Seeds behind a name, as a headless service has it.

use borough_protocol::incarnation::Address;

use super::{Discovery, DiscoveryError, Seeds};

/// Every address that a name stands for, with one port; sorted, so that all nodes have one order.
///
/// For nodes that advertise their IP addresses. A node that advertises a name is a seed by that name, not by its address: list it with
/// [`StaticSeeds`](super::StaticSeeds) then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsSeeds {
    /// The name, as `bank.internal`.
    pub name: String,
    /// The port at which all nodes listen.
    pub port: u16,
}

impl Discovery for DnsSeeds {
    fn seeds(&self) -> Seeds<'_> {
        Box::pin(async {
            let found = tokio::net::lookup_host((self.name.as_str(), self.port)).await;
            let found = found.map_err(|source| DiscoveryError::Name { name: self.name.clone(), source })?;
            let mut found: Vec<_> = found.collect();
            found.sort_unstable();
            found.dedup();
            Ok(found.into_iter().map(|address| Address::new(address.to_string())).collect())
        })
    }
}
