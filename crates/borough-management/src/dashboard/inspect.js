// Looking closer: one shard, or one entity and why it is where it is.

import { brief, byId, clock, count, element, epochOf, span } from "./dom.js";
import { order, read } from "./feed.js";
import { lastOf } from "./log.js";
import { bullet, markOf } from "./marks.js";

const found = byId("found");
// What the panel shows of a shard, and what its facts alone do.
let shown = null;
let told = null;
// How often something else was looked at: an answer that comes too late for what is looked at now is not shown.
let turn = 0;

/** Shows what is known of a shard, and again with every answer until something else is looked at. */
export function showShard(map, shard, isAsked) {
  if (isAsked) turn += 1;
  const place = map.places.find((one) => one.shard === shard);
  const event = lastOf(map.kind, shard);
  const key = JSON.stringify([map.kind, shard, place, map.hosts, event?.number]);
  // A choice that is being made is not taken out of somebody's hands: then the facts above it are renewed, and the rest afterwards.
  const isHeld = !isAsked && found.contains(document.activeElement);
  if (!isAsked && (isHeld ? told : shown) === key) return;
  told = key;
  const list = facts([
    ["Owner", place?.owner ? node(place.owner) : place ? "nobody now" : "nobody yet"],
    place?.moving_to ? ["Moving to", node(place.moving_to)] : null,
    place ? ["Epoch", epochOf(place.epoch)] : null,
    ["Why", why(place)],
    event ? ["Last", `${clock(event.at_millis)}, ${event.text}`] : null,
  ]);
  if (isHeld) return void found.querySelector(".facts-list")?.replaceWith(list);
  shown = key;
  found.replaceChildren(element("h3", { text: `Shard ${shard} of ${map.kind}` }), list, ...mover(map, shard, place));
}

function why(place) {
  if (!place) return "Nobody has sent to it yet. It is given to a host with the first message.";
  if (!place.owner) return "Its owner is gone. It waits until that one's lease is over by any clock, then begins anew elsewhere.";
  if (place.moving_to) return `${place.owner} hands it over: messages wait, and follow it in order.`;
  return `The table gives it to ${place.owner} since epoch ${epochOf(place.epoch)}. Each owner has an epoch of its own, and each is higher than the one before.`;
}

function mover(map, shard, place) {
  const others = map.hosts.filter((one) => one !== place?.owner);
  if (!place?.owner || place.moving_to || others.length === 0) return [];
  const choice = element("select", { "aria-label": "Host to move it to" }, ...others.map((one) => element("option", { text: one, value: one })));
  const answer = element("p", { class: "answer", role: "status" });
  const send = async (event) => {
    event.preventDefault();
    try {
      answer.className = "answer";
      answer.textContent = await order("/api/move", { kind: map.kind, shard, node: choice.value });
    } catch (error) {
      answer.className = "answer alarm";
      answer.textContent = error.message;
    }
  };
  const row = element("div", { class: "order-row" }, element("span", { text: "Move it to" }), choice, element("button", { type: "submit", class: "quiet", text: "Move" }));
  return [element("form", { class: "mover", on: { submit: send } }, row, answer)];
}

/**
 * Asks where an entity lives; gives the answer, `null` if there is none, and `undefined` if something else is looked at by now. What nobody asked for again is
 * left as it was if there is no answer.
 */
export async function showEntity(kind, id, isAsked) {
  if (isAsked) turn += 1;
  const asked = turn;
  try {
    const place = await read(`/api/explain/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`);
    if (asked !== turn) return undefined;
    found.replaceChildren(
      element("h3", {}, element("span", { text: place.id }), element("span", { class: "aside", text: ` of ${place.kind}` })),
      facts([
        ["Lives on", place.node ? node(place.node) : "no node now"],
        ["Why", place.why],
        ["Shard", String(place.shard)],
        ["Epoch", epochOf(place.epoch)],
        place.since_millis === null ? null : ["Since", `${span(place.since_millis)} before ${clock(Date.now())}, as this node saw it`],
      ]),
    );
    return place;
  } catch (error) {
    if (asked !== turn) return undefined;
    if (isAsked) found.replaceChildren(element("p", { class: "answer alarm", text: error.message }));
    return null;
  }
}

/** The busiest entities and the slowest, each a way to its place. */
export function drawEntities(entities, choose) {
  list("busiest", "Busiest entities", entities.busiest, (one) => `${count(one.waiting)} waiting`, choose);
  list("slowest", "Slowest turns of the last minute", entities.slowest ?? [], (one) => brief(one.took_nanos), choose);
}

function list(name, title, entities, value, choose) {
  const host = byId(name);
  const shown = entities.slice(0, 5);
  const key = JSON.stringify(shown.map((one) => [one, markOf(one.node)]));
  if (host.key === key || host.contains(document.activeElement)) return;
  host.key = key;
  const rows = shown.map((one) => {
    const way = element("button", { type: "button", class: "link", text: one.id, on: { click: () => choose(one.kind, one.id) } });
    return element("li", {}, bullet(one.node, "small"), way, element("span", { class: "aside", text: one.kind }), element("span", { class: "reason-count", text: value(one) }));
  });
  host.replaceChildren(...(rows.length ? [element("h3", { text: title }), element("ul", { class: "busiest" }, ...rows)] : []));
}

function node(name) {
  return element("span", { class: "named" }, bullet(name, "small"), element("span", { text: name }));
}

function facts(rows) {
  const parts = rows.filter(Boolean).flatMap(([name, value]) => [element("dt", { text: name }), element("dd", {}, value)]);
  return element("dl", { class: "facts-list" }, ...parts);
}
