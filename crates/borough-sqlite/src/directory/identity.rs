//! Which node of which cluster a directory is of, how often it was opened, when it was last written, and which other rows its file has.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};

use crate::checksum::{Of, checksum};
use crate::error::OpenError;
use crate::sqlite::NUMBER_MAX;
use crate::voter::{ReadError, wrong};

/// What a directory is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name of the cluster.
    pub cluster: String,
    /// The number of the node: drawn by chance when the directory was made, never 0. It changes when the node forgets that it was a voter.
    pub node: u64,
    /// How often the directory was opened, this time included: each is another life of the node.
    pub opens: u64,
    /// When it was last written, as far as it says.
    pub stamp: Stamp,
}

/// The proof that a directory can be written: renewed at every opening, and every 2 s by a [`Writer`](crate::Writer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// How often it was renewed.
    pub count: u64,
    /// When, in milliseconds since 1970 by the clock of the machine.
    pub unix_millis: u64,
}

/// A new number.
pub(super) fn draw() -> Result<u64, OpenError> {
    loop {
        match getrandom::u64() {
            Ok(0) => {}
            Ok(number) => return Ok(number),
            Err(error) => return Err(OpenError::NoRandomness { what: error.to_string() }),
        }
    }
}

impl Stamp {
    pub(crate) fn renew(&mut self) {
        *self = Self { count: self.count.saturating_add(1), unix_millis: unix_millis() };
    }
}

/// Which rows the file has besides that of the directory: a row that is missing looks like one that was never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds {
    pub(crate) record: bool,
    pub(crate) voter: bool,
    pub(crate) pledges: bool,
}

impl Holds {
    /// What is found missing, or there, against what was written.
    fn differs(self, written: Self) -> String {
        let rows = [
            (self.record, written.record, "the record of the cluster is"),
            (self.voter, written.voter, "term and vote are"),
            (self.pledges, written.pledges, "the promises of the node are"),
        ];
        let differing = rows.into_iter().filter(|(found, written, _)| found != written);
        let words: Vec<_> = differing
            .map(|(found, _, what)| {
                let how = if found { "there, and none was written" } else { "missing" };
                format!("{what} {how}")
            })
            .collect();
        words.join(", ")
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self { record: bits & 1 != 0, voter: bits & 2 != 0, pledges: bits & 4 != 0 })
    }
}

/// The row of the directory. Its checksum is over all of it, and over which other rows there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryRow {
    pub(crate) identity: Identity,
    pub(crate) holds: Holds,
}

impl DirectoryRow {
    fn sum(&self) -> u32 {
        let Self { identity: Identity { cluster, node, opens, stamp }, holds } = self;
        let Holds { record, voter, pledges } = *holds;
        let holds = u64::from(record) | u64::from(voter) << 1 | u64::from(pledges) << 2;
        let numbers = [*node, *opens, stamp.count, stamp.unix_millis, holds];
        checksum(Of::Directory, &numbers, cluster.as_bytes())
    }

    /// Counts an opening.
    pub(super) fn count_open(&mut self) {
        self.identity.opens += 1;
        self.identity.stamp.renew();
    }

    pub(crate) fn write(&self, sql: &Connection) -> rusqlite::Result<()> {
        let Identity { cluster, node, opens, stamp } = &self.identity;
        let query = "REPLACE INTO directory (only, cluster, node, checksum, opens, stamp, stamped_at)
                     VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)";
        let values = params![cluster, node.cast_signed(), self.sum(), opens, stamp.count, stamp.unix_millis];
        sql.execute(query, values)?;
        Ok(())
    }
}

/// The identity, and the checksum beside it, which is believed only when [`check`] has compared it with what else there is.
pub(super) fn read(sql: &Connection) -> rusqlite::Result<(Identity, u32)> {
    let query = "SELECT cluster, node, opens, stamp, stamped_at, checksum FROM directory";
    sql.query_row(query, [], |row| {
        let (cluster, node): (_, i64) = (row.get(0)?, row.get(1)?);
        let stamp = Stamp { count: row.get(3)?, unix_millis: row.get(4)? };
        Ok((Identity { cluster, node: node.cast_unsigned(), opens: row.get(2)?, stamp }, row.get(5)?))
    })
}

/// Whether these are the identity and the rows that were written.
pub(super) fn check(found: &DirectoryRow, sum: u32) -> Result<(), ReadError> {
    if found.sum() == sum {
        return Ok(());
    }
    let DirectoryRow { identity, holds } = found;
    // Earlier versions did not write which rows there are; the first opening by this one does. They wrote the record before any term or vote, too.
    if checksum(Of::Identity, &[identity.node], identity.cluster.as_bytes()) == sum {
        let is_whole = holds.record || !holds.voter;
        return if is_whole {
            Ok(())
        } else {
            Err(wrong("there are term and vote, and no record of the cluster"))
        };
    }
    let identity = identity.clone();
    let mut all = Holds::all().map(|holds| DirectoryRow { identity: identity.clone(), holds });
    match all.find(|row| row.sum() == sum) {
        Some(written) => Err(wrong(holds.differs(written.holds))),
        None => Err(wrong("the identity of the node has a wrong checksum")),
    }
}

/// The number of the newest opening.
pub(super) fn opens(sql: &Connection) -> rusqlite::Result<u64> {
    sql.query_row("SELECT opens FROM directory", [], |row| row.get(0))
}

fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).map_or(NUMBER_MAX, |millis| millis.min(NUMBER_MAX))
}
