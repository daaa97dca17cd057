// The city map: each shard a tile with the colour and the mark of its owner.
//
// A tile is one button for as long as the type is shown; when its shard moves, the same tile travels to its new block, so the eye can follow it.

import { bullet, lineOf, lineTo, markOf } from "./marks.js";
import { byId, counted, element, say } from "./dom.js";

/** More tiles than this say nothing to anybody, and cost a browser its breath. */
const TILES_MAX = 4096;
const TRAVEL = { duration: 520, easing: "cubic-bezier(.3,.7,.2,1)" };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const NOBODY = "\u0000nobody";
const UNUSED = "\u0000unused";
/** How many shards make a block when they lie by number: four by four. */
const SQUARE = 16;

const host = byId("map");
let tiles = [];
let blocks = new Map();
let shownAs = "";
let arrangement = "";
let settledAt = 0;

/** Draws the shards of one type. `layout` is `nodes` (a block for each node) or `numbers`. */
export function drawMap(map, members, layout, choose) {
  const total = Math.min(map.shards, TILES_MAX);
  // Another type, or another order, is another picture: nothing travels then.
  const isNew = shownAs !== `${map.kind} ${total}`;
  if (isNew) raise(map, total, choose);
  host.dataset.layout = layout;
  host.dataset.size = total > 1024 ? "dense" : total > 400 ? "small" : "plain";

  const doubted = new Set(members.filter((one) => !one.is_reachable || one.state === "down").map((one) => one.node));
  const sight = sightOf(map, total);
  for (const one of sight) paint(tiles[one.shard], map.kind, one, doubted);
  const wanted = arranged(map, sight, layout);
  const next = [...wanted].map(([name, shards]) => `${name}: ${shards}`).join("\n");
  // A shard that starts to move changes its look and not its place: only a new place costs a new layout.
  if (isNew || next !== arrangement) settle(wanted, !isNew && !calm.matches);
  arrangement = next;
  for (const [name, shards] of wanted) head(blocks.get(name), name, shards.length, doubted);
  summarise(map, sight);
}

/** Shows nothing: there is no type. */
export function clearMap() {
  shownAs = "";
  arrangement = "";
  tiles = [];
  blocks = new Map();
  host.replaceChildren();
}

/** Marks the tile that is looked at. */
export function point(shard) {
  host.querySelectorAll(".tile[aria-current]").forEach((tile) => tile.removeAttribute("aria-current"));
  tiles[shard]?.setAttribute("aria-current", "true");
}

function raise(map, total, choose) {
  shownAs = `${map.kind} ${total}`;
  blocks = new Map();
  host.replaceChildren();
  tiles = Array.from({ length: total }, (_, shard) => {
    const on = { click: () => choose(shard) };
    return element("button", { type: "button", class: "tile", "data-shard": shard, tabindex: shard === 0 ? 0 : -1, on });
  });
}

function sightOf(map, total) {
  const sight = Array.from({ length: total }, (_, shard) => ({ shard, state: "unused", owner: null, to: null }));
  for (const place of map.places) {
    if (place.shard >= total) continue;
    const state = place.owner === null ? "nobody" : place.moving_to ? "moving" : "owned";
    sight[place.shard] = { shard: place.shard, state, owner: place.owner, to: place.moving_to };
  }
  return sight;
}

/** Gives a tile its look, if that is another than before. */
function paint(tile, kind, { shard, state, owner, to }, doubted) {
  const isDoubted = owner !== null && doubted.has(owner);
  const look = [kind, state, owner, to, isDoubted, markOf(owner), markOf(to)].join("\u0000");
  if (tile.look === look) return;
  tile.look = look;
  const lines = state === "unused" || state === "nobody" ? "" : lineOf(owner);
  tile.className = `tile ${state} ${lines} ${to ? lineTo(to) : ""} ${isDoubted ? "doubted" : ""}`;
  if (state === "moving") {
    tile.replaceChildren(element("span", { class: "from", text: markOf(owner) }), element("span", { class: "onto", text: markOf(to) }));
  } else {
    tile.textContent = state === "owned" ? markOf(owner) : "";
  }
  const where = {
    unused: "not needed yet",
    nobody: "has no owner now",
    moving: `moving from ${owner} to ${to}`,
    owned: `on ${owner}${isDoubted ? ", which cannot be reached" : ""}`,
  }[state];
  tile.setAttribute("aria-label", `shard ${shard}, ${where}`);
  tile.title = `shard ${shard}: ${where}`;
}

function arranged(map, sight, layout) {
  const wanted = new Map();
  if (layout === "numbers") {
    for (let first = 0; first < sight.length; first += SQUARE) {
      const last = Math.min(first + SQUARE, sight.length) - 1;
      wanted.set(`\u0000${first} – ${last}`, sight.slice(first, last + 1).map((one) => one.shard));
    }
    return wanted;
  }
  const owners = new Set([...map.hosts, ...sight.map((one) => one.owner).filter(Boolean)]);
  for (const name of [...owners].sort(new Intl.Collator("en", { numeric: true }).compare)) wanted.set(name, []);
  for (const one of sight) {
    const name = one.owner ?? (one.state === "nobody" ? NOBODY : UNUSED);
    if (!wanted.has(name)) wanted.set(name, []);
    wanted.get(name).push(one.shard);
  }
  return wanted;
}

