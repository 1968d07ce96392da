// The people in the room, and their progress.

import { countryName } from "./choice.js";
import { button, count, duration, h, millis } from "./dom.js";
import { colourOf } from "./colours.js";
import { counting, standing } from "./estimate.js";
import { gameName } from "./gather.js";
import { sign } from "./sign.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Person} Person */

/** @type {Record<string, string>} */
const launches = {
  asking: "waiting for a yes",
  launched: "on the way",
  declined: "stays behind",
  "by-hand": "joins by hand",
  failed: "could not start",
};

/** @param {import("./live.js").Live} live */
export function people(live) {
  const state = /** @type {State} */ (live.state);
  const players = state.people.filter((person) => person.peer);
  const guests = state.people.filter((person) => !person.peer);
  const rows = players.map((person) => row(live, person));
  if (players.length === 0) rows.push(h("li", { class: "empty" }, "Nobody plays yet."));
  return [
    h("p", { class: "quiet" }, seats(state, players.length)),
    h("ul", { class: "people" }, rows),
    guests.length > 0 && h("h3", {}, "Only with the page"),
    guests.length > 0 && h("ul", { class: "people" }, guests.map((person) => row(live, person))),
  ];
}

/** @param {State} state @param {number} here */
function seats(state, here) {
  return state.room.players > 0 ? `${here} of ${count(state.room.players, "player")}` : count(here, "player");
}

/** @param {import("./live.js").Live} live @param {Person} person */
function row(live, person) {
  const state = /** @type {State} */ (live.state);
  const away = person.peer ? !person.connected : !person.page;
  return h(
    "li",
    { "data-key": person.name, class: `person ${colourOf(state.people, person.name)}${away || person.left_out ? " away" : ""}` },
    sign(person, 28),
    h("span", { class: "who" }, h("bdi", {}, person.name), person.organiser && badge("organiser"), person.guest && badge("guest"), person.name === state.you.name && badge("you"), person.country && !person.somewhere && badge(`about ${countryName(person.country)}`), person.version && badge(`has ${person.version}`)),
    h("span", { class: `doing ${tone(state, person)}` }, doing(state, person)),
    person.peer && state.room.listed > 0 && progress(live, person),
    counting(state, person),
    state.you.organiser && person.name !== state.you.name && tools(person),
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

/** What a person is doing, in a few words. @param {State} state @param {Person} person */
function doing(state, person) {
  if (person.launch) return person.launch === "failed" ? `could not start: ${person.detail}` : launches[person.launch];
  if (isDeaf(person)) return "hears from no server: does a firewall there block UDP? muster doctor tells";
  if (person.doubt) return `${person.left_out ? "does not count in the choice" : "is not believed about servers"}: ${person.doubt}${state.you.organiser ? " If you know better, count it under ⋯" : ""}`;
  if (person.unable) return `cannot start ${gameName(state)}: ${person.unable}${person.name === state.you.name ? ". Install it, or tell Muster where it is: its window or Home says how" : ""}`;
  if (person.left_out) return "left out of this round";
  if (person.peer ? !person.connected : !person.page) return "away";
  if (state.agreement.open && !hasSay(state, person)) return "watching";
  if (state.agreement.open && standing(person)) return `${person.ready ? "ready" : "not ready yet"}; ${standing(person)}`;
  if (state.agreement.open) return person.ready ? "ready" : person.page || person.asked ? "not ready yet" : "is asked when it starts";
  if (!person.peer) return standing(person) || (person.estimate?.why ? `watching; no ping can be estimated: ${person.estimate.why}` : "watching");
  if (state.room.stage === "gathering" || state.room.stage === "listing") return person.able ? "here, with the game" : "here";
  if (state.room.stage === "chosen") return "looks again";
  if (!person.done) return "measuring";
  return person.probed < state.room.listed ? "stopped by itself" : "done";
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
  const facts = [`${person.answered.toLocaleString("en")} answered`, `${cloud.near(limit).toLocaleString("en")} within ${millis(limit)}`];
  if (state.room.stage !== "measuring") {
    // The host asks for a few; their total is unknown, or nothing has been asked.
    return h("span", { class: "progress" }, h("span", { class: "facts" }, `${count(person.probed, "server")} asked · ${facts.join(" · ")}`));
  }
  if (rate > 0) facts.push(`${Math.round(rate)}/s`, `${left(state, person)}${duration((state.room.listed - person.probed) / rate)} left`);
  return h(
    "span",
    { class: "progress" },
    h("progress", { max: state.room.listed, value: person.done ? state.room.listed : person.probed, "aria-label": `${person.name} has asked ${person.probed} of ${state.room.listed} servers` }),
    h("span", { class: "facts" }, `${person.probed.toLocaleString("en")} of ${count(state.room.listed, "server")} asked · ${facts.join(" · ")}`),
  );
}

/** Plans with an auto-stop end before their list does. @param {State} state @param {Person} person */
function left(state, person) {
  return state.room.strategy === "conventional" || person.done ? "" : "at most ";
}

/** What the organiser can do to a person. @param {Person} person */
function tools(person) {
  return h(
    "details",
    { class: "tools", name: "tools" },
    h("summary", { "aria-label": `More for ${person.name}` }, "⋯"),
    h(
      "div",
      {},
      person.peer && button("handon", "Make organiser", { "data-name": person.name }),
      person.doubt && button("trust", "Count the numbers", { "data-name": person.name }),
      button("remove", "Remove", { "data-name": person.name, class: "danger" }),
    ),
  );
}
