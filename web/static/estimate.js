// Guests who are counted in by estimated pings: it marks such pings, and offers what people can do
// about them. The host decides who may be counted, and says how far an estimate may be off.

import { button, h } from "./dom.js";
import { millis, said, say } from "./say.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Person} Person */

/** A player's ping as the room shows it; estimates are marked. @param {import("./types.js").Selection} selection @param {string} player @param {number} ms */
export function ping(selection, player, ms) {
  return isEstimated(selection, player) ? guess(ms) : millis(ms);
}

/** A ping that nobody measured. @param {number} ms */
export function guess(ms) {
  return say("unit.guess", { ms: millis(ms) });
}

/** Reports whether a player's pings are estimates. @param {import("./types.js").Selection} selection @param {string} player */
export function isEstimated(selection, player) {
  return Object.hasOwn(selection.estimated_ms ?? {}, player);
}

/** How far an estimate may be off, in words. @param {number} [ms] */
export function about(ms) {
  return say("unit.about", { n: Math.round(ms ?? 0) });
}

/** How a person without a program counts in the choice, in a few words, or nothing. @param {Person} person @returns {import("./types.js").Sentence | undefined} */
export function standing({ estimate }) {
  if (!estimate?.counted) return undefined;
  if (estimate.why) return { key: "estimate.left-out", with: { why: estimate.why } };
  return { key: estimate.measured ? "estimate.counts-measured" : "estimate.counts", with: { about: about(estimate.error_ms) } };
}

/** The available actions: the organiser counts guests in, and guests can say that their address gives the wrong place. @param {State} state @param {Person} person */
export function counting(state, person) {
  const { estimate, name } = person;
  const isMe = name === state.you.name;
  if (!estimate || person.peer) return false;
  if (estimate.counted) {
    return (state.you.organiser || isMe) && button("count", isMe ? say("estimate.not-me") : said("estimate.not", { player: name }), { "data-name": name, "data-counted": "false" });
  }
  return state.you.organiser && estimate.error_ms && button("count", said("estimate.count", { player: name, about: about(estimate.error_ms) }), { "data-name": name, "data-counted": "true" });
}

/** The guests whom the organiser can count in, and how the person themselves counts. @param {State} state */
export function offers(state) {
  const guests = state.people.filter((person) => person.estimate && !person.peer && person.page);
  const lines = guests.map((person) => {
    const isMe = person.name === state.you.name;
    const can = counting(state, person);
    const said = isMe ? mine(person) : can && theirs(person);
    return (can || said) && h("p", { class: "offer", "data-key": `offer ${person.name}` }, said, can);
  });
  return lines.some(Boolean) && h("div", { class: "offers", "data-key": "offers" }, lines);
}

/** @param {Person} person */
function mine({ estimate }) {
  if (estimate?.counted) return h("span", {}, ...said("estimate.you-count", { about: about(estimate.error_ms) }), " ");
  return estimate?.error_ms && h("span", {}, ...said("estimate.you-could", { about: about(estimate.error_ms) }), " ");
}

/** @param {Person} person */
function theirs({ name, estimate }) {
  return h("span", {}, ...said(estimate?.counted ? "estimate.they-count" : "estimate.no-program", { player: name }), " ");
}
