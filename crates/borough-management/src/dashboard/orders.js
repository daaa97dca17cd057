// What a node can be told to do. Nothing is sent before it was said what it means, and confirmed.

import { counted, element } from "./dom.js";
import { order } from "./feed.js";

const ORDERS = {
  drain: {
    label: "Drain",
    meaning: (node, facts) =>
      `Drain ${node}? Its ${counted(facts.shards, "shard")} move to the other hosts. ${stays(facts)} It stays a member and passes messages on.`,
  },
  leave: {
    label: "Leave",
    meaning: (node, facts) => `Tell ${node} to leave? Its ${counted(facts.shards, "shard")} move to the other hosts. ${cost(facts)} Then it is no member any more.`,
  },
  down: {
    label: "Down",
    meaning: (node, { tolerates }) =>
      `Declare ${node} down? It is removed without being asked, its entities begin anew elsewhere, and what waits in it is lost.` +
      (tolerates === 0 ? " The cluster survives no loss now." : ""),
  },
};

/** What of a drain does not move: what would have nowhere to go. Nothing of it is lost. */
function stays({ alone }) {
  return alone.length ? `No other node hosts ${alone.join(", ")}: what lives there of that stays until one does.` : "Nothing is lost.";
}

/** What is lost when a node leaves: nothing, unless there is nowhere to move to. */
function cost({ alone }) {
  return alone.length ? `No other node hosts ${alone.join(", ")}: what lives there of that ends.` : "Nothing is lost.";
}

/** The orders for one node, with the place where they are confirmed and answered. */
export function confirmable(node) {
  let facts = { shards: 0, alone: [], isGoing: false, tolerates: 0 };
  const answer = element("p", { class: "answer", role: "status" });
  const place = element("div", { class: "confirm", role: "group", hidden: true });
  const buttons = Object.entries(ORDERS).map(([name, { label }]) => {
    const on = { click: (event) => ask(name, event.currentTarget) };
    return element("button", { type: "button", class: "quiet", "data-order": name, "aria-label": `${label} ${node}`, text: label, on });
  });

  function ask(name, from) {
    const { label, meaning } = ORDERS[name];
    const close = () => {
      place.hidden = true;
      place.replaceChildren();
      from.focus();
    };
    const send = async () => {
      close();
      answer.className = "answer";
      answer.textContent = `telling ${node} …`;
      try {
        answer.textContent = await order(`/api/${name}/${encodeURIComponent(node)}`);
      } catch (error) {
        answer.className = "answer alarm";
        answer.textContent = error.message;
      }
    };
    const look = name === "down" ? "sure alarm" : "sure";
    const sure = element("button", { type: "button", class: look, "data-confirm": name, text: `${label} ${node}`, on: { click: send } });
    const not = element("button", { type: "button", class: "quiet", text: "Not now", on: { click: close } });
    place.replaceChildren(element("p", { text: meaning(node, facts) }), sure, not);
    place.setAttribute("aria-label", `${label} ${node}: are you sure?`);
    place.hidden = false;
    place.onkeydown = (event) => event.key === "Escape" && close();
    // On the harmless one: who presses Enter twice by mistake has done nothing.
    not.focus();
  }

  const row = element("div", { class: "order-row" }, ...buttons);
  const root = element("div", { class: "orders" }, row, place, answer);
  const update = (next) => {
    facts = next;
    buttons.forEach((button) => (button.disabled = next.isGoing && button.dataset.order !== "down"));
  };
  return { root, row, update };
}
