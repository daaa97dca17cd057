//! What the page shows of a real cluster, and what it can have it do.

use std::time::{Duration, Instant};

use borough_cluster::Node;
use borough_management::Management;
use tokio::time::timeout;

use crate::browser::Browser;
use crate::city::{House, Stranger, lived_as_a_node};
use crate::page::Page;

/// What a fail-over takes at most with default settings, by `docs/guarantees.md`.
const FAIL_OVER: Duration = Duration::from_millis(3500);

/// The page shows all shards, each with an owner that can be reached.
const ALL_OWNED: &str = "document.querySelectorAll('#map .tile.owned:not(.doubted)').length === 256";

/// One of two nodes has its half, and nothing is on its way there.
fn settled_on(node: &str) -> String {
    format!("{} >= 127 && {ALL_OWNED} && document.getAnimations().length === 0", shards_on(node))
}

fn shards_on(node: &str) -> String {
    format!("document.querySelectorAll('[data-block=\"{node}\"] .tile').length")
}

async fn opened<'a>(browser: &'a Browser, house: &House) -> Page<'a> {
    // Of 4000 ids none of 256 shards goes without: the chance is one in thirty thousand, and the ids are always the same.
    house.report(4000).await;
    let page = browser.page().await;
    page.open(&house.url()).await;
    page.until(ALL_OWNED).await;
    page
}

