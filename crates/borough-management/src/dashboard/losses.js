// Messages that did not simply arrive: which wait, which were refused or dropped, and why; and the state that nodes lost when they gave up their cluster.

import { byId, count, counted, element, words } from "./dom.js";
import { bullet } from "./marks.js";

const host = byId("losses");
// What each node counted in the last answer.
let previous = new Map();
// What each node counted when it last answered, also of nodes that are gone: it happened all the same.
const known = new Map();
// What processes had counted that have ended.
const ended = { forwarded: 0, refused: new Map(), dropped: new Map() };
const KNOWN_MAX = 256;
let key = "";
// Why a node gave up its part in a cluster.
const GAVE_UP = {
  yielded: "yielded to another cluster",
  "voters-gone": "lost its voters for good",
  removed: "was removed by its cluster",
  recovered: "was ordered to recover",
};

/** Draws the counts of all nodes and types together, with what was added since the last answer. */
export function drawLosses(stats) {
  const now = new Map(stats.nodes.map((node) => [node.node, countedBy(node)]));
  remember(now);
  const held = [...now].filter(([, counts]) => counts.held > 0).map(([node, counts]) => [node, counts.held, 0]);
  const [refused, dropped] = [summed(now, "refused"), summed(now, "dropped")];
  const forwarded = [...known.values()].reduce((sum, counts) => sum + counts.forwarded, ended.forwarded);
  const lost = stats.nodes.flatMap((node) => (node.state_losses ?? []).map((loss) => ({ node: node.node, ...loss })));
  previous = now;
  const next = JSON.stringify([held, refused, dropped, forwarded, lost]);
  if (next === key) return;
  key = next;
  host.replaceChildren(
    table("Held", "wait for a way now", held, (name) => [bullet(name), element("span", { text: name })], "Nothing waits."),
    table("Refused", "given back to the sender", refused, named, "Nothing was refused."),
    table("Dropped", "reached no handler", dropped, named, "Nothing was dropped."),
    stateLost(lost),
    element("p", { class: "summary", text: forwarded ? `${count(forwarded)} were sent on after their shard had moved, which costs a step and loses nothing.` : "" }),
  );
}

/** What one node counted, of all its types together. */
function countedBy(node) {
  const counts = { held: 0, forwarded: 0, refused: new Map(), dropped: new Map() };
  for (const kind of node.kinds) {
    counts.held += kind.held;
    counts.forwarded += kind.forwarded;
    for (const reason of kind.refused) add(counts.refused, reason.name, reason.value);
    for (const reason of kind.dropped) add(counts.dropped, reason.name, reason.value);
  }
  return counts;
}

/** Keeps what was counted. Counts only grow as long as a process lives: where one fell, another process counts under that name. */
function remember(now) {
  for (const [node, counts] of now) {
    const last = known.get(node);
    const fell = (what) => [...last[what]].some(([name, value]) => value > (counts[what].get(name) ?? 0));
    if (last && (last.forwarded > counts.forwarded || fell("refused") || fell("dropped"))) settle(last);
    known.set(node, counts);
  }
  for (const [node, counts] of known) {
    if (known.size <= KNOWN_MAX) return;
    if (now.has(node)) continue;
    settle(counts);
    known.delete(node);
  }
}

function settle(counts) {
  ended.forwarded += counts.forwarded;
  for (const what of ["refused", "dropped"]) {
    for (const [name, value] of counts[what]) add(ended[what], name, value);
  }
}

/**
 * Of each reason how often on all nodes, and how much of that was added since the last answer. One that was not in that answer has added nothing: all that it ever
 * counted is not new. A count that fell began anew with its process.
 */
function summed(now, what) {
  const [values, added] = [new Map(ended[what]), new Map()];
  for (const counts of known.values()) {
    for (const [name, value] of counts[what]) add(values, name, value);
  }
  for (const [node, counts] of now) {
    const before = previous.get(node)?.[what];
    for (const [name, value] of counts[what]) {
      add(added, name, before ? Math.max(0, value - (before.get(name) ?? 0)) : 0);
    }
  }
  const rows = [...values].map(([name, value]) => [name, value, added.get(name)]);
  return rows.filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
}

const add = (map, name, value) => map.set(name, (map.get(name) ?? 0) + value);
const named = (name) => [element("span", { text: words(name) })];

function table(title, meaning, rows, cells, none) {
  const sum = Math.max(1, rows.reduce((all, [, value]) => all + value, 0));
  const head = element("h3", {}, element("span", { text: title }), element("span", { class: "aside", text: meaning }));
  if (rows.length === 0) return element("div", { class: "reasons" }, head, element("p", { class: "none", text: none }));
  const list = rows.map(([name, value, more]) => {
    const bar = element("span", { class: "reason-bar" });
    bar.style.width = `${Math.max(1, (100 * value) / sum)}%`;
    const number = element("span", { class: "reason-count", text: count(value) });
    const added = element("span", { class: "reason-more", text: more > 0 ? `+${count(more)}` : "" });
    return element("li", {}, element("span", { class: "reason-name" }, ...cells(name)), number, added, bar);
  });
  return element("div", { class: "reasons" }, head, element("ul", {}, ...list));
}

/** What nodes dropped since their processes started, with all they hosted: one row for each node and reason. */
function stateLost(lost) {
  const head = element("h3", {}, element("span", { text: "State lost" }), element("span", { class: "aside", text: "by nodes that gave up their cluster" }));
  if (lost.length === 0) return element("div", { class: "reasons" }, head, element("p", { class: "none", text: "No node gave up." }));
  const rows = lost.map((loss) => {
    const why = `${loss.node} ${GAVE_UP[loss.reason] ?? "gave up its cluster"}${loss.times > 1 ? `, ${count(loss.times)} times` : ""}`;
    return element("li", { class: "state-lost" }, element("span", { class: "reason-name" }, bullet(loss.node), element("span", { text: why })), element("span", { class: "amount", text: amount(loss) }));
  });
  return element("div", { class: "reasons" }, head, element("ul", {}, ...rows));
}

/** How much that was. Entities that could not be counted in time are not none. */
function amount({ shards, entities, times, uncounted }) {
  const known = `${count(entities)} ${entities === 1 ? "entity" : "entities"}`;
  if (uncounted === 0) return `${counted(shards, "shard")}, ${known}`;
  return `${counted(shards, "shard")}, ${uncounted === times ? "an unknown number of entities" : `${known} and an unknown number more`}`;
}
