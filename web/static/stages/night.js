// The night is over: where it went.

import { count, h } from "../dom.js";
import { evening } from "../details/notes.js";

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function night(live, _view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  const rounds = state.evening?.length ?? 0;
  const who = new Set(state.evening?.flatMap((round) => round.players));
  return [
    h("h1", { class: "headline" }, "Good night"),
    h("p", { class: "about" }, rounds > 0 ? `${count(rounds, "round")} with ${count(who.size, "player")}. The room is closed, and nothing has to be done.` : "The room is closed before anybody went anywhere."),
    rounds > 0 && h("section", { class: "card", "data-key": "rounds" }, evening(state)),
  ];
}

/** Once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}
