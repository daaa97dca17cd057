// What happened, the newest first. Many of one kind at once are one line: a drain moves a hundred shards, and is one thing.

import { byId, clock, counted, element, say } from "./dom.js";
import { bullet } from "./marks.js";

const LINES_MAX = 200;
const TOGETHER = 1000;
const host = byId("log");
const shards = new Map();
let heard = 0;

const MANY = {
  allocated: (group) => `${group.count} shards of ${group.kind} were given to ${names(group)}`,
  moving: (group) => `${group.count} shards of ${group.kind} are to move to ${names(group)}`,
  moved: (group) => `${group.count} shards of ${group.kind} have moved to ${names(group)}`,
  "called-off": (group) => `${group.count} moves of ${group.kind} were called off`,
  other: (group) => `${group.count} times: ${group.pattern}`,
};
const groups = new Map();

/** Adds one event. */
export function note(event) {
  heard += 1;
  say(byId("log-count"), counted(heard, "event"));
  const isOfShard = event.kind !== null && event.shard !== null;
  if (isOfShard && event.what !== "other") shards.set(`${event.kind} ${event.shard}`, event);
  const pattern = event.text.replace(`shard ${event.shard} of ${event.kind}`, `a shard of ${event.kind}`);
  const key = [event.what, event.kind, event.what === "other" ? pattern : ""].join("\n");
  const known = groups.get(key);
  if (known && event.at_millis - known.last < TOGETHER) return grow(known, event);
  const text = element("span", { class: "log-text", text: event.text });
  const time = element("time", { datetime: new Date(event.at_millis).toISOString(), text: clock(event.at_millis) });
  const about = event.node ?? event.seen_by;
  const signs = element("span", { class: "log-signs" }, bullet(about, "small"));
  host.prepend(element("li", { class: isOfShard ? "" : "loud", "data-what": event.what }, time, signs, text));
  while (host.children.length > LINES_MAX) host.lastChild.remove();
  if (isOfShard && event.what in MANY) {
    groups.set(key, { last: event.at_millis, kind: event.kind, pattern, text, signs, count: 1, nodes: new Set([about]) });
  }
}

function grow(group, event) {
  group.last = event.at_millis;
  group.count += 1;
  group.nodes.add(event.node ?? event.seen_by);
  say(group.text, MANY[event.what](group));
  if (group.signs.children.length < group.nodes.size) group.signs.replaceChildren(...[...group.nodes].sort().map((node) => bullet(node, "small")));
}

const names = (group) => [...group.nodes].sort().join(", ");

/** The last that was heard of a shard since the page was opened. */
export const lastOf = (kind, shard) => shards.get(`${kind} ${shard}`);
