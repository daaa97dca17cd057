//! Every setting can be set by a file and by a variable, for all types and for one.

use super::{file, is, row, vars};
use crate::config::{Config, Setting, SettingKind};

/// A value that is not the default: as a file has it, as a variable has it, as a listing shows it.
fn other(setting: &Setting) -> (String, String, String) {
    let quoted = |text: &str| (format!("{text:?}"), text.to_owned(), text.to_owned());
    match setting.kind() {
        SettingKind::Text => quoted("other"),
        SettingKind::Texts => ("[\"a\", \"b\"]".into(), "a,b".into(), "a, b".into()),
        SettingKind::Listen | SettingKind::Address => quoted("10.0.0.9:7"),
        SettingKind::Addresses => ("[\"a:1\", \"b:2\"]".into(), " a:1, b:2".into(), "a:1, b:2".into()),
        SettingKind::Time { least, .. } if least.as_secs() > 7 => quoted("77 s"),
        SettingKind::Time { .. } => quoted("7.25 s"),
        SettingKind::Number { least, .. } => {
            let number = [*least, least + 1].map(|number| number.to_string());
            let number = number.into_iter().find(|number| *number != setting.default()).unwrap();
            (number.clone(), number.clone(), number)
        }
        SettingKind::Size { .. } => quoted("64 KiB"),
        SettingKind::Switch => {
            let switch = (setting.default() != "true").to_string();
            (switch.clone(), switch.clone(), switch)
        }
        SettingKind::Choice(words) => quoted(words.last().unwrap()),
        SettingKind::Form { .. } if setting.key() == "cluster.strategy" => quoted("static-quorum(2)"),
        SettingKind::Form { .. } => quoted("least-shards(3, 20 %)"),
        SettingKind::File => ("\"/run/x.pem\"".into(), "/run/x.pem".into(), "/run/x.pem".into()),
        SettingKind::Counts => {
            ("{ back = 2, web = 3 }".into(), "back=2, web=3".into(), "back=2, web=3".into())
        }
        SettingKind::Variable => quoted("MY_SECRET"),
        SettingKind::Secret => ("\"0123456789abcdef\"".into(), "0123456789abcdef".into(), "(hidden)".into()),
    }
}

#[test]
fn every_setting_can_be_set_by_a_file() {
    for setting in Setting::all() {
        let (written, _, shown) = other(setting);
        let (section, word) = setting.key().split_once('.').unwrap();
        let rows = file(&format!("# first\n[{section}]\n{word} = {written}\n")).report();
        is(&rows, setting.key(), &shown, "conf/borough.toml:3");
        assert_ne!(shown, setting.default(), "{}", setting.key());
    }
}

#[test]
fn every_setting_can_be_set_by_a_variable() {
    for setting in Setting::all() {
        let (_, written, shown) = other(setting);
        let rows = vars(&[(&setting.env(), &written)]).unwrap().report();
        is(&rows, setting.key(), &shown, &format!("env {}", setting.env()));
    }
}

#[test]
fn every_setting_of_types_can_be_set_for_one_type_by_both() {
    for setting in Setting::all().filter(|setting| setting.is_per_type()) {
        let (in_file, in_variable, shown) = other(setting);
        let word = setting.key().rsplit('.').next().unwrap();
        let key = format!("sharding.types.carts.{word}");
        let rows = file(&format!("[sharding.types.carts]\n{word} = {in_file}\n")).report();
        is(&rows, &key, &shown, "conf/borough.toml:2");
        let env = setting.env_of_type("carts");
        let config = vars(&[(&env, &in_variable)]).unwrap();
        let rows = file("[sharding.types.carts]").over(config).report();
        is(&rows, &key, &shown, &format!("env {env}"));
    }
}

#[test]
fn keys_and_variables_are_each_ones_own() {
    let mut keys: Vec<_> = Setting::all().map(Setting::key).collect();
    let mut variables: Vec<_> = Setting::all().map(Setting::env).collect();
    let (of_keys, of_variables) = (keys.len(), variables.len());
    keys.sort_unstable();
    keys.dedup();
    variables.sort_unstable();
    variables.dedup();
    assert_eq!((keys.len(), variables.len()), (of_keys, of_variables));
    // A variable of a type ends with the word of its setting; no word may be the end of another.
    let words: Vec<_> = Setting::all().filter(|setting| setting.is_per_type()).map(Setting::word).collect();
    for word in &words {
        assert!(!words.iter().any(|other| other.ends_with(&format!("_{word}"))), "{word}");
    }
}

#[test]
fn the_environment_wins_over_a_file_in_whatever_order() {
    let text = "[cluster]\nmax_pause = \"300 ms\"\nround_trip = \"90 ms\"";
    let variables = || vars(&[("BOROUGH_CLUSTER_MAX_PAUSE", "200 ms")]).unwrap();
    for config in [file(text).over(variables()), variables().over(file(text))] {
        let rows = config.report();
        is(&rows, "cluster.max_pause", "200 ms", "env BOROUGH_CLUSTER_MAX_PAUSE");
        is(&rows, "cluster.round_trip", "90 ms", "conf/borough.toml:3");
        is(&rows, "cluster.failover_target", "3.5 s", "default");
    }
}

#[test]
fn of_two_files_the_later_wins() {
    let second = Config::parse("two.toml", "[node]\nzone = \"two\"").unwrap();
    let rows = file("[node]\nzone = \"one\"\nid = \"n\"").over(second).report();
    is(&rows, "node.zone", "two", "two.toml:2");
    is(&rows, "node.id", "n", "conf/borough.toml:3");
}

#[test]
fn dotted_keys_and_inline_tables_are_read_with_their_lines() {
    let rows = file("cluster.max_pause = \"1 s\"\n\nlimits = { frame_max = 8192 }\n").report();
    is(&rows, "cluster.max_pause", "1 s", "conf/borough.toml:1");
    is(&rows, "limits.frame_max", "8 KiB", "conf/borough.toml:3");
}

#[test]
fn files_that_a_file_names_lie_beside_it_and_those_of_a_variable_where_they_say() {
    let rows = file("[security]\nsecret_file = \"secret.txt\"").report();
    assert_eq!(
        row(&rows, "security.secret_file").0,
        std::path::Path::new("conf").join("secret.txt").to_str().unwrap()
    );
    let rows = vars(&[("BOROUGH_SECURITY_SECRET_FILE", "secret.txt")]).unwrap().report();
    assert_eq!(row(&rows, "security.secret_file").0, "secret.txt");
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    assert!(vars(&[("BOROUGH_NODE_ZONE", ""), ("BOROUGH_NO_SETTING", "")]).unwrap().is_empty());
}

#[test]
fn a_secret_is_never_shown() {
    let config = file("[management]\ntoken = \"the-token-of-tokens\"");
    assert!(!format!("{:?} {config:?}", config.report()).contains("the-token-of-tokens"));
    let wrong = vars(&[("BOROUGH_MANAGEMENT_TOKEN", "too-short")]).unwrap_err();
    assert!(!format!("{wrong} {wrong:?}").contains("too-short"), "{wrong}");
    let wrong = vars(&[("BOROUGH_SECURITY_SECRET_ENV", "pass word")]).unwrap_err();
    assert!(!format!("{wrong} {wrong:?}").contains("pass word"), "{wrong}");
}
