//! `recover`: what a recovery of the cluster would mean, and with `--yes` the order.

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

/// The order. Who is dead is said by the operator, not taken from a plan that may have changed since it was read: then the node refuses.
pub(super) fn recover(client: &Client, dead: Vec<String>, json: bool) -> Result<()> {
    said(&client.recover(&RecoverOrder { dead })?, json)
}

fn described(plan: &Recovery) -> String {
    let Recovery { node, standing, voters, voters_lost, .. } = plan;
    let mut lines = vec![format!("{node} is {standing}, and would recover the cluster as its one voter.")];
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
            instead_of_founding(plan),
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
    let needed = output::counted(needed(plan.voters, plan.voters_lost), "voter");
    if plan.durable {
        format!(
            "  instead   bring back {needed} of those given up: start it again with its data directory, or restore the network to it if it runs; then the cluster goes on, and nothing is lost"
        )
    } else {
        format!(
            "  instead   restore the network to {needed} of those given up, if it still runs; then the cluster goes on, and nothing is lost. A voter that is started again does not help \
             so: it has forgotten its vote. If all that are awaited are started again, the nodes found a new cluster by themselves, and what is in memory is lost as it is here"
        )
    }
}

/// What else would help a node that was in no cluster yet.
fn instead_of_founding(plan: &Recovery) -> String {
    if plan.silent.is_empty() {
        return "  instead   nobody that this node waits for is silent: its log says what it waits for. If its list of seeds is wrong, or `expect` asks for too many, correct that and start it again".to_owned();
    }
    let silent = plan.silent.join(", ");
    format!(
        "  instead   start the nodes at {silent}, which do not answer, or restore the network to them; or, if the list of seeds is wrong, correct it on all nodes and start them again. A \
         cluster that works there is joined then, and not doubled"
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
    use borough_management::view::Recovery;

    use super::{described, needed};

    fn plan(durable: bool, era: Option<u32>, silent: &[&str]) -> Recovery {
        Recovery {
            node: "a".into(),
            standing: "suspended".into(),
            era,
            next_era: 9,
            voters: 3,
            voters_lost: 2,
            kept: Vec::new(),
            given_up: Vec::new(),
            durable,
            silent: silent.iter().copied().map(String::from).collect(),
            shards: 0,
            wait_millis: 1000,
            minimum_members: 1,
            vouch: "v".into(),
        }
    }

    #[test]
    fn a_voter_is_to_be_started_again_only_where_voters_have_disks() {
        let (durable, volatile) =
            (described(&plan(true, Some(8), &[])), described(&plan(false, Some(8), &[])));
        assert!(durable.contains("start it again with its data directory"), "{durable}");
        assert!(
            !volatile.contains("data directory") && volatile.contains("found a new cluster"),
            "{volatile}"
        );
    }

    #[test]
    fn a_node_that_was_in_no_cluster_names_who_is_silent() {
        let named = described(&plan(true, None, &["b:1", "c:1"]));
        assert!(named.contains("start the nodes at b:1, c:1"), "{named}");
        let nobody = described(&plan(false, None, &[]));
        assert!(nobody.contains("list of seeds is wrong"), "{nobody}");
    }

    #[test]
    fn so_many_lost_voters_make_a_majority_with_those_that_are_left() {
        for (voters, lost, expected) in [(1, 1, 1), (3, 2, 1), (3, 3, 2), (5, 3, 1), (5, 4, 2), (3, 1, 1)] {
            assert_eq!(needed(voters, lost), expected, "{lost} of {voters}");
        }
    }
}