/** Puts every tile where it belongs; what lies elsewhere than before is seen to go there. */
function settle(wanted, isShown) {
  const focused = document.activeElement?.closest?.(".tile");
  const before = isShown ? tiles.map((tile) => ({ block: tile.closest(".block"), rect: tile.getBoundingClientRect() })) : [];
  // While places change faster than tiles can travel, those that only make room do not: the eye follows one thing.
  const isHasty = performance.now() - settledAt < TRAVEL.duration;
  settledAt = performance.now();
  blocks = new Map([...wanted.keys()].map((name) => [name, blocks.get(name) ?? raised(name)]));
  [...blocks.values()].forEach((block, at) => {
    if (host.children[at] !== block) host.insertBefore(block, host.children[at] ?? null);
  });
  for (const [name, shards] of wanted) {
    const ground = blocks.get(name).ground;
    shards.forEach((shard, at) => {
      if (ground.children[at] !== tiles[shard]) ground.insertBefore(tiles[shard], ground.children[at] ?? null);
    });
  }
  while (host.children.length > blocks.size) host.lastChild.remove();
  focused?.focus({ preventScroll: true });
  tiles.forEach((tile) => tile.flight?.cancel());
  const after = before.map(({ block }, shard) => ({ isElsewhere: tiles[shard].closest(".block") !== block, rect: tiles[shard].getBoundingClientRect() }));
  before.forEach(({ rect }, shard) => (after[shard].isElsewhere || !isHasty) && travel(tiles[shard], rect, after[shard]));
}

function travel(tile, from, { isElsewhere, rect: to }) {
  const [x, y] = [from.left - to.left, from.top - to.top];
  if (Math.abs(x) < 1 && Math.abs(y) < 1) return;
  const zIndex = isElsewhere ? 2 : 1;
  tile.flight = tile.animate([{ transform: `translate(${x}px, ${y}px)`, zIndex }, { transform: "none", zIndex }], TRAVEL);
}

function raised(name) {
  const block = element("section", { class: "block", "data-block": name.replace("\u0000", "") });
  block.heading = element("h3", { class: "block-head" });
  block.ground = element("div", { class: "ground" });
  block.append(block.heading, block.ground);
  return block;
}

function head(block, name, number, doubted) {
  const isNode = !name.startsWith("\u0000");
  const title = isNode ? name : name === NOBODY ? "Without an owner" : name === UNUSED ? "Not needed yet" : name.slice(1);
  const isSquare = !isNode && name !== NOBODY && name !== UNUSED;
  const note = isNode && doubted.has(name) ? "no answer" : isNode && number === 0 ? "no shards" : String(number);
  const key = `${title} ${note} ${markOf(name)}`;
  if (block.key === key) return;
  block.key = key;
  if (isSquare) return void (block.heading.textContent = title);
  const sign = isNode ? bullet(name) : element("span", { class: `bullet sign-${name === NOBODY ? "nobody" : "unused"}`, "aria-hidden": "true" });
  block.heading.replaceChildren(sign, element("span", { class: "block-name", text: title }), element("span", { class: "block-count", text: note }));
}

function summarise(map, sight) {
  const of = (state) => sight.filter((one) => one.state === state).length;
  const parts = [`${counted(map.shards, "shard")} on ${counted(map.hosts.length, "host")}`];
  if (of("moving")) parts.push(`${of("moving")} moving`);
  if (of("nobody")) parts.push(`${of("nobody")} waiting for an owner`);
  if (of("unused")) parts.push(`${of("unused")} not needed yet`);
  if (map.shards > TILES_MAX) parts.push(`the first ${TILES_MAX} are drawn`);
  say(byId("map-summary"), parts.join(" · "));
}

// One stop of the Tab key for the whole map; the arrows go to the nearest tile in their direction.
host.addEventListener("keydown", (event) => {
  const from = event.target.closest(".tile");
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!from || (!step && event.key !== "Home" && event.key !== "End")) return;
  event.preventDefault();
  const all = [...host.querySelectorAll(".tile")];
  const next = step ? nearest(from, all, step) : event.key === "Home" ? all[0] : all.at(-1);
  if (next) stand(next);
});
host.addEventListener("focusin", (event) => event.target.closest(".tile") && stand(event.target.closest(".tile")));

function stand(tile) {
  host.querySelectorAll('.tile[tabindex="0"]').forEach((one) => one !== tile && one.setAttribute("tabindex", "-1"));
  tile.setAttribute("tabindex", "0");
  if (document.activeElement !== tile) tile.focus();
}

function nearest(from, all, [dx, dy]) {
  if (dx !== 0) return all[all.indexOf(from) + dx];
  const here = from.getBoundingClientRect();
  let best = null;
  for (const tile of all) {
    const there = tile.getBoundingClientRect();
    const down = (there.top - here.top) * dy;
    if (down < here.height / 2) continue;
    const far = down + 3 * Math.abs(there.left - here.left);
    if (best === null || far < best.far) best = { far, tile };
  }
  return best?.tile;
}
