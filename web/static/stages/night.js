// The night is over: where it went, and who was there.

import { nameOnly } from "../choice.js";
import { clock } from "../details/notes.js";
import { count, h } from "../dom.js";
import { sign } from "../sign.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Played} Played */

/** How many rounds a wall has room for: the last ones. */
const onWall = 8;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function night(live, view) {
  const state = /** @type {State} */ (live.state);
  const rounds = (state.evening ?? []).toReversed();
  const shown = view.tv ? rounds.slice(0, onWall) : rounds;
  const who = [...new Set(rounds.flatMap((round) => round.players))];
  const known = state.people.filter((person) => who.includes(person.name)).toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0));
  return [
    h("h1", { class: "headline" }, "Good night"),
    h("p", { class: "about" }, rounds.length > 0 ? `${count(rounds.length, "round")} with ${count(who.length, "player")}. The room is closed, and nothing has to be done.` : "The room is closed before anybody went anywhere."),
    shown.length > 0 && h("ol", { class: "rounds", "data-key": "rounds", "aria-label": "Where we played, the last round first" }, shown.map((round) => went(state, round))),
    known.length > 0 && h("ul", { class: "were-here", "data-key": "were here", "--n": known.length, "aria-label": "Who played" }, known.map((person) => h("li", { "data-key": person.name }, sign(played(person), 56), h("bdi", { class: "who", dir: "auto" }, person.name)))),
  ];
}

/** Somebody as they played, whether or not they are still here. @param {Person} person */
const played = (person) => ({ ...person, connected: true, left_out: false, able: false });

/** Where a round went. @param {State} state @param {Played} round */
function went(state, { round, at, server, map, mean_ms, players }) {
  const known = state.people.filter((person) => players.includes(person.name));
  return h(
    "li",
    { class: "card", "data-key": String(round) },
    h("p", { class: "when quiet" }, `Round ${round}, ${clock(at).slice(0, 5)}`),
    h("p", { class: "there" }, h("bdi", { dir: "auto" }, nameOnly(server))),
    h("p", { class: "ms" }, Math.round(mean_ms), h("small", {}, "ms average")),
    map && h("p", { class: "map quiet" }, h("bdi", { dir: "auto" }, map)),
    h("p", { class: "with" }, known.map((person) => sign(played(person), 28)), h("span", { class: "unseen" }, "with ", players.flatMap((name, i) => [i > 0 && ", ", h("bdi", {}, name)]))),
  );
}

/** Once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}
