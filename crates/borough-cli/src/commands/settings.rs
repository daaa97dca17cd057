//! What a node is set to, and by what.

use anyhow::Result;

use crate::client::Client;
use crate::output;

/// `changed` leaves out what has its default.
pub(super) fn show(client: &Client, changed: bool, json: bool) -> Result<()> {
    let mut settings = client.settings()?;
    if changed {
        settings.settings.retain(|setting| setting.origin != "default");
    }
    if json {
        return output::json(&settings);
    }
    let mut table = output::table(&["SETTING", "VALUE", "FROM"]);
    for setting in settings.settings {
        table.add_row([setting.key, setting.value, setting.origin]);
    }
    output::line(table)?;
    output::line(format_args!("\nof {}", settings.seen_by))
}
