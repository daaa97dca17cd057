// Each node has a line, as in a transit map: a colour, and a mark of one or two characters, because colour alone tells too little.

import { element } from "./dom.js";

const COLOURS = 8;
const lines = new Map();
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const byName = new Intl.Collator("en", { numeric: true });

/** Gives a line to each that has none; a name keeps its line as long as the page is open. */
export function assign(names) {
  const fresh = [...new Set(names)].filter((name) => !lines.has(name)).sort(byName.compare);
  for (const name of fresh) {
    // A line of one that is gone is given away only when all colours are in use.
    if (lines.size >= COLOURS) release(names);
    lines.set(name, { line: freeLine(), mark: freeMark(name) });
  }
}

function release(present) {
  for (const name of lines.keys()) {
    if (!present.includes(name)) return void lines.delete(name);
  }
}

function freeLine() {
  const used = new Set([...lines.values()].map((one) => one.line));
  let line = 0;
  while (used.has(line)) line += 1;
  return line;
}

// `node-3` is 3 to everybody who looks; a name that ends in nothing short gets a letter.
function freeMark(name) {
  const used = new Set([...lines.values()].map((one) => one.mark));
  const ending = /(?:^|[-_.])([\p{L}\p{N}]{1,2})$/u.exec(name)?.[1].toUpperCase();
  const choices = [ending, ...LETTERS, ...LETTERS.map((letter) => letter + letter)];
  return choices.find((mark) => mark && !used.has(mark)) ?? "?";
}

/** The mark of a node; a dot for one that was not there since the page was opened. */
export const markOf = (name) => lines.get(name)?.mark ?? "·";

/** The class that gives an element the colours of a node's line. */
export function lineOf(name) {
  const line = lines.get(name)?.line;
  if (line === undefined) return "line-none";
  return `line-${line % COLOURS}${line >= COLOURS ? " line-again" : ""}`;
}

/** The class for the colours of the node that something moves to. */
export function lineTo(name) {
  const line = lines.get(name)?.line;
  return line === undefined ? "to-none" : `to-${line % COLOURS}`;
}

/** The round sign of a line. What it stands for is said beside it, so it is not read out. */
export function bullet(name, more = "") {
  return element("span", { class: `bullet ${lineOf(name)} ${more}`, text: markOf(name), "aria-hidden": "true" });
}
