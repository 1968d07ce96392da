// The session is over: where it went, and who was there.

import { nameOnly } from "../choice.js";
import { button, h } from "../dom.js";
import { said, say, time } from "../say.js";
import { sign } from "../sign.js";
import { meeting } from "./meeting.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Played} Played */

/** How many rounds fit on a wall; it shows the last ones. */
const onWall = 8;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function night(live, view) {
  const state = /** @type {State} */ (live.state);
  const rounds = (state.evening ?? []).toReversed();
  const shown = view.tv ? rounds.slice(0, onWall) : rounds;
  const who = [...new Set(rounds.flatMap((round) => round.players))];
  const known = [...state.people, ...away(state)].filter((person) => who.includes(person.name)).toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0));
  return [
    h("h1", { class: "headline" }, say("stage.night")),
    h("p", { class: "about" }, state.meeting ? say("night.sleeps") : rounds.length > 0 ? say("night.closed", { rounds: say("night.rounds", { n: rounds.length }), players: say("people.players", { n: who.length }) }) : say("night.closed-early")),
    state.meeting && meeting(state, view),
    state.meeting && mayOpen(state) && !view.tv && h("p", { class: "buttons", "data-key": "wake" }, button("wake", say("night.wake"), { class: "primary large" })),
    shown.length > 0 && h("ol", { class: "rounds", "data-key": "rounds", "aria-label": say("night.where") }, shown.map((round, i) => went(state, round, rounds.length - i))),
    known.length > 0 && h("ul", { class: "were-here", "data-key": "were here", "--n": known.length, "aria-label": say("night.who") }, known.map((person) => h("li", { "data-key": person.name }, sign(played(person), 56), h("bdi", { class: "who", dir: "auto" }, person.name)))),
  ];
}

/** The people who keep a place here and are away. @param {State} state @returns {Person[]} */
function away(state) {
  const isHere = (/** @type {string} */ name) => state.people.some((person) => person.name === name);
  return (state.meeting?.who ?? []).filter((one) => !isHere(one.name)).map((one) => ({ name: one.name, arrival: one.arrival, peer: true, connected: false, page: false, probed: 0, answered: 0 }));
}

/** Whether the person at the page is one of the room's own people. @param {State} state */
function mayOpen(state) {
  return state.you.organiser || !state.you.guest && state.meeting?.who.some((one) => one.name === state.you.name);
}

/** A person as they played, whether or not they are still here. @param {Person} person */
const played = (person) => ({ ...person, peer: true, connected: true, left_out: false, able: false });

/** Where a round went, and its number in the session. @param {State} state @param {Played} round @param {number} nth */
function went(state, { round, at, server, map, mean_ms, players }, nth) {
  const known = [...state.people, ...away(state)].filter((person) => players.includes(person.name));
  return h(
    "li",
    { class: "card", "data-key": String(round) },
    h("p", { class: "when quiet" }, say("night.round-at", { n: nth, at: time(new Date(at)) })),
    h("p", { class: "there" }, h("bdi", { dir: "auto" }, nameOnly(server))),
    h("p", { class: "ms" }, Math.round(mean_ms), h("small", {}, say("unit.ms-average"))),
    map && h("p", { class: "map quiet" }, h("bdi", { dir: "auto" }, map)),
    h("p", { class: "with" }, known.map((person) => sign(played(person), 28)), h("span", { class: "unseen" }, ...said("night.with", { players }))),
  );
}

/** Runs once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}
