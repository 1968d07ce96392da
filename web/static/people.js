// The people in the room, and their progress.

import { countryName } from "./choice.js";
import { button, h } from "./dom.js";
import { colourOf } from "./colours.js";
import { counting, standing } from "./estimate.js";
import { gameName } from "./gather.js";
import { millis, said, say, tell } from "./say.js";
import { sign } from "./sign.js";
import { removal } from "./stages/menu.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Person} Person */

/** The reader, if they have a name. @param {State} state */
export const meOf = (state) => state.people.find((person) => person.name === state.you.name);

/** Whether captains have moved and the room still waits to go: the organiser cannot hide servers then. @param {State} state */
export const hasMoved = ({ match, room }) => room.stage === "chosen" && Boolean(match?.moves.length);

/** Whether the organiser cannot remove a person now, because they are on the other side of a match that has begun. @param {State} state @param {string} name */
export function isOpponent(state, name) {
  const sideOf = (/** @type {string | undefined} */ of) => state.match?.camps.find(({ players }) => players.includes(of ?? ""))?.side;
  return hasMoved(state) && sideOf(name) !== undefined && sideOf(name) !== sideOf(state.you.name);
}

/** @template {{arrival?: number}} P @param {P[]} people */
export const inOrder = (people) => people.toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0));

/** @param {import("./live.js").Live} live */
export function people(live) {
  const state = /** @type {State} */ (live.state);
  const players = state.people.filter((person) => person.peer);
  const guests = state.people.filter((person) => !person.peer);
  const rows = players.map((person) => row(live, person));
  if (players.length === 0) rows.push(h("li", { class: "empty" }, say("people.nobody")));
  return [
    h("p", { class: "quiet" }, seats(state, players.length)),
    h("ul", { class: "people" }, rows),
    guests.length > 0 && h("h3", { "aria-level": 2 }, say("people.with-page")),
    guests.length > 0 && h("ul", { class: "people" }, guests.map((person) => row(live, person))),
  ];
}

/** @param {State} state @param {number} here */
function seats(state, here) {
  return state.room.players > 0 ? say("people.here-of", { here, n: state.room.players }) : say("people.players", { n: here });
}

/** @param {import("./live.js").Live} live @param {Person} person */
function row(live, person) {
  const state = /** @type {State} */ (live.state);
  const away = person.peer ? !person.connected : !person.page;
  return h(
    "li",
    { "data-key": person.name, class: `person ${colourOf(state.people, person.name)}${away || person.left_out ? " away" : ""}` },
    sign(person, 28),
    h("span", { class: "who" }, h("bdi", {}, person.name), person.organiser && badge(say("person.organiser")), person.guest && badge(say("person.guest")), person.name === state.you.name && badge(say("person.you")), person.country && badge(say("country.about", { country: countryName(person.country) })), person.version && badge(say("person.has", { version: person.version }))),
    h("span", { class: `doing ${tone(state, person)}` }, ...doing(state, person)),
    person.peer && state.room.listed > 0 && progress(live, person),
    counting(state, person),
    state.you.organiser && person.name !== state.you.name && tools(state, person),
  );
}

/** @param {string} text */
function badge(text) {
  return h("span", { class: "badge" }, text);
}

/** @param {State} state @param {Person} person */
function tone(state, person) {
  if (person.launch === "failed" || person.doubt || isDeaf(person) || (person.unable && !person.launch)) return "bad";
  const ready = state.agreement.open && person.ready;
  return person.launch === "launched" || person.launch === "by-hand" || ready ? "good" : "";
}

/** Reports whether a person's vote counts. @param {State} state @param {{name?: string} | undefined} person */
export function hasSay(state, person) {
  const known = state.people.find((other) => other.name === person?.name);
  return Boolean(known && (known.peer ? !known.left_out : (state.room.guests_vote && !known.no_say) || known.estimate?.counted));
}

/** Whether the reader only needs a nickname for a say. @param {State} state */
export const isNameEnough = (state) => Boolean(state.room.guests_vote) && !state.you.name && !state.you.organiser;

