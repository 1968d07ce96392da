// The reveal: where we meet tonight.

import { rtts, verdict } from "../choice.js";
import { outlook } from "./parts.js";

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function reveal(live, _view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  return [...verdict(state), outlook(state), rtts(state)];
}

/** Once the children are on the page. The reveal is over when view.revealed is its round. @param {HTMLElement} _place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(_place, live, view) {
  view.revealed = live.state?.room.round ?? 0;
  view.changed();
}
