//! The description says what is so.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::client::{get, post, request};
use crate::fleet::{fill, fleet};

/// Whether the value is as the schema says; the parts of JSON Schema that the description uses.
pub(crate) fn check(whole: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        let schema = &whole["components"]["schemas"][name];
        assert!(schema.is_object(), "no schema {name}");
        return check(whole, schema, value, place);
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => panic!("{place}: a schema without a type: {schema}"),
    };
    let is_of = |kind: &&str| match *kind {
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{place}: {other}"),
    };
    assert!(kinds.iter().any(is_of), "{place}: {value} is not {kinds:?}");
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{place}: {value} is none of {allowed:?}");
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        check(whole, &schema["items"], item, &format!("{place}[{number}]"));
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, field) in fields {
            let schema = known.get(name).unwrap_or_else(|| panic!("{place}.{name} is not described"));
            check(whole, schema, field, &format!("{place}.{name}"));
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(fields.contains_key(name), "{place}.{name} is missing");
        }
    }
}

/// What the description says of an answer.
fn described<'a>(whole: &'a Value, path: &str, method: &str, status: u16) -> &'a Value {
    let answer = &whole["paths"][path][method]["responses"][status.to_string()];
    assert!(answer.is_object(), "{method} {path} answers {status}, which is not described");
    answer
}

/// Each path of the source, as the description writes it.
fn routes() -> BTreeSet<(String, String)> {
    let source = include_str!("../../src/routes.rs");
    let routes = source.lines().filter_map(|line| line.trim().strip_prefix(".route(\""));
    let routes = routes.map(|line| {
        let (path, rest) = line.split_once('"').unwrap();
        let method = rest.trim_start_matches([',', ' ']).split('(').next().unwrap();
        (path.replace("{*", "{"), method.to_owned())
    });
    routes.collect()
}

#[tokio::test]
async fn every_route_is_described_and_nothing_else_is() {
    let [a] = fleet(["a"]).await;
    let whole: Value = get(a.address(), "/openapi.json").await.of();
    let described: BTreeSet<(String, String)> = whole["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone()))
        })
        .collect();
    assert!(routes().len() > 15, "{:?}", routes());
    assert_eq!(described, routes());
}

#[tokio::test]
async fn every_get_answers_as_described() {
    let [a, _b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let whole: Value = get(a.address(), "/openapi.json").await.of();
    for (path, asked) in [
        ("/", "/"),
        ("/assets/{name}", "/assets/nothing"),
        ("/openapi.json", "/openapi.json"),
        ("/health/live", "/health/live"),
        ("/health/ready", "/health/ready"),
        ("/health/ready", "/health/ready?types=nothing"),
        ("/metrics", "/metrics"),
        ("/api/members", "/api/members"),
        ("/api/shards", "/api/shards"),
        ("/api/stats", "/api/stats"),
        ("/api/entities", "/api/entities"),
        ("/api/settings", "/api/settings"),
        ("/api/recover", "/api/recover"),
        ("/api/explain/{kind}/{id}", "/api/explain/counters/counter-1"),
        ("/api/explain/{kind}/{id}", "/api/explain/nothing/counter-1"),
        ("/api/explain/{kind}/{id}", "/api/explain/counters/%FF"),
        ("/api/events", "/api/events?after=x"),
    ] {
        let answer = get(a.address(), asked).await;
        let content = &described(&whole, path, "get", answer.status)["content"];
        let (kind, content) = content.as_object().unwrap().iter().next().unwrap();
        assert!(answer.header("content-type").starts_with(kind), "{asked}: {}", answer.head);
        if kind == "application/json" {
            check(&whole, &content["schema"], &answer.of(), asked);
        }
    }
}

#[tokio::test]
async fn every_post_answers_as_described() {
    let [a, b] = fleet(["a", "b"]).await;
    fill(&a.counters).await;
    let whole: Value = get(a.address(), "/openapi.json").await.of();
    let order = r#"{"kind":"counters","shard":0,"node":"b"}"#;
    for (path, asked, body) in [
        ("/api/move", "/api/move", order),
        ("/api/move", "/api/move", "no"),
        ("/api/move", "/api/move", r#"{"kind":"nothing","shard":0,"node":"b"}"#),
        ("/api/drain/{node}", "/api/drain/%FF", ""),
        ("/api/leave/{node}", "/api/leave/%FF", ""),
        ("/api/down/{node}", "/api/down/%FF", ""),
        ("/api/recover", "/api/recover", "no"),
        ("/api/recover", "/api/recover", r#"{"dead":["b"]}"#),
        ("/api/drain/{node}", "/api/drain/b", ""),
        ("/api/drain/{node}", "/api/drain/nobody", ""),
        ("/api/leave/{node}", "/api/leave/nobody", ""),
        ("/api/leave/{node}", "/api/leave/b", ""),
        ("/api/down/{node}", "/api/down/nobody", ""),
        ("/api/down/{node}", "/api/down/a", ""),
        ("/api/leave", "/api/leave", ""),
    ] {
        let unsafely = request(a.address(), "POST", asked, &[], body).await;
        described(&whole, path, "post", unsafely.status);
        assert_eq!(unsafely.status, 403);
        let answer = post(a.address(), asked, body).await;
        let content = &described(&whole, path, "post", answer.status)["content"]["application/json"];
        check(&whole, &content["schema"], &answer.of(), asked);
    }
    drop(b);
}
