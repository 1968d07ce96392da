// The vote: where shall we play?

import { button, h } from "../dom.js";
import { rtts, verdict } from "../choice.js";
import { next } from "../next.js";
import { hasSay } from "../people.js";
import { go, outlook } from "./parts.js";

/** @typedef {import("../types.js").State} State */

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function vote(live, _view) {
  const state = /** @type {State} */ (live.state);
  return [...verdict(state), next(state), outlook(state), agreeing(state), rtts(state)];
}

/** Once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}

/** The ready check. @param {State} state */
function agreeing(state) {
  const me = state.people.find((person) => person.name === state.you.name);
  return h(
    "div",
    { class: "agreeing" },
    vetoes(state),
    h("p", { class: "buttons" }, me && hasSay(state, me) && readyButton(me.ready, "Not ready after all"), state.you.organiser && go(state, "Launch without waiting")),
  );
}

/** @param {boolean | undefined} isReady @param {string} wait */
export function readyButton(isReady, wait) {
  return button("ready", isReady ? wait : "I am ready", { class: isReady ? "large" : "primary large", "data-ready": String(!isReady) });
}

/** @param {State} state */
export function vetoes(state) {
  const { vetoes } = state.agreement;
  return vetoes.length > 0 && h("p", { class: "quiet" }, "Vetoes: ", vetoes.map((veto, i) => [i > 0 && ", ", h("bdi", {}, veto)]).flat());
}
