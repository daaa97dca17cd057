// What must be said above all else: the node is gone, it does not work, it wants a token.

import { byId, clock, element } from "./dom.js";
import { setToken } from "./feed.js";
import { bullet } from "./marks.js";

const host = byId("notices");
const notices = new Map();
// Whose data directories take no writes, as it was said last.
let disks = "";

/** Says that the node this page came from does not answer, and where else to look. */
export function showLost(members, since) {
  document.body.classList.add("stale");
  const name = members ? members.seen_by : "This node";
  const others = (members?.members ?? []).filter((one) => one.node !== members.seen_by && one.management);
  const ways = others.map((one) => [one, target(one.management)]).filter(([, url]) => url);
  const text = `${name} does not answer any more. What you see is as it was${since ? ` at ${clock(since)}` : ""}; it is asked again every second.`;
  const links = ways.map(([one, url]) => element("li", {}, bullet(one.node, "small"), element("a", { href: url, text: `Look from ${one.node}` })));
  const more = links.length ? element("ul", { class: "ways" }, ...links) : element("p", { text: members ? "No other member said where its management listens." : "" });
  put("lost", element("div", { class: "notice alarm", role: "alert" }, element("p", { text }), more));
}

export function hideLost() {
  document.body.classList.remove("stale");
  put("lost", null);
}

/** Says how the node stands to its cluster, if it does not work. */
export function showStanding({ standing, advice, seen_by: node }) {
  if (standing === "member" && !advice) return put("standing", null);
  const how = standing === "member" ? `${node} says:` : `${node} is ${standing}.`;
  const text = `${how} ${advice ?? ""}`.trim();
  if (notices.get("standing")?.textContent === text) return;
  put("standing", element("div", { class: "notice", role: "status" }, element("p", { text })));
}

/** Says which nodes have a data directory that takes no writes. Said once for each change: the words tell for how long. */
export function showDisks({ nodes }) {
  const broken = nodes.filter((one) => one.data_directory?.trouble);
  const key = broken.map((one) => `${one.node} ${one.data_directory.state}`).join("\n");
  if (disks === key) return;
  disks = key;
  const rows = broken.map((one) => element("li", {}, bullet(one.node, "small"), element("span", { text: `${one.node}: ${one.data_directory.trouble}` })));
  put("disks", rows.length ? element("div", { class: "notice alarm", role: "alert" }, element("ul", { class: "ways" }, ...rows)) : null);
}

/** Asks for the token that this node wants. */
export function showLocked(retry) {
  if (notices.get("locked")) return;
  const field = element("input", { type: "password", autocomplete: "off", required: true, "aria-label": "Token" });
  const submit = (event) => {
    event.preventDefault();
    setToken(field.value);
    put("locked", null);
    retry();
  };
  const form = element("form", { class: "find", on: { submit } }, element("label", { class: "grow" }, element("span", { text: "This node wants a token. It is kept until this tab is closed." }), field), element("button", { type: "submit", text: "Open" }));
  put("locked", element("div", { class: "notice" }, form));
}

function put(name, shown) {
  notices.get(name)?.remove();
  notices.set(name, shown);
  if (shown) host.append(shown);
}

// Only an address of the web: what a member says must not become a script.
function target(management) {
  try {
    const url = new URL(management.includes("://") ? management : `${location.protocol}//${management}/`);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
