//! Network namespaces, one for each node, with a bridge in one more. Nothing of them is in the namespace of the machine.
//!
//! Only `ip` is needed. A cut is a rule at the receiver: packets from that sender go into a black hole, so the sender notices
//! nothing, as with a broken wire. The rule has to stand before the one that finds local addresses, which is moved for it.
//!
//! Names begin with `bchaos-<process>-`. They are removed when this is dropped; by the janitor, if this process is killed; and
//! by the next run, if both were.

use std::path::Path;
use std::process::Command;

use super::PORT;

const PREFIX: &str = "bchaos";
/// Before this rule nothing, then the cuts, then local addresses.
const CUTS: &str = "100";
const LOCAL: &str = "200";

/// The namespaces of one fleet.
pub(crate) struct Namespaces {
    /// What all names begin with.
    prefix: String,
    places: usize,
    /// Which ways are cut.
    cuts: Vec<(usize, usize)>,
}

impl Namespaces {
    /// A bridge with nobody at it. `fleet` tells the fleets of a run apart.
    pub(crate) fn new(fleet: usize) -> Result<Self, String> {
        let this =
            Self { prefix: format!("{PREFIX}-{}-{fleet}", std::process::id()), places: 0, cuts: Vec::new() };
        let hub = this.hub();
        ip(&["netns", "add", &hub])?;
        ip(&["-n", &hub, "link", "add", "bridge", "type", "bridge"])?;
        ip(&["-n", &hub, "link", "set", "bridge", "up"])?;
        Ok(this)
    }

    /// What all its names begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) fn address(place: usize) -> String {
        format!("{}:{PORT}", host(place))
    }

    pub(super) fn prepare(&mut self, last: usize) -> Result<(), String> {
        while self.places < last {
            self.places += 1;
            let (hub, name, wire) = (self.hub(), self.name(self.places), format!("wire{}", self.places));
            let network = format!("{}/24", host(self.places));
            ip(&["netns", "add", &name])?;
            ip(&[
                "link", "add", &wire, "netns", &hub, "type", "veth", "peer", "name", "eth0", "netns", &name,
            ])?;
            ip(&["-n", &hub, "link", "set", &wire, "master", "bridge", "up"])?;
            ip(&["-n", &name, "address", "add", &network, "dev", "eth0"])?;
            ip(&["-n", &name, "link", "set", "lo", "up"])?;
            ip(&["-n", &name, "link", "set", "eth0", "up"])?;
            ip(&["-n", &name, "rule", "add", "pref", LOCAL, "lookup", "local"])?;
            ip(&["-n", &name, "rule", "delete", "pref", "0"])?;
        }
        Ok(())
    }

    /// `ip` becomes the program, so that the process is the program's.
    pub(super) fn command(&self, place: usize, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(place)]).arg(program);
        command
    }

    pub(super) fn cut(&mut self, from: usize, to: usize) -> Result<(), String> {
        ip(&["-n", &self.name(to), "rule", "add", "pref", CUTS, "from", &host(from), "blackhole"])?;
        self.cuts.push((from, to));
        Ok(())
    }

    pub(super) fn heal(&mut self) -> Result<(), String> {
        for (from, to) in std::mem::take(&mut self.cuts) {
            ip(&["-n", &self.name(to), "rule", "delete", "pref", CUTS, "from", &host(from), "blackhole"])?;
        }
        Ok(())
    }

    fn hub(&self) -> String {
        format!("{}-hub", self.prefix)
    }

    fn name(&self, place: usize) -> String {
        format!("{}-n{place}", self.prefix)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        remove(|name| name.starts_with(&format!("{}-", self.prefix)));
    }
}

fn host(place: usize) -> String {
    format!("10.213.0.{place}")
}

/// Whether this process may make namespaces and cut ways in them; if not, why.
pub(crate) fn are_permitted() -> Result<(), String> {
    let mut trial = Namespaces::new(0)?;
    trial.prepare(2)?;
    trial.cut(1, 2)?;
    trial.heal()
}

/// Removes the namespaces of that prefix, and of no other.
pub(crate) fn remove_all(prefix: &str) {
    remove(|name| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-')));
}

/// Removes what runs left that are over.
pub(crate) fn sweep() {
    remove(|name| {
        let run = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix('-')?.split('-').next());
        run.and_then(|run| run.parse::<u32>().ok())
            .is_some_and(|run| !Path::new(&format!("/proc/{run}")).exists())
    });
}

fn remove(which: impl Fn(&str) -> bool) {
    let Ok(list) = Command::new("ip").args(["netns", "list"]).output() else { return };
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    for name in list.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| which(name)) {
        if let Err(why) = ip(&["netns", "delete", name]) {
            eprintln!("chaos: {why}");
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let what = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|error| format!("{}: {error} (Debian: package iproute2)", what()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", what(), String::from_utf8_lossy(&output.stderr).trim()))
}
