// The two sides of a match, as every stage of it shows them.

import { h } from "../dom.js";
import { inOrder } from "../people.js";
import { say } from "../say.js";
import { sign } from "../sign.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../types.js").Camp} Camp */

/** From this many people on a side their rows are smaller. */
const many = 5;

/** A side's name, or which of the two it is. @param {Camp} camp */
export const campName = (camp) => camp.name || say(`match.side.${camp.side}`);

/** @param {Match} match @param {string | undefined} side */
export const campOf = (match, side) => match.camps.find((camp) => camp.side === side);

/** A side's people, the captain first. @param {State} state @param {Camp} camp */
export function peopleOf(state, camp) {
  const all = inOrder(state.people.filter(({ name }) => camp.players.includes(name)));
  return [...all.filter(({ name }) => name === camp.captain), ...all.filter(({ name }) => name !== camp.captain)];
}

/** The people here who are on neither side. @param {State} state @param {Match} match */
export function onNeither(state, match) {
  const taken = new Set(match.camps.flatMap((camp) => camp.players));
  return inOrder(state.people.filter((person) => !taken.has(person.name) && (person.peer || person.page)));
}

/** The size class of a side. @param {number} n */
export const sizeOf = (n) => (n >= many ? "many" : undefined);

/**
 * A side, with its people.
 * @param {State} state @param {Camp} camp
 * @param {{status?: import("../dom.js").Child | import("../dom.js").Child[], isOn?: boolean, below?: import("../dom.js").Child, own?: (person: Person) => import("../dom.js").Child}} more what the side does, whether it is its turn, what stands below its people, and what beside one of them in place of the captain's mark
 */
export function campColumn(state, camp, { status = "", isOn = false, below = false, own }) {
  const people = peopleOf(state, camp);
  const name = campName(camp);
  return h(
    "section",
    { class: `camp camp-${camp.side}${isOn ? " on-turn" : ""}`, "data-key": `camp ${camp.side}`, "data-many": sizeOf(people.length), "aria-labelledby": `camp-${camp.side}` },
    h("h2", { id: `camp-${camp.side}` }, h("bdi", { dir: "auto" }, name)),
    h("p", { class: "status" }, status),
    h(
      "ul",
      { class: "side" },
      people.map((person) => h("li", { "data-key": person.name, class: person.name === camp.captain ? "leads-side" : "" }, sign(person, 40), h("bdi", { class: "who", dir: "auto" }, person.name), own ? own(person) : person.name === camp.captain && h("span", { class: "captain" }, say("match.captain")))),
      people.length === 0 && h("li", { class: "nobody" }, say("match.nobody")),
    ),
    below,
  );
}
