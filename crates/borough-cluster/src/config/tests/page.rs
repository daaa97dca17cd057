//! The page of all settings is made from the table, and is the one that is kept.

use crate::config::{Setting, settings_page};

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
