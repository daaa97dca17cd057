//! Cluster sharding: entities spread over the nodes, each in one place, found by id from anywhere.

pub(crate) mod host;
