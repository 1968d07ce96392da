// The search of a match: both sides, and the reader's own pings to the best servers. What each side
// would have there on average shows once captains may ban.

import { h } from "../dom.js";
import { millis, said, say } from "../say.js";
import { initial, sign } from "../sign.js";
import { campName, peopleOf } from "./camps.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Leader} Leader */
/** @typedef {import("../types.js").Match} Match */

/** The sides' averages at a server, a's first, once both are known. @param {Leader} leader @returns {[number, number] | undefined} */
export function meansOf({ means_ms: means, side_mean_ms: sides }) {
  if (means) return means;
  return sides && [sides.a, sides.b];
}

/** Who is on the sides. @param {State} state */
export function bothSides(state) {
  const match = /** @type {Match} */ (state.match);
  return h(
    "div",
    { class: "versus", "data-key": "versus" },
    match.camps.map((camp) => h("div", { class: "one-side", "data-key": camp.side }, h("p", { class: "of-side" }, h("bdi", { dir: "auto" }, campName(camp))), h("p", { class: "signs" }, peopleOf(state, camp).map((person) => h("span", { "data-key": person.name }, sign({ ...person, able: false }, 24), h("bdi", { class: "unseen" }, person.name)))))),
  );
}

/** The sides' averages at a server, as bars, and the reader's own ping. @param {State} state @param {Leader} leader */
export function sidesAt(state, leader) {
  const match = /** @type {Match} */ (state.match);
  const means = meansOf(leader);
  const own = state.own?.[String(leader.id)];
  const me = state.people.find(({ name }) => name === state.you.name);
  const longest = Math.max(1, own ?? 0, ...(means ?? []));
  const row = (/** @type {string} */ key, /** @type {import("../dom.js").Child} */ mark, /** @type {import("../dom.js").Child} */ who, /** @type {number | undefined} */ ms, kind = "") =>
    h("li", { class: kind, "data-key": key }, mark, h("bdi", { class: "who", dir: "auto" }, who), h("span", { class: "track" }, ms !== undefined && h("span", { class: "bar", "--length": `${Math.max(2, (100 * ms) / longest)}%` })), h("span", { class: "figure" }, ms === undefined ? "…" : millis(ms)));
  return h(
    "ul",
    { class: "pings of-sides" },
    means && match.camps.map((camp, i) => row(camp.side, h("span", { class: "mark-of", "aria-hidden": "true" }, initial(campName(camp))), campName(camp), means[i], `side-${camp.side}`)),
    me && own !== undefined && row("own", sign({ ...me, able: false }, 20), say("person.you"), own, `me p${(me.arrival ?? 0) % 16}`),
  );
}

/** What a captain may still ask for, and which side has. @param {State} state */
export function looks(state) {
  const match = /** @type {Match} */ (state.match);
  const asked = match.camps.filter(({ asks }) => asks).map(campName);
  return asked.length > 0 && h("p", { class: "about", "data-key": "asked" }, ...said("match.looks-long", { sides: asked }));
}
