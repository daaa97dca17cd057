//! Who is there.

use anyhow::Result;

use crate::client::Client;
use crate::output;

pub(super) fn show(client: &Client, json: bool) -> Result<()> {
    let members = client.members()?;
    if json {
        return output::json(&members);
    }
    let mut table =
        output::table(&["NODE", "ADDRESS", "STATE", "REACHED", "PHI", "PART", "ROLES", "VERSION", "ZONE"]);
    for member in &members.members {
        table.add_row([
            member.node.clone(),
            member.address.clone(),
            member.state.clone(),
            if member.is_reachable { "yes" } else { "no" }.to_owned(),
            member
                .phi_milli
                .map_or_else(|| "-".to_owned(), |phi| format!("{}.{}", phi / 1000, phi % 1000 / 100)),
            output::part(member).to_owned(),
            or_dash(&member.roles.join(",")),
            or_dash(&member.app_version),
            or_dash(&member.zone),
        ]);
    }
    output::line(table)?;
    output::line(format_args!(
        "\ncluster {}, seen by {} ({}); it survives {} now",
        members.cluster,
        members.seen_by,
        members.standing,
        match members.tolerates {
            0 => "no loss".to_owned(),
            some => format!("the loss of {}", output::counted(some, "voter")),
        }
    ))?;
    members.advice.map_or(Ok(()), output::line)
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}
