//! `recover`: what beginning a cluster anew would mean, and with `--yes` the order.

use anyhow::Result;
use borough_management::view::{RecoverOrder, Recovery, RecoveryMember};

use super::orders::said;
use crate::client::Client;
use crate::output;

/// The dry run.
pub(super) fn plan(client: &Client, json: bool) -> Result<()> {
    let plan = client.recovery()?;
    if json {
        return output::json(&plan);
    }
    output::line(described(&plan))?;
    let command = ["borough recover --yes"].into_iter();
    let command: Vec<_> = command.chain(plan.given_up.iter().map(|member| member.node.as_str())).collect();
    output::line(format!("\nNothing was changed. `{}`, asked of the same node, does it.", command.join(" ")))
}

/// The order. Who is dead is said by whoever orders it, not taken from a plan that may have changed since it was read: then the node refuses.
pub(super) fn recover(client: &Client, dead: Vec<String>, json: bool) -> Result<()> {
    said(&client.recover(&RecoverOrder { dead })?, json)
}

fn described(plan: &Recovery) -> String {
    let Recovery { node, standing, voters, voters_lost, .. } = plan;
    let mut lines = vec![format!("{node} is {standing}, and would begin the cluster anew as its one voter.")];
    match plan.era {
        Some(era) => lines.extend([
            format!("  voters    {voters_lost} of {voters} did not answer"),
            format!("  era       {era}, then {} or later", plan.next_era),
            format!("  given up  {}", names(&plan.given_up)),
            format!("  kept      {}; they drop what they host, and join", names(&plan.kept)),
            format!(
                "  lost      what {} hold in memory, on every node",
                output::counted(plan.shards, "shard")
            ),
            instead(plan),
        ]),
        None => lines.extend([
            "  It was in no cluster since its process began, and knows of nobody that would be given up."
                .to_owned(),
            format!("  era       {} or later", plan.next_era),
        ]),
    }
    let works = output::brief(plan.wait_millis.saturating_mul(1000));
    let members = output::counted(plan.minimum_members, "member");
    lines.push(format!("  works     {works} after it has begun, with {members} at least"));
    lines.push(format!("\n{}.", plan.vouch));
    lines.join("\n")
}

/// What else would help, and costs less.
fn instead(plan: &Recovery) -> String {
    let needed = needed(plan.voters, plan.voters_lost);
    format!(
        "  instead   bring back {} of those given up: start it again with its data directory, or mend the network to it if it runs; then the cluster goes on, and nothing is lost",
        output::counted(needed, "voter")
    )
}

/// How many of the lost voters make a majority with those that are left.
fn needed(voters: usize, lost: usize) -> usize {
    (voters / 2 + 1).saturating_sub(voters.saturating_sub(lost)).max(1)
}

fn names(members: &[RecoveryMember]) -> String {
    if members.is_empty() {
        return "nobody".to_owned();
    }
    let named = members.iter().map(|member| format!("{} ({})", member.node, member.address));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn so_many_lost_voters_make_a_majority_with_those_that_are_left() {
        for (voters, lost, expected) in [(1, 1, 1), (3, 2, 1), (3, 3, 2), (5, 3, 1), (5, 4, 2), (3, 1, 1)] {
            assert_eq!(needed(voters, lost), expected, "{lost} of {voters}");
        }
    }
}
