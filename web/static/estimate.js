// Guests who are counted in by estimated pings: it marks such pings, and offers what people can do
// about them. The host decides who may be counted, and says how far an estimate may be off.

import { button, h, millis } from "./dom.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Person} Person */

/** A player's ping as the room shows it; estimates are marked. @param {import("./types.js").Selection} selection @param {string} player @param {number} ms */
export function ping(selection, player, ms) {
  return isEstimated(selection, player) ? guess(ms) : millis(ms);
}

/** A ping that nobody measured. @param {number} ms */
export function guess(ms) {
  return `≈ ${millis(ms)}`;
}

/** Reports whether a player's pings are estimates. @param {import("./types.js").Selection} selection @param {string} player */
export function isEstimated(selection, player) {
  return Object.hasOwn(selection.estimated_ms ?? {}, player);
}

/** How far an estimate may be off, in words. @param {number} [ms] */
export function about(ms) {
  return `about ± ${Math.round(ms ?? 0)} ms`;
}

/** How a person without a program counts in the choice, in a few words, or nothing. @param {Person} person */
export function standing({ estimate }) {
  if (!estimate?.counted) return "";
  return estimate.why ? `left out: ${estimate.why}` : `counts by an estimate (${about(estimate.error_ms)})`;
}

/** The available actions: the organiser counts guests in, and guests can say that their address gives the wrong place. @param {State} state @param {Person} person */
export function counting(state, person) {
  const { estimate, name } = person;
  const isMe = name === state.you.name;
  if (!estimate || person.peer) return false;
  if (estimate.counted) {
    return (state.you.organiser || isMe) && button("count", isMe ? "Do not count me: I am elsewhere" : `Do not count ${name}`, { "data-name": name, "data-counted": "false" });
  }
  return state.you.organiser && estimate.error_ms && button("count", `Count ${name} in by an estimate (${about(estimate.error_ms)})`, { "data-name": name, "data-counted": "true" });
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
  if (estimate?.counted) return h("span", {}, `You count in the choice by an estimate, ${about(estimate.error_ms)}: a VPN or another country makes it wrong. `);
  return estimate?.error_ms && h("span", {}, `Without the program you can be counted in by an estimate, ${about(estimate.error_ms)}: the organiser decides. `);
}

/** @param {Person} person */
function theirs({ name, estimate }) {
  return h("span", {}, h("bdi", {}, name), estimate?.counted ? " counts by an estimate. " : " has no program. ");
}
