// The members as stations of one line: who is there, how it stands, and what it can be told to do.

import { byId, counted, element, say } from "./dom.js";
import { bullet } from "./marks.js";
import { confirmable } from "./orders.js";

/** The phi at which the bar is full; a detector is sure well before. */
const PHI_FULL = 12;
const STATES = { up: "up", joining: "joining", "weakly-up": "up, not counted yet", leaving: "leaving", exiting: "leaving, almost gone", down: "down", removed: "removed" };
const host = byId("members");
const stations = new Map();

/** Draws who is there; `loadOf` says how many shards a node owns, and of which types it is the only host. */
export function drawMembers(answer, loadOf) {
  say(byId("cluster"), answer.cluster);
  document.title = `${answer.cluster} · Borough`;
  const coordinator = answer.coordinator ? `${answer.coordinator} coordinates` : "nobody coordinates now";
  say(byId("seen"), `${counted(answer.members.length, "member")} · ${coordinator} · seen from ${answer.seen_by}`);
  drawSurvival(answer);

  const present = new Set(answer.members.map((member) => member.uid));
  for (const [uid, station] of stations) {
    if (present.has(uid)) continue;
    station.root.remove();
    stations.delete(uid);
  }
  answer.members.forEach((member, at) => {
    if (!stations.has(member.uid)) stations.set(member.uid, raised(member));
    const station = stations.get(member.uid);
    if (host.children[at] !== station.root) host.insertBefore(station.root, host.children[at] ?? null);
    station.draw(member, answer, loadOf(member.node));
  });
}

function drawSurvival({ tolerates, members }) {
  const target = byId("survives");
  const voters = members.filter((member) => member.is_voter).length;
  const text = tolerates === 0 ? "survives no loss" : `survives ${tolerates} loss${tolerates === 1 ? "" : "es"}`;
  const key = `${text} ${voters}`;
  if (target.key === key) return;
  target.key = key;
  target.classList.toggle("fragile", tolerates === 0);
  target.replaceChildren(element("strong", { text }), element("span", { text: counted(voters, "voter") }));
}

function raised({ node }) {
  const sign = element("div", { class: "station-sign" });
  const name = element("h3");
  const tags = element("p", { class: "tags" });
  const facts = element("p", { class: "facts" });
  const needle = element("span", { class: "phi-fill" });
  const meter = element("span", { class: "phi-bar", "aria-hidden": "true" }, needle);
  const phiText = element("span");
  const phi = element("p", { class: "phi" }, meter, phiText);
  const orders = confirmable(node);
  orders.row.append(phi);
  const body = element("div", { class: "station-body" }, element("div", { class: "station-head" }, name, tags), facts, orders.root);
  const root = element("li", { class: "station", "data-node": node }, sign, body);
  let key = "";

  const draw = (member, answer, load) => {
    const next = JSON.stringify([{ ...member, phi_milli: null }, answer.seen_by, answer.tolerates, load, bullet(node).className]);
    if (next !== key) {
      key = next;
      sign.replaceChildren(bullet(node, member.is_voter ? "voter" : ""));
      say(name, node);
      tags.replaceChildren(...tagsOf(member, answer));
      const more = [counted(load.shards, "shard"), member.address, ...member.roles, member.zone && `zone ${member.zone}`, member.app_version && `v${member.app_version}`];
      say(facts, more.filter(Boolean).join(" · "));
      root.classList.toggle("unreachable", !member.is_reachable);
      root.classList.toggle("going", !["up", "weakly-up", "joining"].includes(member.state));
      orders.update({ ...load, isGoing: ["leaving", "exiting", "removed"].includes(member.state), tolerates: answer.tolerates });
    }
    const known = member.phi_milli !== null && member.phi_milli !== undefined;
    phi.hidden = !known;
    if (known) {
      const value = member.phi_milli / 1000;
      needle.style.width = `${Math.min(100, (100 * value) / PHI_FULL)}%`;
      phi.classList.toggle("high", value >= PHI_FULL / 2);
      say(phiText, `phi ${value < 100 ? value.toFixed(1) : "over 100"}`);
    }
  };
  return { root, draw };
}

function tagsOf(member, answer) {
  const tags = [];
  if (!member.is_reachable) tags.push(["unreachable", "tag alarm"]);
  if (member.state !== "up") tags.push([STATES[member.state] ?? member.state, member.state === "down" ? "tag alarm" : "tag doubt"]);
  if (member.is_reachable && member.state === "up") tags.push(["up", "tag fine"]);
  if (member.is_coordinator) tags.push(["coordinator", "tag strong"]);
  if (member.is_voter) tags.push(["voter", "tag"]);
  if (member.node === answer.seen_by) tags.push(["this page", "tag"]);
  return tags.map(([text, look]) => element("span", { class: look, text }));
}
