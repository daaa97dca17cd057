//! What must hold between settings, with where each of them was said.
//!
//! The bounds themselves are those of [`Checked`], [`Limits`](borough_wire::limits::Limits) and of the node's security, which refuse what code sets
//! too. This adds the rules that only files and variables can break, and names keys and places.

use borough_protocol::incarnation::Address;
use borough_protocol::settings::Checked;

use super::layers::{ALTERNATIVES, Resolved, node_row};
use super::{ConfigError, NodeOptions, Setting, SettingOrigin, SettingRow};
use crate::durability::{self, DurabilityError};
use crate::security;

/// What code gave that is no data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Code {
    /// Certificates.
    pub(crate) tls: bool,
    /// A secret.
    pub(crate) secret: bool,
}

/// Settings whose bound is another setting that the message about it does not name.
const BOUND_BY: &[(&str, &[&str])] = &[
    ("cluster.heartbeat_interval", &["cluster.round_trip"]),
    ("cluster.acceptable_pause", &["cluster.heartbeat_interval", "cluster.max_pause"]),
    ("cluster.tombstone_life", &["cluster.max_pause", "cluster.round_trip"]),
    ("cluster.seed_timeout", &["cluster.seed_ask_interval"]),
    ("cluster.linger", &["cluster.max_pause", "cluster.round_trip"]),
    ("cluster.voters_settle", &["cluster.max_pause", "cluster.round_trip"]),
    ("limits.message_max", &["limits.frame_max"]),
    ("limits.queue_bytes", &["limits.frame_max"]),
    ("limits.unacked_max", &["limits.frame_max"]),
];

const TLS: [&str; 3] = ["security.tls_authority", "security.tls_certificate", "security.tls_key"];

/// Refuses settings that do not go together, if a file or a variable has a part in it: what code alone says is for the builder to refuse.
pub(crate) fn check(resolved: &Resolved<NodeOptions>, code: Code) -> Result<(), ConfigError> {
    check_alternatives(resolved)?;
    check_security(resolved, code)?;
    check_durability(resolved)?;
    check_cluster(resolved)?;
    if let Err(error) = resolved.options.limits.check() {
        refuse(resolved, &mentioned("limits", &error.to_string()), error.to_string())?;
    }
    if !resolved.options.codec.is_built_in() {
        let why = "it is not built in: switch on the feature of borough of that name, on every node";
        refuse(resolved, &["node.codec"], why.to_owned())?;
    }
    Ok(())
}

fn check_alternatives(resolved: &Resolved<NodeOptions>) -> Result<(), ConfigError> {
    for group in ALTERNATIVES {
        let said: Vec<&str> = group.iter().copied().filter(|key| is_said(resolved, key)).collect();
        if said.len() > 1 {
            refuse(resolved, &said, "each stands in place of the other: keep one of them".to_owned())?;
        }
    }
    Ok(())
}

fn check_security(resolved: &Resolved<NodeOptions>, code: Code) -> Result<(), ConfigError> {
    let options = &resolved.options;
    let files = [&options.tls_authority, &options.tls_certificate, &options.tls_key];
    let named = files.iter().filter(|file| file.is_some()).count();
    if named == 1 || named == 2 {
        refuse(resolved, &TLS, "TLS needs all three: set those that are none".to_owned())?;
    }
    let has_tls = code.tls || named == 3;
    let has_secret = code.secret || options.secret_file.is_some() || options.secret_env.is_some();
    if options.insecure && (has_tls || has_secret) {
        let mut keys = vec!["security.insecure"];
        let others = TLS.iter().chain(&["security.secret_file", "security.secret_env"]);
        keys.extend(others.filter(|key| is_said(resolved, key)));
        let why = "a node that is protected is not insecure: take `security.insecure` out, or the others";
        refuse(resolved, &keys, why.to_owned())?;
    }
    if options.management.tls && !has_tls {
        let why = "management shows the node's certificate, and the node has none: set all `security.tls_*`";
        refuse(resolved, &["management.tls", TLS[1]], why.to_owned())?;
    }
    let is_open = !has_tls && !has_secret && !options.insecure;
    if is_open && !security::is_loopback(&Address::new(options.listen.as_str())) {
        let why = "it can be reached from other machines, and anybody who reaches it could join the cluster: set all \
                   `security.tls_*`, or `security.secret_file`, or `security.insecure = true` if everybody on that network may";
        refuse(resolved, &["node.listen", "security.insecure"], why.to_owned())?;
    }
    Ok(())
}