#[tokio::test]
async fn the_map_shows_each_shard_of_a_real_cluster_and_follows_a_killed_node() {
    if lived_as_a_node().await {
        return;
    }
    let Some(browser) = Browser::start() else { return };
    let first = House::start("node-1", &[]).await;
    let seed = first.node.address().to_string();
    let second = House::start("node-2", std::slice::from_ref(&seed)).await;
    let test = "watching::the_map_shows_each_shard_of_a_real_cluster_and_follows_a_killed_node";
    let third = Stranger::start(test, "node-3", &seed).await;
    for house in [&first, &second] {
        house.wait_for(3).await;
    }
    let page = opened(&browser, &first).await;
    // Each has its share, once the shards have spread.
    for node in ["node-1", "node-2", "node-3"] {
        page.until(&format!("{} >= 60", shards_on(node))).await;
    }
    page.until("document.querySelector('#survives strong').textContent === 'survives 1 loss'").await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    page.picture("cluster").await;

    let killed = Instant::now();
    let over = async {
        third.kill().await;
        first.went_on_without("node-3").await;
    };
    timeout(FAIL_OVER, over).await.expect("the cluster did not go on in time");
    // What the page takes is the browser's, and that of what else runs here.
    page.until(&format!("{} === 0 && {ALL_OWNED}", shards_on("node-3"))).await;
    println!("the map followed after {:?}", killed.elapsed());
    let both = format!("{} + {} === 256", shards_on("node-1"), shards_on("node-2"));
    page.until(&both).await;
    page.until("document.querySelector('#survives strong').textContent === 'survives no loss'").await;
    page.until("document.querySelector('[data-node=\"node-3\"]') === null").await;
    page.picture("after-a-kill").await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn turns_of_a_real_cluster_are_plotted() {
    let Some(browser) = Browser::start() else { return };
    let house = House::start("node-1", &[]).await;
    let page = opened(&browser, &house).await;
    // Again, because what is told is of the last seconds.
    house.report(100).await;
    let shown = "document.querySelector('[data-plot=Turns] .plot-value').textContent";
    page.until(&format!("/^[0-9.]+ (ns|µs|ms|s)$/.test({shown})")).await;
    page.until("document.querySelectorAll('#slowest li').length > 0").await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn the_drain_button_drains_once_it_is_confirmed() {
    let Some(browser) = Browser::start() else { return };
    let first = House::start("node-1", &[]).await;
    let second = House::start("node-2", &[first.node.address().to_string()]).await;
    second.wait_for(2).await;
    let page = opened(&browser, &first).await;
    page.until(&settled_on("node-2")).await;

    page.click("[data-node=\"node-2\"] [data-order=drain]").await;
    page.until("document.querySelector('[data-node=\"node-2\"] .confirm:not([hidden])') !== null").await;
    page.picture("drain-asked").await;
    page.press("Escape", 27).await;
    page.until("document.querySelector('.confirm:not([hidden])') === null").await;
    assert!(page.evaluate::<u32>(&shards_on("node-2")).await >= 100, "nothing was ordered yet");

    ordered(&page, "node-2", "drain").await;
    page.until(&format!("{} === 256 && {ALL_OWNED}", shards_on("node-1"))).await;
    page.picture("drained").await;
    // What the order would do is said before it is given: there is nowhere left to go.
    page.click("[data-node=\"node-1\"] [data-order=drain]").await;
    page.until("document.querySelector('.confirm:not([hidden]) p')?.textContent.includes('No other node hosts sensors')").await;
    // It hosts nothing, and is a member all the same.
    assert!(
        page.evaluate::<bool>("document.querySelector('[data-node=\"node-2\"] .tag.fine') !== null").await
    );
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    browser.close().await;
}

/// Presses a button of a member, and the one that confirms it.
async fn ordered(page: &Page<'_>, node: &str, order: &str) {
    page.click(&format!("[data-node=\"{node}\"] [data-order={order}]")).await;
    page.until(&format!("document.querySelector('[data-confirm={order}]') !== null")).await;
    page.click(&format!("[data-confirm={order}]")).await;
}

#[tokio::test]
async fn the_leave_button_has_a_node_leave() {
    let Some(browser) = Browser::start() else { return };
    let first = House::start("node-1", &[]).await;
    let second = House::start("node-2", &[first.node.address().to_string()]).await;
    second.wait_for(2).await;
    let page = opened(&browser, &first).await;
    ordered(&page, "node-2", "leave").await;
    page.until("document.querySelector('[data-node=\"node-2\"]') === null").await;
    page.until(&format!("{} === 256 && {ALL_OWNED}", shards_on("node-1"))).await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn the_down_button_has_a_node_removed() {
    let Some(browser) = Browser::start() else { return };
    let first = House::start("node-1", &[]).await;
    let second = House::start("node-2", &[first.node.address().to_string()]).await;
    second.wait_for(2).await;
    let page = opened(&browser, &first).await;
    ordered(&page, "node-2", "down").await;
    // It lives, and may be back as another member before anybody looks: the log remembers.
    let lines = "[...document.querySelectorAll('#log .log-text')].map((line) => line.textContent)";
    page.until(&format!("{lines}.includes('node-2 was removed')")).await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn an_entity_is_found_by_its_id_with_the_reason_why_it_is_there() {
    let Some(browser) = Browser::start() else { return };
    let house = House::start("node-1", &[]).await;
    let page = opened(&browser, &house).await;
    page.click("#find-id").await;
    page.write("sensor-12").await;
    page.press("Enter", 13).await;
    page.until("document.querySelector('#found h3')?.textContent.startsWith('sensor-12')").await;
    let told = house.node.explain("sensors", "sensor-12").unwrap();
    let facts: Vec<String> =
        page.evaluate("[...document.querySelectorAll('#found dd')].map((fact) => fact.textContent)").await;
    assert!(facts.contains(&told.why), "{facts:?}");
    assert!(facts.contains(&told.shard.to_string()), "{facts:?}");
    assert!(facts.contains(&told.epoch.to_string()), "to the last digit: {facts:?}");
    let pointed: String = page.evaluate("document.querySelector('.tile[aria-current]').dataset.shard").await;
    assert_eq!(pointed, told.shard.to_string());
    page.picture("entity").await;
    browser.close().await;
}

#[tokio::test]
async fn a_shard_is_moved_by_hand() {
    let Some(browser) = Browser::start() else { return };
    let first = House::start("node-1", &[]).await;
    let second = House::start("node-2", &[first.node.address().to_string()]).await;
    second.wait_for(2).await;
    let page = opened(&browser, &first).await;
    page.until(&settled_on("node-2")).await;
    let shard: String =
        page.evaluate("document.querySelector('[data-block=\"node-2\"] .tile').dataset.shard").await;
    page.click(&format!("[data-shard=\"{shard}\"]")).await;
    page.until("document.querySelector('.mover button') !== null").await;
    page.click(".mover button").await;
    page.until(&format!(
        "document.querySelector('[data-block=\"node-1\"] [data-shard=\"{shard}\"]') !== null"
    ))
    .await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn a_node_with_a_token_is_asked_once_it_was_typed_in() {
    let Some(browser) = Browser::start() else { return };
    let node = Node::builder("city").node_id("node-1").listen("127.0.0.1:0").start().await.unwrap();
    let token = "a-token-of-this-test";
    let guarded = Management::builder(&node).listen("127.0.0.1:0").token(token).start().await.unwrap();
    let page = browser.page().await;
    page.open(&format!("http://{}/", guarded.address())).await;
    page.until("document.querySelector('input[type=password]') !== null").await;
    assert_eq!(page.evaluate::<u32>("document.querySelectorAll('.station').length").await, 0);
    page.click("input[type=password]").await;
    page.write(token).await;
    page.press("Enter", 13).await;
    page.until("document.querySelectorAll('.station').length === 1").await;
    browser.close().await;
}
