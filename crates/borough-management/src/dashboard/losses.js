// Messages that did not simply arrive: which wait, which were refused or dropped, and why.

import { byId, count, element, words } from "./dom.js";
import { bullet } from "./marks.js";

const host = byId("losses");
let previous = null;
let key = "";

/** Draws the counts of all nodes and types together, with what was added since the last answer. */
export function drawLosses(stats) {
  const now = { held: new Map(), refused: new Map(), dropped: new Map(), forwarded: 0 };
  for (const node of stats.nodes) {
    for (const kind of node.kinds) {
      add(now.held, node.node, kind.held);
      for (const reason of kind.refused) add(now.refused, reason.name, reason.value);
      for (const reason of kind.dropped) add(now.dropped, reason.name, reason.value);
      now.forwarded += kind.forwarded;
    }
  }
  const next = JSON.stringify([[...now.held], [...now.refused], [...now.dropped], now.forwarded]);
  if (next === key) return;
  key = next;
  const held = [...now.held].filter(([, value]) => value > 0);
  host.replaceChildren(
    table("Held", "wait for a way now", held, (name) => [bullet(name), element("span", { text: name })], null, "Nothing waits."),
    table("Refused", "given back to the sender", reasons(now.refused), named, previous?.refused, "Nothing was refused."),
    table("Dropped", "reached no handler", reasons(now.dropped), named, previous?.dropped, "Nothing was dropped."),
    element("p", { class: "summary", text: now.forwarded ? `${count(now.forwarded)} were sent on after their shard had moved, which costs a step and loses nothing.` : "" }),
  );
  previous = now;
}

const add = (map, name, value) => map.set(name, (map.get(name) ?? 0) + value);
const reasons = (map) => [...map].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
const named = (name) => [element("span", { text: words(name) })];

function table(title, meaning, rows, cells, before, none) {
  const sum = Math.max(1, rows.reduce((all, [, value]) => all + value, 0));
  const head = element("h3", {}, element("span", { text: title }), element("span", { class: "aside", text: meaning }));
  if (rows.length === 0) return element("div", { class: "reasons" }, head, element("p", { class: "none", text: none }));
  const list = rows.map(([name, value]) => {
    const bar = element("span", { class: "reason-bar" });
    bar.style.width = `${Math.max(1, (100 * value) / sum)}%`;
    const more = before ? value - (before.get(name) ?? 0) : 0;
    const number = element("span", { class: "reason-count", text: count(value) });
    const added = element("span", { class: "reason-more", text: more > 0 ? `+${count(more)}` : "" });
    return element("li", {}, element("span", { class: "reason-name" }, ...cells(name)), number, added, bar);
  });
  return element("div", { class: "reasons" }, head, element("ul", {}, ...list));
}
