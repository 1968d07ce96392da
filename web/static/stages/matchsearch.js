// The search of a match: both sides, and who looks longer.

import { h } from "../dom.js";
import { said } from "../say.js";
import { sign } from "../sign.js";
import { campName, peopleOf } from "./camps.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Match} Match */

/** Who is on the sides. @param {State} state */
export function bothSides(state) {
  const match = /** @type {Match} */ (state.match);
  return h(
    "div",
    { class: "versus", "data-key": "versus" },
    match.camps.map((camp) => h("div", { class: "one-side", "data-key": camp.side }, h("p", { class: "of-side" }, h("bdi", { dir: "auto" }, campName(camp))), h("p", { class: "signs" }, peopleOf(state, camp).map((person) => h("span", { "data-key": person.name }, sign({ ...person, able: false }, 24), h("bdi", { class: "unseen" }, person.name)))))),
  );
}

/** What a captain may still ask for, and which side has. @param {State} state */
export function looks(state) {
  const match = /** @type {Match} */ (state.match);
  const asked = match.camps.filter(({ asks }) => asks).map(campName);
  return asked.length > 0 && h("p", { class: "about", "data-key": "asked" }, ...said("match.looks-long", { sides: asked }));
}
