// What the page knows comes from one node: three answers asked again and again, and the events, which make it ask at once.
//
// Each answer is asked for in a loop of its own: stats take seconds while a node is dying, and the map must not wait for them.

const PAUSE = 1000;
/** So long events are gathered before they make the page ask: a drain is a hundred of them. */
const HURRY = 150;
const PATIENCE = 5000;
/** So many members answers in a row fail before the node is called lost. */
const STRIKES = 2;
const TOKEN = "borough-token";

/** What went wrong with a request: the sentences of the node if it gave any. */
export class Refusal extends Error {
  constructor(status, body) {
    super([body?.what, body?.try].filter(Boolean).join("; ") || `the node answered with status ${status}`);
    this.status = status;
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

/** One answer, as JSON. */
export async function read(path) {
  const response = await fetch(path, { headers: headers(), cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  const text = await response.text();
  if (!response.ok) throw new Refusal(response.status, parsed(text));
  return JSON.parse(text);
}

/** An order; gives the sentence that the node answers with. */
export async function order(path, body) {
  const sent = {
    method: "POST",
    headers: headers({ "x-borough": "1", "content-type": "application/json" }),
    body: JSON.stringify(body ?? {}),
    signal: AbortSignal.timeout(PATIENCE),
  };
  const response = await fetch(path, sent);
  const said = parsed(await response.text());
  if (!response.ok) throw new Refusal(response.status, said);
  return said?.accepted ?? "accepted";
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Asks until the page is closed; `heard` has a function for each answer, and `event`, `lost`, `back`, `locked`. */
export function follow(heard) {
  const standing = { strikes: 0, isLost: false };
  const loops = ["members", "shards"].map((name) => repeat(name, heard, standing));
  repeat("stats", heard, standing);
  repeat("entities", heard, standing);
  let isDue = false;
  const soon = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      loops.forEach((hurry) => hurry());
    }, HURRY);
  };
  listen(heard, soon, standing);
  document.addEventListener("visibilitychange", soon);
  return soon;
}

function repeat(name, heard, standing) {
  let isDue = false;
  let wake = () => {};
  const hurry = () => {
    isDue = true;
    wake();
  };
  const pause = () => new Promise((resolve) => {
    wake = resolve;
    setTimeout(resolve, isDue ? 0 : PAUSE);
  });
  (async () => {
    for (;;) {
      const began = performance.now();
      isDue = false;
      // A page that nobody looks at asks nothing, and a node that is lost is asked one thing only.
      if (!document.hidden && (name === "members" || !standing.isLost)) await once(name, heard, standing);
      // What takes long, as a map of very many shards, is asked for at most half of the time, however much happens.
      await after(performance.now() - began);
      await pause();
    }
  })();
  return hurry;
}

const after = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

async function once(name, heard, standing) {
  const asked = performance.now();
  let answer;
  try {
    answer = await read(`/api/${name}`);
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return heard.locked();
    if (name === "members") missed(heard, standing);
    return;
  }
  if (name === "members") {
    standing.strikes = 0;
    if (standing.isLost) heard.back();
    standing.isLost = false;
  }
  shown(() => heard[name](answer, performance.now() - asked));
}

function missed(heard, standing) {
  standing.strikes += 1;
  if (standing.strikes < STRIKES || standing.isLost) return;
  standing.isLost = true;
  heard.lost();
}

/** A mistake of the page is said as such: it is not the node's, and the next answer is drawn all the same. */
function shown(draw) {
  try {
    draw();
  } catch (error) {
    console.error(error);
  }
}

// Read by fetch and not by EventSource, which can carry no token. A page that nobody looks at does not listen: browsers allow few connections
// to one node, and several pages would take them all. Afterwards it goes on where it was.
async function listen(heard, soon, standing) {
  let last = null;
  for (;;) {
    const away = new AbortController();
    const leave = () => document.hidden && away.abort();
    document.addEventListener("visibilitychange", leave);
    try {
      // The id, and not the number: those begin anew with each process of a node.
      const more = last === null ? {} : { "last-event-id": last };
      // At first also what the node still has from before the page was opened.
      const asked = { headers: headers({ accept: "text/event-stream", ...more }), cache: "no-store", signal: away.signal };
      const response = await fetch("/api/events?after=0", asked);
      for await (const { id, event } of response.ok ? events(response.body) : []) {
        last = id || last;
        shown(() => heard.event(event));
        soon();
      }
    } catch {
      // The loop of the members says that the node is lost; here it is only tried again.
    }
    document.removeEventListener("visibilitychange", leave);
    do {
      await after(PAUSE);
    } while (standing.isLost || document.hidden);
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split(/\r?\n\r?\n/);
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split(/\r?\n/);
      const of = (field) => lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length).trim()).join("\n");
      const [id, data] = [of("id:"), of("data:")];
      if (!data) continue;
      try {
        yield { id, event: JSON.parse(data) };
      } catch {
        // One that cannot be read is one that is missed; the next answers show what came of it.
      }
    }
  }
}
