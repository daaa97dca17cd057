//! What a recovery of the cluster would mean.

use borough_cluster::{RecoverError, RecoveryMember, RecoveryPlan};

use crate::bureau::Bureau;
use crate::view;

/// What this node would do.
pub(crate) fn recovery(bureau: &Bureau) -> Result<view::Recovery, RecoverError> {
    let plan = bureau.node.recovery_plan()?;
    Ok(view::Recovery {
        vouch: vouch(&plan),
        node: plan.node_id.to_string(),
        standing: plan.standing.to_string(),
        era: plan.cluster.map(|cluster| cluster.era),
        next_era: plan.era,
        voters: plan.voters,
        voters_lost: plan.voters_lost,
        kept: plan.kept.iter().map(shown).collect(),
        given_up: plan.given_up.iter().map(shown).collect(),
        durable: plan.durable,
        silent: plan.silent.iter().map(ToString::to_string).collect(),
        shards: plan.shards,
        wait_millis: u64::try_from(plan.wait.as_millis()).unwrap_or(u64::MAX),
        minimum_members: plan.minimum_members,
    })
}

fn shown(member: &RecoveryMember) -> view::RecoveryMember {
    view::RecoveryMember {
        node: member.node_id.to_string(),
        address: member.address.to_string(),
        is_voter: member.is_voter,
    }
}

/// What nobody but a person can know.
fn vouch(plan: &RecoveryPlan) -> String {
    let names: Vec<&str> = plan.given_up.iter().map(|member| member.node_id.as_str()).collect();
    let dead = if names.is_empty() {
        String::new()
    } else {
        format!("that these are dead and stay dead: {}; and ", names.join(", "))
    };
    format!(
        "by this order you confirm {dead}that no other node of this cluster works where {} cannot hear it. If a majority of the voters lives after all, \
         two clusters work until they meet, and then the one that this order begins gives up all it holds",
        plan.node_id
    )
}
