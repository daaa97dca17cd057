//! Which node of which cluster a directory is of, how often it was opened, and when it was last written.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};

use crate::checksum::{Of, checksum};
use crate::error::OpenError;
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

pub(super) fn sum(cluster: &str, node: u64) -> u32 {
    checksum(Of::Directory, &[node], cluster.as_bytes())
}

pub(super) fn read(sql: &Connection) -> Result<Identity, ReadError> {
    let query = "SELECT cluster, node, opens, stamp, stamped_at, checksum FROM directory";
    let (identity, written): (_, u32) = sql.query_row(query, [], |row| {
        let (cluster, node): (_, i64) = (row.get(0)?, row.get(1)?);
        let stamp = Stamp { count: row.get(3)?, unix_millis: row.get(4)? };
        Ok((Identity { cluster, node: node.cast_unsigned(), opens: row.get(2)?, stamp }, row.get(5)?))
    })?;
    if sum(&identity.cluster, identity.node) != written {
        return Err(wrong("the identity of the node has a wrong checksum"));
    }
    Ok(identity)
}

/// The number of the newest opening.
pub(super) fn opens(sql: &Connection) -> rusqlite::Result<u64> {
    sql.query_row("SELECT opens FROM directory", [], |row| row.get(0))
}

/// Sets the stamp to the present time.
pub(crate) fn renew_stamp(sql: &Connection) -> rusqlite::Result<()> {
    sql.execute("UPDATE directory SET stamp = stamp + 1, stamped_at = ?1", params![unix_millis()])?;
    Ok(())
}

/// Gives the directory another number.
pub(crate) fn become_node(sql: &Connection, node: u64) -> rusqlite::Result<()> {
    let cluster: String = sql.query_row("SELECT cluster FROM directory", [], |row| row.get(0))?;
    let sum = sum(&cluster, node);
    sql.execute("UPDATE directory SET node = ?1, checksum = ?2", params![node.cast_signed(), sum])?;
    Ok(())
}

/// Counts an opening.
pub(super) fn count_open(sql: &Connection) -> rusqlite::Result<()> {
    sql.execute("UPDATE directory SET opens = opens + 1", [])?;
    renew_stamp(sql)
}

fn unix_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
