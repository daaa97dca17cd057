// Small helpers for the page: elements, and words for numbers. Text is always set as text, so nothing a node says can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; `text` and `on` (handlers by event) are taken apart. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, { text, on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  for (const [event, handler] of Object.entries(on)) made.addEventListener(event, handler);
  if (text !== undefined) made.textContent = text;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Sets a text only if it is another: what did not change is not read out again, and costs no layout. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1, roundingMode: "floor" });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A count for people: `9,841`, `1.2M`. */
export function count(value) {
  return value >= 1_000_000 ? short.format(value) : whole.format(value);
}

/** `1 shard`, `2 shards`, `no shards`. */
export function counted(value, noun) {
  return `${value === 0 ? "no" : count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A span of time in one or two units. */
export function span(millis) {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  const seconds = Math.floor(millis / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** A short time for people, from nanoseconds: `850 ns`, `3.2 µs`, `14 ms`, `2.1 s`; a dash for none. */
export function brief(nanos) {
  if (!(nanos > 0)) return "–";
  const [unit, size] = nanos < 1e3 ? ["ns", 1] : nanos < 1e6 ? ["µs", 1e3] : nanos < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  const value = nanos / size;
  return `${value < 10 && size > 1 ? tenths.format(value) : whole.format(Math.floor(value))} ${unit}`;
}

/** The time of day, to the second. */
export function clock(millis) {
  return new Date(millis).toLocaleTimeString("en-GB");
}

/** `hold-limit` or `hold_limit` as words. */
export const words = (name) => name.replace(/[-_]+/g, " ");

/** An epoch as it is written everywhere: the era of the cluster, and a count. */
export function epochOf(text) {
  const number = BigInt(text);
  return `${number >> 32n}.${number & 0xffffffffn}`;
}