/** What a person is doing, in a few words. @param {State} state @param {Person} person */
function doing(state, person) {
  if (person.launch) return said(`people.launch.${person.launch}`, { why: person.detail ?? "" });
  if (isDeaf(person)) return said("people.deaf");
  if (person.doubt) return doubted(state, person, person.doubt);
  if (person.unable) return said(person.name === state.you.name ? "people.unable-own" : "people.unable", { game: gameName(state), why: person.unable });
  if (person.left_out) return said("people.left-out");
  if (person.peer ? !person.connected : !person.page) return said("person.away");
  const counts = standing(person);
  if (state.agreement.open && !hasSay(state, person)) return said("people.watching");
  if (state.agreement.open && counts) return said(person.ready ? "people.ready-counts" : "people.not-ready-counts", { standing: counts });
  if (state.agreement.open) return said(person.ready ? "people.ready" : person.page || person.asked ? "people.not-ready" : "people.asked-later");
  if (!person.peer) return counts ? tell(counts) : person.estimate?.why ? said("people.watching-why", { why: person.estimate.why }) : said("people.watching");
  if (state.room.stage === "gathering" || state.room.stage === "listing") return said(person.able ? "people.able" : "person.here");
  if (state.room.stage === "chosen") return said("people.looks-again");
  if (!person.done) return said("people.measuring");
  return said(person.probed < state.room.listed ? "people.stopped" : "people.done");
}

/** What the room does not believe a person about. @param {State} state @param {Person} person @param {NonNullable<Person["doubt"]>} why */
function doubted(state, person, why) {
  const doubt = said(person.left_out ? "people.left-out-doubt" : "people.doubt", { why });
  return state.you.organiser ? [...doubt, " ", ...said("people.may-trust")] : doubt;
}

/**
 * Reports whether a program has asked enough servers to know that no answer comes back. In a
 * finished round, any number is enough.
 * @param {Person} person
 * @param {boolean} [isOver]
 */
export function isDeaf(person, isOver = false) {
  return person.peer && person.answered === 0 && person.probed > 0 && Boolean(isOver || person.done || person.doubt);
}

/** @param {import("./live.js").Live} live @param {Person} person */
function progress(live, person) {
  const state = /** @type {State} */ (live.state);
  const cloud = live.clouds.of(person.name);
  const limit = Math.max(0, ...state.room.limits_ms) || 200;
  const rate = person.done ? 0 : cloud.rate(live.elapsed());
  const facts = [say("people.answered", { n: person.answered }), say("people.within", { n: cloud.near(limit), limit: millis(limit) })];
  if (state.room.stage !== "measuring") {
    // The host asks for a few; their total is unknown, or nothing has been asked.
    return h("span", { class: "progress" }, h("span", { class: "facts" }, [say("people.asked", { n: person.probed }), ...facts].join(" · ")));
  }
  if (rate > 0) facts.push(say("people.rate", { n: Math.round(rate) }), say(mayStop(state, person) ? "people.left-most" : "people.left", { span: span((state.room.listed - person.probed) / rate) }));
  return h(
    "span",
    { class: "progress" },
    h("progress", { max: state.room.listed, value: person.done ? state.room.listed : person.probed, "aria-label": say("people.progress", { player: person.name, asked: person.probed, n: state.room.listed }) }),
    h("span", { class: "facts" }, [say("people.asked-of", { asked: person.probed, n: state.room.listed }), ...facts].join(" · ")),
  );
}

/** Whether a plan has an auto-stop, which ends before the list does. @param {State} state @param {Person} person */
function mayStop(state, person) {
  return state.room.strategy !== "conventional" && !person.done;
}

/** @param {number} seconds */
function span(seconds) {
  return seconds < 90 ? say("unit.s", { n: Math.max(0, Math.ceil(seconds)) }) : say("unit.min", { n: Math.ceil(seconds / 60) });
}

/** What the organiser can do to a person. @param {State} state @param {Person} person */
function tools(state, person) {
  const may = [person.peer && button("handon", say("people.hand-on"), { "data-name": person.name }), person.doubt && button("trust", say("people.trust"), { "data-name": person.name }), ...(isOpponent(state, person.name) ? [] : removal(person.name))].filter(Boolean);
  if (may.length === 0) return false;
  return h(
    "details",
    { class: "tools", name: "tools" },
    h("summary", { "aria-label": say("people.more-for", { player: person.name }) }, "⋯"),
    h("div", {}, may),
  );
}