/// Whether it is clear that the cluster is to survive its processes, or not to.
fn check_durability(resolved: &Resolved<NodeOptions>) -> Result<(), ConfigError> {
    let options = &resolved.options;
    let listen = Address::new(options.listen.as_str());
    // If both are in effect, one layer has said both: a higher one would have won.
    let layer = || resolved.origins.get("node.data_dir").map_or_else(String::new, SettingOrigin::layer);
    match durability::check(&listen, options.data_dir.as_deref(), options.volatile, layer) {
        Ok(()) => Ok(()),
        Err(error) => {
            let keys: &[&str] = match &error {
                DurabilityError::NotChosen { .. } => &["node.listen", "node.data_dir", "node.volatile"],
                DurabilityError::Both { .. } => &["node.data_dir", "node.volatile"],
            };
            match rows(resolved, keys) {
                Some(settings) => Err(ConfigError::Durability { settings, error }),
                None => Ok(()),
            }
        }
    }
}

/// Refuses a management that strangers reach and that asks them nothing. No part of [`check`]: code may still give it a token, so a node starts, and
/// management refuses by itself if it did not.
pub(super) fn check_management(resolved: &Resolved<NodeOptions>) -> Result<(), ConfigError> {
    let management = &resolved.options.management;
    let is_guarded = management.tls || management.token.is_some() || management.token_file.is_some();
    if is_guarded || security::is_loopback(&Address::new(management.listen.as_str())) {
        return Ok(());
    }
    let why = "it can be reached from other machines, and anybody who reaches it could order nodes to leave: set \
               `management.token_file`, or `management.tls = true` with all `security.tls_*`, or listen at 127.0.0.1";
    refuse(resolved, &["management.listen"], why.to_owned())
}

fn check_cluster(resolved: &Resolved<NodeOptions>) -> Result<(), ConfigError> {
    let Err(error) = Checked::new(resolved.options.cluster.clone()) else { return Ok(()) };
    let why = error.to_string();
    refuse(resolved, &mentioned("cluster", &why), why)
}

/// The keys of a section whose words stand in a message, and those that bound them.
fn mentioned(section: &str, message: &str) -> Vec<&'static str> {
    let words: Vec<&str> = message.split(|c: char| !c.is_ascii_lowercase() && c != '_').collect();
    let of_section = Setting::all().filter(|setting| setting.key.split('.').next() == Some(section));
    let mut keys: Vec<_> =
        of_section.filter(|setting| words.contains(&setting.word())).map(Setting::key).collect();
    let bounds = BOUND_BY.iter().filter(|(key, _)| keys.contains(key)).flat_map(|(_, by)| *by);
    let bounds: Vec<_> = bounds.copied().filter(|key| !keys.contains(key)).collect();
    keys.extend(bounds);
    keys
}

fn is_said(resolved: &Resolved<NodeOptions>, key: &str) -> bool {
    resolved.origins.get(key).is_some_and(SettingOrigin::is_outside)
}

fn refuse(resolved: &Resolved<NodeOptions>, keys: &[&str], why: String) -> Result<(), ConfigError> {
    match rows(resolved, keys) {
        Some(settings) => Err(ConfigError::Unsafe { settings, why }),
        None => Ok(()),
    }
}

/// These settings with where each was said; `None` if neither a file nor a variable has a part in them.
fn rows(resolved: &Resolved<NodeOptions>, keys: &[&str]) -> Option<Vec<SettingRow>> {
    if !keys.iter().any(|key| is_said(resolved, key)) {
        return None;
    }
    let settings = keys.iter().filter_map(|key| Setting::of_key(key));
    Some(settings.filter_map(|setting| node_row(setting, resolved)).collect())
}
