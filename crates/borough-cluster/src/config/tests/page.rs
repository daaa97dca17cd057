//! The page of all settings is made from the table, and is the one that is kept.

use crate::config::{Config, Setting, settings_page};

#[test]
fn the_page_of_settings_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(
        kept == settings_page(),
        "docs/settings.md is not what the table says: run `cargo xtask settings`"
    );
}

#[test]
fn every_setting_is_on_the_page_with_its_variable_and_default() {
    let page = settings_page();
    for setting in Setting::all() {
        let env = setting.env();
        let line =
            page.lines().find(|line| line.starts_with("| ") && line.contains(&format!("`{env}`"))).unwrap();
        assert!(line.contains(&setting.default()), "{line}");
        assert!(setting.help().ends_with('.'), "{}", setting.key());
    }
}

#[test]
fn the_file_on_the_page_is_one_that_a_node_could_start_with() {
    let page = settings_page();
    let file = page.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let config = Config::parse("borough.toml", file).unwrap();
    config.check().unwrap();
    // The program below it says so.
    let row = config.report().into_iter().find(|row| row.key == "cluster.max_pause").unwrap();
    let said = format!("// {} = {}  ({})", row.key, row.value, row.origin);
    assert!(page.contains(&said), "{said}");
}
