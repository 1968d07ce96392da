// The lobby: who is here, how the next one comes in, and what we look for.

import { h } from "../dom.js";
import { gameName, invitation, settings } from "../gather.js";
import { next } from "../next.js";
import { go, headline } from "./parts.js";

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function lobby(live, view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  const here = state.people.filter((person) => person.peer && person.connected).length;
  return [
    h(
      "div",
      { class: "card" },
      h("p", { class: "eyebrow" }, h("bdi", {}, gameName(state))),
      headline(state),
      next(state),
      state.you.organiser && h("p", { class: "buttons" }, go(state, here > 0 ? "Start now" : "Start", { class: "primary large", disabled: here === 0 })),
    ),
    h("section", { id: "invite", class: "card", "data-key": "invite" }, invitation(state, view.qr, view.offer, view.getting, view.opening)),
    h("section", { id: "settings", class: "card", "data-key": "settings" }, settings(state)),
  ];
}

/** Once the children are on the page. */
export function shown() {}
