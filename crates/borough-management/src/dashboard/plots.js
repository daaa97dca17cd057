// Rates are differences of two answers; the plots show two minutes of them, as the page saw them.

import { brief, byId, count, drawing, element, say } from "./dom.js";
import { lineOf } from "./marks.js";

/** How far back a plot goes at most, and at least: a page just opened need not show two empty minutes. */
const WINDOW = 120_000;
const WINDOW_MIN = 20_000;
const WIDTH = 240;
const HEIGHT = 64;
const host = byId("plots");
const samples = [];
let previous = null;

const PLOTS = [
  { name: "Handled", unit: "messages a second", of: (sample) => sample.handled },
  { name: "Entities", unit: "live now", of: (sample) => sample.entities },
  { name: "Held", unit: "messages wait for a way", of: (sample) => sample.held },
  { name: "Refused and dropped", unit: "messages a second", of: (sample) => sample.lost },
  { name: "Moves", unit: "shards a second", of: (sample) => sample.moves, note: (sample) => (sample.longest ? `longest ${count(sample.longest)} ms` : "") },
  { name: "Turns", unit: "99 of 100 take less", of: (sample) => sample.turns, show: brief, isInk: true, note: (sample) => (sample.turns.half ? `half less than ${brief(sample.turns.half)}` : "") },
  { name: "Answer", unit: "ms, this node to this page", of: (sample) => sample.answer, isInk: true },
].map((plot) => ({ show: count, ...plot, ...raised(plot) }));

function raised({ name }) {
  const value = element("strong", { class: "plot-value", text: "–" });
  const unit = element("span", { class: "plot-unit" });
  const top = element("span", { class: "plot-top" });
  const shapes = drawing("g");
  const base = drawing("path", { class: "plot-base", d: `M0 ${HEIGHT - 0.5}H${WIDTH}` });
  const sketch = drawing("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" }, shapes, base);
  host.append(element("figure", { class: "plot", "data-plot": name }, element("figcaption", {}, element("span", { class: "plot-name", text: name }), value, unit, top), sketch));
  return { value, unitText: unit, top, shapes, sketch };
}

/** Takes the next answer, and how long this node takes to answer. */
export function drawPlots(stats, millis) {
  const sample = sampled(stats, millis);
  previous = stats;
  if (!sample) return null;
  samples.push(sample);
  while (samples.length && samples[0].at < sample.at - WINDOW) samples.shift();
  for (const plot of PLOTS) draw(plot, sample);
  return sample;
}

function sampled(stats, millis) {
  if (!previous || stats.at_millis <= previous.at_millis || stats.seen_by !== previous.seen_by) return null;
  const seconds = (stats.at_millis - previous.at_millis) / 1000;
  const before = new Map(previous.nodes.map((node) => [node.node, sums(node)]));
  const sample = { at: stats.at_millis, handled: {}, entities: {}, held: {}, lost: {}, moves: {}, answer: { all: millis }, longest: 0, turns: slowestTurns(stats) };
  for (const node of stats.nodes) {
    const now = sums(node);
    const old = before.get(node.node);
    // One that was not there before has no rate yet, and a count that fell began anew with its process.
    const rate = (name) => (old ? Math.max(0, now[name] - old[name]) / seconds : 0);
    sample.handled[node.node] = rate("handled");
    sample.entities[node.node] = now.entities;
    sample.held[node.node] = now.held;
    sample.lost[node.node] = rate("lost");
    sample.moves[node.node] = rate("arrived");
    sample.longest = Math.max(sample.longest, now.longest);
  }
  return sample;
}

// Quantiles cannot be added: those of the type and node that take longest are shown, one upon the other up to the greater.
function slowestTurns(stats) {
  const all = stats.nodes.flatMap((node) => node.kinds).map((kind) => kind.turns);
  const most = (name) => Math.max(0, ...all.map((turns) => turns?.[name] ?? 0));
  const half = most("p50_nanos");
  return { half, rest: most("p99_nanos") - half };
}

function sums(node) {
  const total = { handled: 0, entities: 0, held: 0, lost: 0, arrived: 0, longest: 0 };
  for (const kind of node.kinds) {
    total.handled += kind.handled;
    total.entities += kind.entities;
    total.held += kind.held;
    total.lost += [...kind.refused, ...kind.dropped].reduce((sum, reason) => sum + reason.value, 0);
    total.arrived += kind.moves.arrived;
    total.longest = Math.max(total.longest, kind.moves.longest_millis);
  }
  return total;
}

function draw(plot, latest) {
  const names = [...new Set(samples.flatMap((sample) => Object.keys(plot.of(sample))))].sort();
  const totals = samples.map((sample) => names.reduce((sum, name) => sum + (plot.of(sample)[name] ?? 0), 0));
  const most = Math.max(1, ...totals);
  const reach = Math.min(WINDOW, Math.max(WINDOW_MIN, latest.at - samples[0].at));
  const x = (sample) => (WIDTH * (sample.at - latest.at + reach)) / reach;
  const y = (value) => HEIGHT - 1 - ((HEIGHT - 6) * value) / most;
  const floor = samples.map(() => 0);
  const shapes = names.map((name) => {
    const roof = samples.map((sample, at) => floor[at] + (plot.of(sample)[name] ?? 0));
    const out = samples.map((sample, at) => `${x(sample).toFixed(1)} ${y(roof[at]).toFixed(1)}`);
    const back = samples.map((sample, at) => `${x(sample).toFixed(1)} ${y(floor[at]).toFixed(1)}`).reverse();
    roof.forEach((value, at) => (floor[at] = value));
    return drawing("path", { class: `plot-area ${plot.isInk ? `line-ink of-${name}` : lineOf(name)}`, d: `M${[...out, ...back].join("L")}Z` });
  });
  const ridge = drawing("path", { class: "plot-ridge", d: `M${samples.map((sample, at) => `${x(sample).toFixed(1)} ${y(totals[at]).toFixed(1)}`).join("L")}` });
  plot.shapes.replaceChildren(...shapes, ridge);
  const now = totals.at(-1);
  const note = plot.note?.(latest);
  say(plot.value, plot.show(now));
  say(plot.unitText, note ? `${plot.unit}; ${note}` : plot.unit);
  say(plot.top, most > 1 ? `most ${plot.show(most)}` : "");
  plot.sketch.setAttribute("aria-label", `${plot.name}: ${plot.show(now)} ${plot.unit} now, at most ${plot.show(most)} in two minutes`);
}
