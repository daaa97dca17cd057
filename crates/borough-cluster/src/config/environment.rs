//! Settings from variables of the environment.

use std::collections::BTreeMap;

use super::nearest::nearest;
use super::setting::{PREFIX, in_capitals};
use super::table::KINDS;
use super::value::Raw;
use super::{Config, ConfigError, Setting, SettingOrigin};

/// Names that are no settings and may be there all the same, with what they are for.
pub(super) const PASSED_OVER: &[(&str, &str)] = &[
    ("BOROUGH_SECRET", "a place for the secret that `security.secret_env` names"),
    ("BOROUGH_MANAGEMENT", "which management the `borough` program speaks to"),
    (
        "BOROUGH_MANAGEMENT_TLS_AUTHORITY",
        "whom that program trusts; a management has `security.tls_authority`",
    ),
    ("BOROUGH_MANAGEMENT_TLS_CERTIFICATE", "what it shows; a management has `security.tls_certificate`"),
    ("BOROUGH_MANAGEMENT_TLS_KEY", "the key of that; a management has `security.tls_key`"),
    ("BOROUGH_CHROMIUM", "the browser that the tests of the dashboard use"),
    ("BOROUGH_DASHBOARD_NODE", "the tests of the dashboard"),
    ("BOROUGH_FUZZ_SECONDS", "how long the tests of decoders run"),
    ("BOROUGH_GOLDEN", "the tests of bytes on the wire"),
    ("BOROUGH_HOSTILE_SEED", "the tests of the node against hostile bytes"),
    ("BOROUGH_HOSTILE_SEEDS", "the same, how many"),
    ("BOROUGH_LOG_SEEDS", "the tests of the log"),
    ("BOROUGH_REQUIRE_ALL", "`cargo xtask verify` fails rather than skip anything"),
    ("BOROUGH_REQUIRE_CHROMIUM", "tests fail without a browser rather than be skipped"),
    ("BOROUGH_REQUIRE_NETNS", "tests fail without network namespaces rather than be skipped"),
    ("BOROUGH_SEED", "which run of a simulation of one's own entities is repeated"),
    ("BOROUGH_STAND_IN", "the tests of the dashboard"),
    ("BOROUGH_TEST_CHILD", "tests that start themselves again as another process"),
    ("BOROUGH_TEST_WAITS_FOR_SIGNAL", "the same"),
    ("BOROUGH_WIRE_SEED", "the tests of decoders"),
    ("BOROUGH_WIRE_SEEDS", "the same, how many"),
];

/// What Kubernetes puts into every pod about a service, behind the service's name in capitals; it always puts the first of them.
const OF_SERVICES: [&str; 5] = ["_SERVICE_HOST", "_SERVICE_PORT", "_SERVICE_PORT_", "_PORT", "_PORT_"];

const OF_TYPES: &str = "BOROUGH_SHARDING_TYPES_";

/// Reads all that begin with the prefix; the first in the order of names that is wrong is the error.
pub(super) fn read(vars: impl IntoIterator<Item = (String, String)>) -> Result<Config, ConfigError> {
    let is_ours = |(name, value): &(String, String)| name.starts_with(PREFIX) && !value.is_empty();
    let ours: BTreeMap<String, String> = vars.into_iter().filter(is_ours).collect();
    let services: Vec<String> =
        ours.keys().filter_map(|name| name.strip_suffix(OF_SERVICES[0])).map(ToOwned::to_owned).collect();
    let mut config = Config::default();
    for (name, text) in ours {
        if PASSED_OVER.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let (said, setting) = if let Some((of, setting)) = of_type(&name) {
            (config.types_of_environment.entry(of.to_owned()).or_default(), setting)
        } else if let Some(setting) = Setting::all().find(|setting| setting.env() == name) {
            (&mut config.general, setting)
        } else if services.iter().any(|service| is_of_service(&name, service)) {
            continue;
        } else {
            return Err(unknown(name));
        };
        let (origin, raw) = (SettingOrigin::Environment { name: name.clone() }, Raw::Word(text));
        match setting.kind.read(&raw) {
            Some(value) => drop(said.insert(setting.key, (value, origin))),
            None => return Err(wrong(setting, name, origin, &raw)),
        }
    }
    Ok(config)
}

/// Whether it is one of those that tell of that service.
fn is_of_service(name: &str, service: &str) -> bool {
    let Some(rest) = name.strip_prefix(service) else { return false };
    OF_SERVICES.iter().any(|part| if part.ends_with('_') { rest.starts_with(part) } else { rest == *part })
}

/// The type, as the variable has it, and the setting.
fn of_type(name: &str) -> Option<(&str, &'static Setting)> {
    let rest = name.strip_prefix(OF_TYPES)?;
    KINDS.iter().find_map(|setting| {
        let of = rest.strip_suffix(&in_capitals(setting.word()))?.strip_suffix('_')?;
        (!of.is_empty()).then_some((of, setting))
    })
}

fn unknown(name: String) -> ConfigError {
    let known: Vec<String> = Setting::all().map(Setting::env).collect();
    let nearest = nearest(&name, known.iter().map(String::as_str)).map(ToOwned::to_owned);
    let place = SettingOrigin::Environment { name: name.clone() };
    ConfigError::Unknown { place, key: name, nearest }
}

/// The error about a value that its setting may not have.
pub(super) fn wrong(setting: &Setting, key: String, place: SettingOrigin, raw: &Raw) -> ConfigError {
    let is_shown = setting.kind.may_be_shown();
    let value = if is_shown { raw.to_string() } else { "something else (hidden)".to_owned() };
    let mut allowed = setting.kind.allowed();
    if let (SettingOrigin::Environment { .. }, Some(how)) = (&place, setting.kind.in_environment()) {
        allowed = format!("{allowed}; in the environment {how}");
    }
    ConfigError::Value { place, key, value, allowed }
}
