// What happened, the newest first. Many of one kind at once are one line: a drain moves a hundred shards, and is one thing.

import { byId, clock, counted, element, say } from "./dom.js";
import { bullet } from "./marks.js";

const LINES_MAX = 200;
const TOGETHER = 3000;
const host = byId("log");
const shards = new Map();
let heard = 0;

const MANY = { allocated: "begin anew, on", moving: "start to move, to", moved: "have moved, to", "called-off": "do not move, to" };
const groups = new Map();

/** Adds one event. */
export function note(event) {
  heard += 1;
  say(byId("log-count"), `${counted(heard, "event")} since the page was opened`);
  if (event.kind !== null && event.shard !== null) shards.set(`${event.kind} ${event.shard}`, event);
  const group = groups.get(`${event.what} ${event.kind}`);
  if (group && event.at_millis - group.last < TOGETHER) return grow(group, event);
  const text = element("span", { class: "log-text", text: event.text });
  const time = element("time", { datetime: new Date(event.at_millis).toISOString(), text: clock(event.at_millis) });
  const signs = element("span", { class: "log-signs" }, sign(event.node));
  const loud = ["member", "reachability", "coordinator", "lease", "missed"].includes(event.what);
  host.prepend(element("li", { class: loud ? "loud" : "", "data-what": event.what }, time, signs, text));
  while (host.children.length > LINES_MAX) host.lastChild.remove();
  if (!(event.what in MANY)) return;
  groups.set(`${event.what} ${event.kind}`, { last: event.at_millis, text, signs, count: 1, nodes: new Set([event.node]) });
}

function grow(group, event) {
  group.last = event.at_millis;
  group.count += 1;
  group.nodes.add(event.node);
  const nodes = [...group.nodes].filter(Boolean).sort();
  say(group.text, `${group.count} shards of ${event.kind} ${MANY[event.what]} ${nodes.length ? nodes.join(", ") : "others"}`);
  if (group.signs.children.length < group.nodes.size) group.signs.replaceChildren(...nodes.map(sign));
}

function sign(node) {
  return node ? bullet(node, "small") : element("span", { class: "bullet small line-none", "aria-hidden": "true" });
}

/** The last that was heard of a shard since the page was opened. */
export const lastOf = (kind, shard) => shards.get(`${kind} ${shard}`);
