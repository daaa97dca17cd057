//! The lists of a delta as they are read: in the order of uids, each once.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Deserializer;

use super::member::Member;
use super::reachability::Report;
use super::tombstones::Obituary;
use crate::incarnation::Uid;
use crate::wire::ascending;

pub(super) fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<Member>>, D::Error> {
    ascending(deserializer, |member: &Arc<Member>| member.uid())
}

pub(super) fn reports<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(Uid, Arc<Report>)>, D::Error> {
    ascending(deserializer, |report: &(Uid, Arc<Report>)| report.0)
}

pub(super) fn obituaries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Obituary>, D::Error> {
    ascending(deserializer, |obituary: &Obituary| obituary.uid)
}
