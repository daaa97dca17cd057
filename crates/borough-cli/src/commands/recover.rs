//! `recover`: what beginning a cluster anew would mean, and with `--yes` the order.

use anyhow::Result;
use borough_management::view::{RecoverOrder, Recovery, RecoveryMember};

use super::orders::said;
use crate::client::Client;
use crate::output;

/// The dry run comes first in any case: whoever orders it has seen what was vouched for.
pub(super) fn recover(client: &Client, is_vouched: bool, json: bool) -> Result<()> {
    let plan = client.recovery()?;
    if json && !is_vouched {
        return output::json(&plan);
    }
    if !json {
        show(&plan);
    }
    if !is_vouched {
        println!("\nNothing was changed. `borough recover --yes`, asked of the same node, does it.");
        return Ok(());
    }
    let dead = plan.given_up.iter().map(|member| member.node.clone()).collect();
    said(&client.recover(&RecoverOrder { dead })?, json)
}

fn show(plan: &Recovery) {
    let Recovery { node, standing, voters, voters_lost, .. } = plan;
    println!("{node} is {standing}, and would begin the cluster anew as its one voter.");
    match plan.era {
        Some(era) => {
            println!("  voters    {voters_lost} of {voters} did not answer");
            println!("  era       {era}, then {} or later", plan.next_era);
            println!("  given up  {}", names(&plan.given_up));
            println!("  kept      {}; they drop what they host, and join", names(&plan.kept));
            println!(
                "  lost      what {} hold in memory, on every node",
                output::counted(plan.shards, "shard")
            );
        }
        None => {
            println!(
                "  It was in no cluster since its process began, and knows of nobody that would be given up."
            );
            println!("  era       {} or later", plan.next_era);
        }
    }
    let works = output::brief(plan.wait_millis.saturating_mul(1000));
    let members = output::counted(plan.minimum_members, "member");
    println!("  works     {works} after it has begun, with {members} at least");
    println!("\n{}.", plan.vouch);
}

fn names(members: &[RecoveryMember]) -> String {
    if members.is_empty() {
        return "nobody".to_owned();
    }
    let named = members.iter().map(|member| format!("{} ({})", member.node, member.address));
    named.collect::<Vec<_>>().join(", ")
}
