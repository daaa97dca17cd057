//! What is ordered: each is begun, and answered before it is done.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use borough_actor::Reply;

use crate::bureau::Bureau;
use crate::problem::Problem;
use crate::steward::{Order, PATH};
use crate::view::{Accepted, MoveOrder, RecoverOrder};

/// How long a node may take to say that it has heard an order.
const PATIENCE: Duration = Duration::from_secs(3);

type Shared = State<Arc<Bureau>>;
type Taken = (StatusCode, Json<Accepted>);
type Named = Result<Path<String>, PathRejection>;

pub(crate) async fn leave_here(State(bureau): Shared) -> Result<Taken, Problem> {
    let name = bureau.name();
    // By its actor, as others would, and also when it is in no cluster.
    let steward = bureau.node.lookup::<Order>(PATH).here();
    let steward = steward.map_err(|error| Problem::of_lookup(&name, error.into()))?;
    let asked = steward.ask(Order::Leave).timeout(PATIENCE).await;
    asked.map_err(|error| Problem::of_ask(&name, &error))?;
    Ok(taken(format!("{name} leaves the cluster")))
}

pub(crate) async fn leave(State(bureau): Shared, node: Named) -> Result<Taken, Problem> {
    let Path(node) = node?;
    tell(&bureau, &node, Order::Leave).await?;
    Ok(taken(format!("{node} leaves the cluster: its shards move to others first, then it goes")))
}

pub(crate) async fn drain(State(bureau): Shared, node: Named) -> Result<Taken, Problem> {
    let Path(node) = node?;
    let alone = hosted_by_no_other(&bureau, &node);
    tell(&bureau, &node, Order::Drain).await?;
    let begun = format!("{node} gives its shards away, and stays a member");
    if alone.is_empty() {
        return Ok(taken(begun));
    }
    let alone = alone.join(", ");
    Ok(taken(format!("{begun}; it keeps those of {alone} until another node hosts them, for none does now")))
}

pub(crate) async fn down(State(bureau): Shared, node: Named) -> Result<Taken, Problem> {
    let Path(node) = node?;
    bureau.node.down(&node).await?;
    Ok(taken(format!(
        "the cluster is asked to remove {node}; its shards begin anew elsewhere once its lease is over, and if it lives it comes back under a new uid"
    )))
}

pub(crate) async fn move_shard(
    State(bureau): Shared,
    body: Result<Bytes, BytesRejection>,
) -> Result<Taken, Problem> {
    let advice = "send {\"kind\": \"<type>\", \"shard\": <number>, \"node\": \"<node id>\"}";
    let order: Result<MoveOrder, _> = serde_json::from_slice(&body?);
    let MoveOrder { kind, shard, node } = order
        .map_err(|error| Problem::unreadable(format!("this is no order to move a shard: {error}"), advice))?;
    bureau.node.move_shard(&kind, shard, &node)?;
    Ok(taken(format!("shard {shard} of {kind} is to live on {node}; GET /api/events tells when it does")))
}

/// Of this node alone: who has no part in a cluster can be reached by nothing else.
pub(crate) async fn recover(
    State(bureau): Shared,
    body: Result<Bytes, BytesRejection>,
) -> Result<Taken, Problem> {
    let advice = "send {\"dead\": [\"<node id>\", ...]} with all that GET /api/recover gives up";
    let order: Result<RecoverOrder, _> = serde_json::from_slice(&body?);
    let RecoverOrder { dead } = order.map_err(|error| {
        Problem::unreadable(format!("this is no order to recover a cluster: {error}"), advice)
    })?;
    let plan = bureau.node.recover(&dead).await?;
    Ok(taken(format!(
        "{} recovers the cluster as its one voter, and works in {} ms at the earliest; others join it, and GET /api/members says who has",
        plan.node_id,
        plan.wait.as_millis()
    )))
}

/// Gives that node an order, by its own management.
async fn tell(bureau: &Bureau, node: &str, order: impl FnOnce(Reply<()>) -> Order) -> Result<(), Problem> {
    let steward = bureau.node.lookup::<Order>(PATH).on(node).await;
    let steward = steward.map_err(|error| Problem::of_lookup(node, error))?;
    steward.ask(order).timeout(PATIENCE).await.map_err(|error| Problem::of_ask(node, &error))
}

/// The types whose entities have nowhere else to live.
fn hosted_by_no_other(bureau: &Bureau, node: &str) -> Vec<String> {
    let maps = bureau.node.shard_maps().into_iter();
    let alone = maps.filter(|map| {
        let mut hosts = map.hosts.iter().map(|(host, _)| host.as_str());
        !map.hosts.is_empty() && hosts.all(|host| host == node)
    });
    alone.map(|map| map.kind.to_string()).collect()
}

fn taken(accepted: String) -> Taken {
    (StatusCode::ACCEPTED, Json(Accepted { accepted }))
}
