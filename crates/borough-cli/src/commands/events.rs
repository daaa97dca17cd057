//! What happens, as it happens.

use anyhow::Result;

use crate::client::Client;

pub(super) fn follow(client: &Client, count: Option<u64>, json: bool) -> Result<()> {
    let mut left = count.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(());
    }
    client.events(|event| {
        if json {
            println!("{}", serde_json::to_string(&event)?);
        } else {
            println!("{:>6}  {:<10} {}", event.number, event.seen_by, event.text);
        }
        left -= 1;
        Ok(left > 0)
    })
}
