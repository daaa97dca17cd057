//! Voters are lost for good: what would be done is told before it is ordered.

use std::net::SocketAddr;
use std::time::Duration;

use borough_management::view::{Accepted, Members, Problem, Recovery};
use serde_json::Value;
use tokio::time::{interval, timeout};

use crate::client::{Answer, BOUND, get, post};
use crate::fleet::{Count, fill, fleet, until};
use crate::openapi::check;

/// Asks for the plan until there is one.
async fn planned(address: SocketAddr) -> Recovery {
    let mut pace = interval(Duration::from_millis(20));
    let look = async {
        loop {
            pace.tick().await;
            let answer = get(address, "/api/recover").await;
            if answer.status == 200 {
                return answer.of();
            }
        }
    };
    timeout(BOUND, look).await.expect("there is no plan")
}

fn refused(answer: &Answer) -> (u16, String) {
    let problem: Problem = answer.of();
    assert!(!problem.what.is_empty() && !problem.advice.is_empty(), "{problem:?}");
    (answer.status, problem.error)
}

#[tokio::test]
async fn a_node_that_lost_its_voter_begins_the_cluster_anew_once_that_one_is_named() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&b.counters).await;
    let address = b.address();
    assert_eq!(refused(&get(address, "/api/recover").await), (409, "nothing-to-recover".to_owned()));
    let order = r#"{"dead":["a"]}"#;
    assert_eq!(refused(&post(address, "/api/recover", order).await), (409, "nothing-to-recover".to_owned()));

    // Of two nodes the older votes alone.
    drop(a);
    let plan = planned(address).await;
    assert_eq!((plan.node.as_str(), plan.standing.as_str()), ("b", "suspended"));
    assert_eq!((plan.voters, plan.voters_lost, plan.shards), (1, 1, 8));
    assert!(plan.era.is_some_and(|era| era < plan.next_era), "{plan:?}");
    let given_up: Vec<_> = plan.given_up.iter().map(|member| member.node.as_str()).collect();
    assert_eq!((given_up, plan.kept.len()), (vec!["a"], 0));
    let whole: Value = get(address, "/openapi.json").await.of();
    let described = &whole["paths"]["/api/recover"]["get"]["responses"]["200"]["content"]["application/json"];
    check(&whole, &described["schema"], &serde_json::to_value(&plan).unwrap(), "/api/recover");
    assert!(plan.vouch.contains("dead and stay dead: a"), "{}", plan.vouch);

    for (body, status, error) in [
        ("", 400, "bad-request"),
        ("{}", 400, "bad-request"),
        (r#"{"dead":"a"}"#, 400, "bad-request"),
        (r#"{"dead":[]}"#, 409, "unvouched"),
        (r#"{"dead":["b"]}"#, 409, "unvouched"),
    ] {
        assert_eq!(refused(&post(address, "/api/recover", body).await), (status, error.to_owned()), "{body}");
    }
    let answer = post(address, "/api/recover", order).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    assert!(answer.of::<Accepted>().accepted.contains("b recovers the cluster"));
    let works = |members: &Members| members.standing == "member" && members.members.len() == 1;
    until(address, "/api/members", works).await;
    assert_eq!(timeout(BOUND, b.counters.ask("counter-1", Count::Up)).await.unwrap().unwrap(), 1);
}
