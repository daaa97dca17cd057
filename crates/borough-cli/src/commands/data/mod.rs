//! `data`: what a node keeps in its directory.

mod kept;
mod view;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use borough_sqlite::Reset;
use serde::Serialize;

use self::view::{Contents, Owner, Record, RecordedVoter, Table, Type, Voter};
use crate::output;

pub(super) fn inspect(path: &Path, json: bool) -> Result<()> {
    let directory = Contents::of(path, borough_sqlite::inspect(path)?);
    if json {
        return output::json(&directory);
    }
    output::line(facts(&directory))?;
    if let Some(table) = &directory.table {
        output::line("")?;
        show_table(table)?;
    }
    for file in &directory.foreign {
        output::line(format_args!("not Borough's: {file}"))?;
    }
    Ok(())
}

/// What is said in single words.
fn facts(directory: &Contents) -> comfy_table::Table {
    let mut table = output::table(&["OF", "VALUE"]);
    let mut add = |of: &str, value: String| {
        table.add_row([of.to_owned(), value]);
    };
    add("directory", directory.directory.clone());
    add("format", directory.format.to_string());
    add("in use", directory.in_use.clone().unwrap_or_else(|| "no".to_owned()));
    add("cluster", directory.cluster.clone());
    add("identity", directory.identity.clone());
    add("opened", format!("{} times", directory.opens));
    add("last written", age(directory.stamped_at_unix_millis));
    add("state", directory.state.to_owned());
    if !directory.promised_to.is_empty() {
        add("promised to", directory.promised_to.join(", "));
    }
    add("era", directory.era.map_or_else(dash, |era| era.to_string()));
    if let Some(Record { founder, voters, members, .. }) = &directory.record {
        let at = |voter: &RecordedVoter| match &voter.address {
            Some(address) => format!("{} at {address}", voter.voter),
            None => voter.voter.clone(),
        };
        add("founded by", founder.clone());
        add("recorded voters", voters.iter().map(at).collect::<Vec<_>>().join(", "));
        add("recorded members", members.join(", "));
    }
    match &directory.voter {
        None => add("voter", "never was one".to_owned()),
        Some(Voter { term, vote, snapshot, last, last_term, entries }) => {
            add("term", term.to_string());
            add("vote", vote.clone().unwrap_or_else(dash));
            add("snapshot at", snapshot.map_or_else(dash, |index| index.to_string()));
            add("log ends at", format!("{last}, of term {last_term}"));
            add("entries", entries.to_string());
        }
    }
    if let Some(undecoded) = &directory.undecoded {
        add("not decoded", undecoded.clone());
    }
    table
}

fn show_table(table: &Table) -> Result<()> {
    let mut members = output::table(&["NODE", "ADDRESS", "UID", "STATE", "PART"]);
    for member in &table.members {
        let part = if member.is_voter { "voter" } else { "member" };
        members.add_row([member.node.as_str(), &member.address, &member.uid, member.state, part]);
    }
    output::line(members)?;
    for voter in
        table.voters.iter().filter(|voter| table.members.iter().all(|member| member.voter != **voter))
    {
        output::line(format_args!("voter {voter} is no member"))?;
    }
    output::line("")?;
    let mut types = output::table(&["TYPE", "SHARDS", "WITH AN OWNER", "HOSTS"]);
    for kind in &table.types {
        types.add_row([
            kind.name.clone(),
            kind.shards.to_string(),
            kind.owned.to_string(),
            kind.hosts.to_string(),
        ]);
    }
    output::line(types)?;
    for kind in &table.types {
        show_owners(kind)?;
    }
    output::line(format_args!(
        "\nthe table at {}, the end of this node's log: its last entries may not have been committed",
        table.index
    ))
}

/// Hosts without a shard are shown, too.
fn show_owners(kind: &Type) -> Result<()> {
    output::line("")?;
    let mut owners = output::table(&["TYPE", "NODE", "SHARDS", "MOVING AWAY", "NUMBERS"]);
    for Owner { node, uid, shards, moving } in &kind.owners {
        let numbers = kind.places.iter().filter(|place| place.owner_uid == *uid).map(|place| place.shard);
        let node = node.clone().unwrap_or_else(|| format!("(removed) #{uid}"));
        let (shards, moving) = (shards.to_string(), moving.to_string());
        owners.add_row([kind.name.clone(), node, shards, moving, output::runs(numbers)]);
    }
    let never = kind.shards as usize - kind.places.len();
    if never > 0 {
        let (nobody, zero) = ("(nobody yet)".to_owned(), 0.to_string());
        owners.add_row([kind.name.clone(), nobody, never.to_string(), zero, String::new()]);
    }
    output::line(owners)
}

/// What was removed, or would be.
#[derive(Debug, Serialize)]
struct Removal {
    directory: String,
    dry_run: bool,
    removed: Vec<File>,
    kept: Vec<String>,
}

/// A file, and what it holds.
#[derive(Debug, Serialize)]
struct File {
    name: String,
    bytes: u64,
    holds: &'static str,
}

pub(super) fn reset(path: &Path, dry_run: bool, json: bool) -> Result<()> {
    let reset = Reset::prepare(path)?;
    let file = |file: &borough_sqlite::DataFile| File {
        name: file.name.clone(),
        bytes: file.size,
        holds: file.holds,
    };
    let removal = Removal {
        directory: path.display().to_string(),
        dry_run,
        removed: reset.remove().iter().map(file).collect(),
        kept: reset.keep().to_vec(),
    };
    if !dry_run {
        reset.carry_out()?;
    }
    if json {
        return output::json(&removal);
    }
    if removal.removed.is_empty() {
        output::line(format_args!("{}: there is nothing of a Borough node in it", removal.directory))?;
    } else {
        let mut table = output::table(&["FILE", "BYTES", "HOLDS"]);
        for File { name, bytes, holds } in &removal.removed {
            table.add_row([name.clone(), bytes.to_string(), (*holds).to_owned()]);
        }
        output::line(table)?;
        let done = if dry_run { "would be removed; nothing was" } else { "removed" };
        output::line(format_args!("\n{} {done}", output::counted(removal.removed.len(), "file")))?;
    }
    for name in &removal.kept {
        output::line(format_args!("not Borough's, stays: {name}"))?;
    }
    Ok(())
}

fn dash() -> String {
    "-".to_owned()
}

/// How long ago that was by this machine's clock.
fn age(unix_millis: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    match now.checked_sub(unix_millis) {
        Some(millis) => format!("{} ago", output::lasting(millis)),
        None => "in the future, by this machine's clock".to_owned(),
    }
}
