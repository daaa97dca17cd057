//! What the page shows of a cluster that holds still.

use borough_management::view::{EventKind, SlowEntity, StateLossCount};

use crate::browser::Browser;
use crate::page::Page;
use crate::scene::Scene;
use crate::stand_in::StandIn;

pub(crate) const NAMES: [&str; 3] = ["node-1", "node-2", "node-3"];
/// All tiles lie where they belong.
const DRAWN: &str = "document.querySelectorAll('#map .tile').length === 256";

/// Two answers were compared.
pub(crate) const TRAFFIC: &str =
    "document.querySelector('[data-plot=Handled] .plot-value').textContent !== '–'";

/// The contrast of the text of all that is found with what lies behind it, the least of all, by the formula of WCAG 2.
const LEAST_CONTRAST: &str = r"(() => {
  const parts = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll('h1, h2, h3, p, li, dt, dd, label span, button, .bullet, .tile.owned, .tag, .plot-name, .plot-unit, time')];
  const shown = texts.filter((one) => one.checkVisibility() && !one.disabled && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()));
  const found = shown.map((one) => {
    const [a, b] = [light(parts(getComputedStyle(one).color)), light(behind(one))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${one.className} ${one.textContent.slice(0, 30)}`];
  });
  return found.sort((a, b) => a[0] - b[0])[0];
})()";

/// An entity of the second node.
fn slow(id: &str, took_nanos: u64) -> SlowEntity {
    SlowEntity { kind: "sensors".to_owned(), id: id.to_owned(), node: NAMES[1].to_owned(), took_nanos }
}

/// What a node dropped for that reason: so many times, of which the entities were not counted so often.
fn lost(reason: &str, times: u64, uncounted: u64) -> StateLossCount {
    StateLossCount { reason: reason.to_owned(), times, shards: 85, entities: 1200, uncounted }
}

pub(crate) async fn opened<'a>(browser: &'a Browser, stage: &StandIn) -> Page<'a> {
    let page = browser.page().await;
    page.open(&stage.url).await;
    page.until(DRAWN).await;
    page
}

#[tokio::test]
async fn the_page_loads_without_a_complaint_and_asks_nobody_else() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    page.until(TRAFFIC).await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    let elsewhere: Vec<_> = page.requests().into_iter().filter(|url| !url.starts_with(&stage.url)).collect();
    assert_eq!(elsewhere, ["about:blank"; 0]);
    browser.close().await;
}

#[tokio::test]
async fn a_shard_on_its_way_one_without_an_owner_and_one_in_doubt_are_each_seen_and_said() {
    let Some(browser) = Browser::start() else { return };
    let mut scene = Scene::calm(&NAMES);
    scene.place(0).moving_to = Some("node-3".to_owned());
    scene.place(1).owner = None;
    scene.members.members[2].is_reachable = false;
    scene.shards.kinds[0].places.truncate(250);
    scene.tell(EventKind::Reachability, "node-3", None, "node-3 cannot be reached");
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;

    let said =
        |shard: u32| format!("document.querySelector('[data-shard=\"{shard}\"]').getAttribute('aria-label')");
    assert_eq!(page.evaluate::<String>(&said(0)).await, "shard 0, moving from node-1 to node-3");
    assert_eq!(page.evaluate::<String>(&said(1)).await, "shard 1, has no owner now");
    assert_eq!(page.evaluate::<String>(&said(2)).await, "shard 2, on node-3, which cannot be reached");
    assert_eq!(page.evaluate::<String>(&said(3)).await, "shard 3, on node-1");
    assert_eq!(page.evaluate::<String>(&said(255)).await, "shard 255, not needed yet");
    let looks = "new Set([0, 1, 2, 3, 255].map((shard) => getComputedStyle(document.querySelector(`[data-shard=\"${shard}\"]`)).background)).size";
    assert_eq!(page.evaluate::<u32>(looks).await, 5);
    let marks = "document.querySelector('[data-shard=\"0\"]').textContent";
    assert_eq!(page.evaluate::<String>(marks).await, "13", "both nodes are named in it");
    page.until("document.querySelectorAll('#log li').length === 1").await;
    page.until(TRAFFIC).await;
    page.picture("states").await;
    browser.close().await;
}

#[tokio::test]
async fn how_long_turns_take_is_plotted_and_who_is_slow_is_named() {
    let Some(browser) = Browser::start() else { return };
    let mut scene = Scene::calm(&NAMES);
    // One node is slower than the others: it is the one that is shown.
    scene.stats.nodes[1].kinds[0].turns.p99_nanos = 48_000_000;
    scene.slowest = vec![slow("sensor-12", 2_150_000_000), slow("sensor-3", 850)];
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    page.until("document.querySelector('[data-plot=Turns] .plot-value').textContent === '48 ms'").await;
    let unit: String =
        page.evaluate("document.querySelector('[data-plot=Turns] .plot-unit').textContent").await;
    assert_eq!(unit, "99 of 100 take less; half less than 3.2 µs");
    let areas = "document.querySelectorAll('[data-plot=Turns] .plot-area').length";
    assert_eq!(page.evaluate::<u32>(areas).await, 2, "what half take, and nearly all");
    // With the sign of the node, which the page may learn after them.
    let named = "[...document.querySelectorAll('#slowest li')].map((row) => row.textContent).join()";
    page.until(&format!("{named} === '2sensor-12sensors2.1 s,2sensor-3sensors850 ns'")).await;
    page.click("#slowest button").await;
    page.until("document.querySelector('#found h3')?.textContent.startsWith('sensor-12')").await;
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    page.picture("turns").await;
    browser.close().await;
}

#[tokio::test]
async fn what_nodes_dropped_by_giving_up_is_told_with_the_reason_and_how_much() {
    let Some(browser) = Browser::start() else { return };
    let mut scene = Scene::calm(&NAMES);
    let text =
        "node-2 yielded to another cluster of its name (1/2/3) and dropped 85 shards and 1200 entities";
    scene.tell(EventKind::StateLost, "node-2", None, text);
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    page.until("document.querySelector('#losses')?.textContent.includes('No node gave up.')").await;
    page.until("document.querySelectorAll('#log li[data-what=state-lost].loud').length === 1").await;
    stage.change(|scene| {
        scene.stats.nodes[1].state_losses = vec![lost("yielded", 1, 0), lost("voters-gone", 3, 2)];
        scene.stats.nodes[2].state_losses = vec![StateLossCount { entities: 0, ..lost("removed", 1, 1) }];
    });
    let rows = "[...document.querySelectorAll('#losses .state-lost')].map((row) => [...row.querySelectorAll('.reason-name > :last-child, .amount')].map((one) => one.textContent).join(': '))";
    page.until(&format!("{rows}.length === 3")).await;
    assert_eq!(
        page.evaluate::<Vec<String>>(rows).await,
        [
            "node-2 yielded to another cluster: 85 shards, 1,200 entities",
            "node-2 lost its voters for good, 3 times: 85 shards, 1,200 entities and an unknown number more",
            "node-3 was removed by its cluster: 85 shards, an unknown number of entities",
        ]
    );
    assert_eq!(page.complaints(), Vec::<serde_json::Value>::new());
    page.picture("state-lost").await;
    browser.close().await;
}

#[tokio::test]
async fn a_phone_scrolls_in_one_direction_only() {
    let Some(browser) = Browser::start() else { return };
    let long = "a-node-with-a-name-that-somebody-generated-0123456789abcdef.cluster.example";
    let stage = StandIn::start(Scene::calm(&["node-1", "node-2", long])).await;
    let page = browser.page().await;
    page.resize(360, 740).await;
    page.open(&stage.url).await;
    page.until(DRAWN).await;
    page.click("[data-shard=\"7\"]").await;
    page.until("document.querySelector('#found h3') !== null").await;
    page.click("[data-node=\"node-2\"] [data-order=leave]").await;
    page.until(TRAFFIC).await;
    assert_eq!(page.evaluate::<u32>("document.documentElement.scrollWidth").await, 360);
    page.picture("phone").await;
    browser.close().await;
}

#[tokio::test]
async fn light_and_dark_are_both_readable() {
    let Some(browser) = Browser::start() else { return };
    // As many as there are colours, so that the text on each is measured.
    let names = ["node-1", "node-2", "node-3", "node-4", "node-5", "node-6", "node-7", "node-8"];
    let mut scene = Scene::calm(&names);
    scene.members.members[7].is_reachable = false;
    scene.members.members[6].state = "leaving".to_owned();
    scene.members.advice = Some("It has no lease; start a third node.".to_owned());
    scene.tell(EventKind::Coordinator, "node-1", None, "node-1 coordinates");
    scene.tell(EventKind::StateLost, "node-2", None, "node-2 yielded to another cluster");
    scene.stats.nodes[1].state_losses = vec![lost("yielded", 1, 0)];
    scene.slowest = vec![slow("sensor-12", 2_150_000_000)];
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    page.until(TRAFFIC).await;
    page.click("[data-shard=\"7\"]").await;
    page.click("[data-node=\"node-2\"] [data-order=down]").await;
    let paper = "getComputedStyle(document.body).backgroundColor";
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        // Without motion a colour is at its end at once.
        page.prefer(&[("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]).await;
        let (least, of): (f64, String) = page.evaluate(LEAST_CONTRAST).await;
        assert!(least >= 4.5, "{scheme}: {least:.2} of {of}");
        papers.push(page.evaluate::<String>(paper).await);
        page.picture(scheme).await;
    }
    assert_ne!(papers[0], papers[1]);
    browser.close().await;
}

#[tokio::test]
async fn what_a_node_says_never_becomes_markup() {
    let Some(browser) = Browser::start() else { return };
    let evil = "<img src=x onerror=\"document.title='taken'\">";
    let mut scene = Scene::calm(&["node-1", evil]);
    scene.members.advice = Some(evil.to_owned());
    scene.members.members[1].management = Some("javascript://x/%0Adocument.title='taken'".to_owned());
    scene.tell(EventKind::Member, evil, None, evil);
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    page.click("[data-shard=\"1\"]").await;
    page.until("document.querySelectorAll('#log li').length === 1").await;
    assert_eq!(page.evaluate::<u32>("document.querySelectorAll('img').length").await, 0);
    assert_eq!(page.evaluate::<String>("document.title").await, "city · Borough");
    drop(stage);
    page.until("document.querySelector('.notice.alarm') !== null").await;
    assert_eq!(page.evaluate::<u32>("document.querySelectorAll('.ways a').length").await, 0);
    browser.close().await;
}

#[tokio::test]
async fn a_node_that_is_lost_is_named_and_the_others_are_linked() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    drop(stage);
    page.until("document.querySelector('.notice.alarm') !== null").await;
    let said: String = page.evaluate("document.querySelector('.notice.alarm p').textContent").await;
    assert!(said.starts_with("node-1 does not answer any more."), "{said}");
    let ways: Vec<String> =
        page.evaluate("[...document.querySelectorAll('.ways a')].map((way) => way.href)").await;
    assert_eq!(ways, ["http://127.0.0.1:25581/", "http://127.0.0.1:25582/"]);
    page.picture("lost").await;
    browser.close().await;
}

#[tokio::test]
async fn the_map_is_one_stop_of_the_tab_key_and_walked_by_the_arrows() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    let focused = "document.activeElement.dataset.shard";
    page.evaluate::<bool>("document.querySelector('#layouts button:last-child').focus() ?? true").await;
    page.press("Tab", 9).await;
    assert_eq!(page.evaluate::<String>(focused).await, "0");
    // By node: the tiles beside it are those of the same node.
    page.press("ArrowRight", 39).await;
    assert_eq!(page.evaluate::<String>(focused).await, "3");
    page.press("Enter", 13).await;
    page.until("document.querySelector('#found h3')?.textContent === 'Shard 3 of sensors'").await;
    page.press("Tab", 9).await;
    assert!(page.evaluate::<bool>("document.activeElement.closest('#map') === null").await);
    browser.close().await;
}

#[tokio::test]
async fn tiles_travel_unless_motion_is_unwelcome() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    // Counted where they are made: they may be over before anybody looks.
    let counter = "(() => { window.flights = 0; const animate = Element.prototype.animate; \
                   Element.prototype.animate = function (...all) { window.flights += 1; return animate.apply(this, all); }; return true; })()";
    page.evaluate::<bool>(counter).await;
    let lives_on =
        |node: &str| format!("document.querySelector('[data-block=\"{node}\"] [data-shard=\"0\"]') !== null");
    stage.change(|scene| scene.place(0).owner = Some("node-2".to_owned()));
    page.until(&lives_on("node-2")).await;
    assert!(page.evaluate::<u32>("window.flights").await > 0);
    page.prefer(&[("prefers-reduced-motion", "reduce")]).await;
    page.evaluate::<u32>("window.flights = 0").await;
    stage.change(|scene| scene.place(0).owner = Some("node-3".to_owned()));
    page.until(&lives_on("node-3")).await;
    assert_eq!(page.evaluate::<u32>("window.flights").await, 0);
    browser.close().await;
}

#[tokio::test]
async fn many_moves_at_once_are_one_line_of_the_log() {
    let Some(browser) = Browser::start() else { return };
    let mut scene = Scene::calm(&NAMES);
    for shard in 0..80 {
        let to = NAMES[shard as usize % 2];
        scene.tell(EventKind::Moved, to, Some(shard), &format!("shard {shard} of sensors has moved to {to}"));
    }
    scene.tell(EventKind::Member, "node-3", None, "node-3 was removed");
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    page.until("document.querySelectorAll('#log li').length > 1").await;
    let lines: Vec<String> = page
        .evaluate("[...document.querySelectorAll('#log .log-text')].map((line) => line.textContent)")
        .await;
    assert_eq!(lines, ["node-3 was removed", "80 shards of sensors have moved to node-1, node-2"]);
    browser.close().await;
}
