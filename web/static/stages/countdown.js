// The countdown: off we go in a few seconds.

import { h } from "../dom.js";
import { rtts, verdict } from "../choice.js";
import { next } from "../next.js";
import { hasSay } from "../people.js";
import { readyButton, vetoes } from "./vote.js";

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function countdown(live, _view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  const me = state.people.find((person) => person.name === state.you.name);
  const left = Math.max(0, Math.ceil((Date.parse(state.agreement.launch_at ?? "") - live.now()) / 1000));
  return [
    ...verdict(state),
    next(state),
    h(
      "div",
      { class: "agreeing" },
      vetoes(state),
      h("p", { class: "buttons" }, me && hasSay(state, me) && readyButton(me.ready, "Wait!"), h("span", { class: "countdown", role: "timer", "aria-label": `Launch in ${left} seconds` }, left)),
    ),
    rtts(state),
  ];
}

/** Once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}
