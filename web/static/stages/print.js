// The night's poster as this page has drawn it. The host may stop when the night ends. So the page
// draws the poster as soon as games open, loads all that it needs then, and fetches nothing later.

import { inOrder } from "../people.js";
import { nameOnly } from "../choice.js";
import { h } from "../dom.js";
import { say } from "../say.js";
import * as tour from "../tour.js";
import { setTimer } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */

/** The poster: what it was made of, its SVG, and its address. */
const print = { of: "", svg: "", url: "" };
let isNameless = false;

/** How long after a failure the poster is drawn once more, ms. */
const pause = 10_000;

/** Who played and who watched; people who play along later keep their places. @param {State} state */
export function company(state) {
  const names = new Set((state.evening ?? []).flatMap((round) => round.players));
  const isHere = (/** @type {string} */ name) => state.people.some((person) => person.name === name);
  const away = (state.meeting?.who ?? []).filter((one) => !isHere(one.name)).map((one) => /** @type {Person} */ ({ name: one.name, arrival: one.arrival, peer: true, connected: false, page: false, probed: 0, answered: 0 }));
  const all = inOrder([...state.people, ...away]);
  return { players: all.filter(({ name }) => names.has(name)), guests: state.people.filter(({ name, peer }) => !peer && !names.has(name)) };
}

/** The poster, once it is drawn: nobody sees an empty frame. @param {State} state */
export function framed(state) {
  const where = (state.evening ?? []).map(({ server }) => nameOnly(server));
  return where.length > 0 && print.url !== "" && h("figure", { class: "poster", "data-key": "poster" }, h("img", { src: print.url, width: 1080, height: 1350, alt: say("night.poster", { where }) }));
}

/**
 * Draws the poster if it would differ from the last one, but not while the screen moves.
 * @param {import("../live.js").Live} live @param {import("../app.js").View} view
 */
export function prepare(live, view) {
  const state = /** @type {State} */ (live.state);
  const moves = !document.hidden && (view.stage === "reveal" || view.stage === "countdown");
  if ((state.evening ?? []).length === 0 || moves) return;
  const { players, guests } = company(state);
  const of = JSON.stringify([state.room.name, state.evening, players.map(({ name, country }) => [name, country]), guests.map(({ name }) => name), isNameless]);
  if (of === print.of) return;
  print.of = of;
  draw(state, players, guests, of).then(view.changed, () => setTimer(() => print.of === of && (print.of = ""), pause));
}

/** @param {State} state @param {Person[]} players @param {Person[]} guests @param {string} of */
async function draw(state, players, guests, of) {
  const svg = await tour.poster(state, players, guests, isNameless);
  if (print.of !== of) return; // a newer one is under way
  URL.revokeObjectURL(print.url);
  Object.assign(print, { svg, url: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })) });
}

/** The poster, saved or shared, and what came of it. @param {boolean} shares */
export const give = async (shares) => (print.svg ? tour.give(print.svg, shares) : say("share.nothing"));

/** Whether the poster leaves names out. */
export const leavesNamesOut = () => isNameless;

/** Puts the names on the poster, or takes them off. */
export function toggleNames() {
  isNameless = !isNameless;
}
