//! What happens, as it happens.

use anyhow::Result;

use crate::client::Client;
use crate::output;

pub(super) fn follow(client: &Client, count: Option<u64>, json: bool) -> Result<()> {
    let mut left = count.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(());
    }
    client.events(|event| {
        if json {
            output::line(serde_json::to_string(&event)?)?;
        } else {
            output::line(format_args!("{:>6}  {:<10} {}", event.number, event.seen_by, event.text))?;
        }
        left -= 1;
        Ok(left > 0)
    })
}
