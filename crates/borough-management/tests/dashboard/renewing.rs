//! What the page shows of a cluster that changes, once it has.

use std::time::Duration;

use borough_management::view::EventKind;

use crate::browser::Browser;
use crate::reading::{NAMES, TRAFFIC, opened};
use crate::scene::Scene;
use crate::stand_in::StandIn;

/// The panel says that what is looked at belongs to that node.
fn is_of(node: &str) -> String {
    format!("document.querySelector('#found .named > span:last-child')?.textContent === '{node}'")
}

/// Shard 7 has another owner.
fn move_on(scene: &mut Scene) {
    let place = scene.place(7);
    (place.owner, place.epoch) = (Some("node-3".to_owned()), 2);
}

#[tokio::test]
async fn the_panel_of_a_shard_is_renewed_while_its_form_is_in_use_and_the_form_afterwards() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    page.click("[data-shard=\"7\"]").await;
    page.until(&is_of("node-2")).await;
    page.evaluate::<bool>("document.querySelector('.mover select').focus() ?? true").await;
    stage.change(move_on);
    page.until(&is_of("node-3")).await;
    let choice = "document.activeElement === document.querySelector('.mover select')";
    assert!(page.evaluate::<bool>(choice).await, "it was taken out of somebody's hands");
    page.evaluate::<bool>("document.activeElement.blur() ?? true").await;
    let choices = "[...document.querySelectorAll('.mover option')].map((one) => one.value).join()";
    page.until(&format!("{choices} === 'node-1,node-2'")).await;
    browser.close().await;
}

#[tokio::test]
async fn the_panel_of_an_entity_follows_its_shard() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    page.click("#find-id").await;
    page.write("sensor-1").await;
    page.press("Enter", 13).await;
    page.until(&is_of("node-2")).await;
    stage.change(move_on);
    page.until(&is_of("node-3")).await;
    browser.close().await;
}

#[tokio::test]
async fn what_was_added_to_the_losses_stands_for_one_answer_and_who_is_back_has_added_nothing() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&NAMES)).await;
    let page = opened(&browser, &stage).await;
    let refused = |count: u32| {
        format!(
            "document.querySelector('#losses .reasons:nth-child(2) .reason-count')?.textContent === '{count}'"
        )
    };
    page.until(&refused(120)).await;
    // Kept as they are drawn: one stands for a second, and nobody may look just then.
    let keep = "(() => { window.added = new Set(); \
                const look = () => document.querySelectorAll('.reason-more').forEach((one) => one.textContent && window.added.add(one.textContent)); \
                new MutationObserver(look).observe(document.getElementById('losses'), { childList: true }); return true; })()";
    page.evaluate::<bool>(keep).await;
    let more = |scene: &mut Scene, count| scene.stats.nodes[0].kinds[0].refused[0].value += count;
    let mut away = None;
    stage.change(|scene| {
        away = scene.stats.nodes.pop();
        more(scene, 3);
    });
    page.until(&refused(123)).await;
    stage.change(|scene| {
        scene.stats.nodes.extend(away);
        more(scene, 4);
    });
    page.until(&refused(127)).await;
    page.until("window.added.has('+4')").await;
    assert_eq!(page.evaluate::<Vec<String>>("[...window.added]").await, ["+3", "+4"]);
    page.until("[...document.querySelectorAll('.reason-more')].every((one) => one.textContent === '')").await;
    browser.close().await;
}

#[tokio::test]
async fn the_plot_of_answers_is_of_what_the_node_tells_by_itself() {
    let Some(browser) = Browser::start() else { return };
    let mut scene = Scene::calm(&NAMES);
    scene.stats_take = Duration::from_millis(1500);
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    page.until(TRAFFIC).await;
    let shown =
        "Number(document.querySelector('[data-plot=Answer] .plot-value').textContent.replaceAll(',', ''))";
    let millis: f64 = page.evaluate(shown).await;
    assert!(millis < 1500.0, "{millis} ms, as long as the statistics take");
    browser.close().await;
}

#[tokio::test]
async fn an_event_is_heard_once_however_often_the_stream_ends() {
    let Some(browser) = Browser::start() else { return };
    let mut scene = Scene::calm(&NAMES);
    scene.tell(EventKind::Member, "node-3", None, "node-3 is up");
    let stage = StandIn::start(scene).await;
    let page = opened(&browser, &stage).await;
    let asked =
        "performance.getEntriesByType('resource').filter((one) => one.name.includes('/api/events')).length";
    page.until(&format!("{asked} >= 3")).await;
    assert_eq!(page.evaluate::<String>("document.getElementById('log-count').textContent").await, "1 event");
    browser.close().await;
}

#[tokio::test]
async fn what_has_nowhere_to_go_stays_in_a_drain_and_ends_in_a_leave_and_both_is_said() {
    let Some(browser) = Browser::start() else { return };
    let stage = StandIn::start(Scene::calm(&["node-1"])).await;
    let page = opened(&browser, &stage).await;
    for (order, said) in [("drain", "stays until one does."), ("leave", "ends.")] {
        page.click(&format!("[data-order={order}]")).await;
        let words = format!("No other node hosts sensors: what lives there of that {said}");
        page.until(&format!(
            "document.querySelector('.confirm:not([hidden]) p')?.textContent.includes('{words}')"
        ))
        .await;
    }
    browser.close().await;
}
