// The page: takes what the node tells, and gives each part of the page its share.

import { byId, element, say } from "./dom.js";
import { follow } from "./feed.js";
import { drawEntities, showEntity, showShard } from "./inspect.js";
import { note } from "./log.js";
import { drawLosses } from "./losses.js";
import { clearMap, drawMap, point } from "./map.js";
import { assign } from "./marks.js";
import { drawMembers } from "./members.js";
import { hideLost, showDisks, showLocked, showLost, showStanding } from "./notices.js";
import { drawPlots } from "./plots.js";

const LAYOUTS = { nodes: "by node", numbers: "by number" };
const seen = { members: null, shards: null, at: null, millis: 0 };
// Events that came before the members, whose signs they carry.
let early = [];
// `looked` is what is looked at closely: a shard, or an entity (then it has an `id`) and its shard. Its tile is marked while the map shows its type.
const chosen = { kind: null, looked: null, layout: "nodes" };

const soon = follow({
  members(answer, millis) {
    seen.members = answer;
    seen.at = Date.now();
    // Of this answer, which the node gives by itself: for the statistics it asks the others.
    seen.millis = millis;
    showStanding(answer);
    draw();
  },
  shards(answer) {
    seen.shards = answer;
    draw();
  },
  stats(answer) {
    drawPlots(answer, seen.millis);
    drawLosses(answer);
    showDisks(answer);
    say(byId("missing"), answer.missing.map((one) => `${one.name} did not say: ${one.value}`).join(" · "));
  },
  entities: (answer) => drawEntities(answer, find),
  event: (event) => (early ? early.push(event) : note(event)),
  lost: () => showLost(seen.members, seen.at),
  back: hideLost,
  locked: () => showLocked(() => soon()),
});

function draw() {
  const { members, shards } = seen;
  if (!members) return;
  const places = shards?.kinds.flatMap((kind) => kind.places) ?? [];
  const owners = places.flatMap((place) => [place.owner, place.moving_to]).filter(Boolean);
  assign([...members.members.map((one) => one.node), ...owners]);
  const kinds = shards?.kinds ?? [];
  drawMembers(members, (node) => ({
    shards: places.filter((place) => place.owner === node).length,
    alone: kinds.filter((kind) => kind.hosts.length === 1 && kind.hosts[0] === node).map((kind) => kind.kind),
  }));
  early?.forEach(note);
  early = null;
  if (!shards) return;
  drawChoices(shards.kinds.map((kind) => kind.kind));
  const map = shards.kinds.find((kind) => kind.kind === chosen.kind);
  if (!map) {
    clearMap();
    say(byId("map-summary"), "No type of entity was started yet: `node.shard(name, factory)` starts one.");
    return;
  }
  drawMap(map, members.members, chosen.layout, (shard) => look(shard));
  point(chosen.looked?.kind === chosen.kind ? chosen.looked.shard : null);
  renew(shards);
}

function look(shard) {
  chosen.looked = { kind: chosen.kind, shard };
  point(shard);
  showShard(seen.shards.kinds.find((kind) => kind.kind === chosen.kind), shard, true);
  byId("found").scrollIntoView({ block: "nearest" });
}

async function find(kind, id) {
  byId("find-kind").value = kind;
  byId("find-id").value = id;
  const before = seen.shards;
  const answer = await showEntity(kind, id, true);
  if (answer === undefined) return;
  chosen.looked = answer && { kind, id, shard: answer.shard, place: before && placeOf(before, kind, answer.shard), isAsked: false };
  if (answer) chosen.kind = kind;
  draw();
}

/** Shows again what is looked at, if it is not as it was. */
function renew(shards) {
  const { looked } = chosen;
  if (!looked) return;
  const map = shards.kinds.find((kind) => kind.kind === looked.kind);
  if (looked.id !== undefined) renewEntity(looked, placeOf(shards, looked.kind, looked.shard));
  else if (map) showShard(map, looked.shard, false);
}

/** An entity is asked for again when the place of its shard is another than it was before it was asked for. */
async function renewEntity(looked, place) {
  if (looked.isAsked || looked.place === place) return;
  looked.isAsked = true;
  const answer = await showEntity(looked.kind, looked.id, false);
  looked.isAsked = false;
  if (answer) looked.place = place;
}

/** The place of a shard, as a text to compare. */
function placeOf(shards, kind, shard) {
  return JSON.stringify(shards.kinds.find((one) => one.kind === kind)?.places.find((one) => one.shard === shard));
}

function drawChoices(kinds) {
  if (!kinds.includes(chosen.kind)) chosen.kind = kinds[0] ?? null;
  const choose = (kind) => {
    chosen.kind = kind;
    draw();
  };
  choices(byId("kinds"), kinds.length > 1 ? kinds.map((kind) => [kind, kind]) : [], chosen.kind, choose);
  const turn = (layout) => {
    chosen.layout = layout;
    draw();
  };
  choices(byId("layouts"), kinds.length ? Object.entries(LAYOUTS) : [], chosen.layout, turn);
  const select = byId("find-kind");
  if ([...select.options].map((option) => option.value).join("\n") !== kinds.join("\n")) {
    select.replaceChildren(...kinds.map((kind) => element("option", { value: kind, text: kind })));
  }
}

function choices(host, all, current, choose) {
  const key = JSON.stringify(all);
  if (host.key !== key) {
    host.key = key;
    host.replaceChildren(...all.map(([value, text]) => element("button", { type: "button", value, text, on: { click: () => choose(value) } })));
  }
  for (const button of host.children) button.setAttribute("aria-pressed", String(button.value === current));
}

byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  find(byId("find-kind").value, byId("find-id").value);
});
