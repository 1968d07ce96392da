// Go: who is on the way, and the next round.

import { rtts, verdict, wayIn } from "../choice.js";
import { next } from "../next.js";
import { shareButton } from "../share.js";
import { again, outlook } from "./parts.js";

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function go(live, _view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  return [...verdict(state), wayIn(state), next(state), outlook(state), rtts(state), shareButton(state), again(state)];
}

/** Once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}
