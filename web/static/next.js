// What the person at the page does next, in a sentence.

import { h } from "./dom.js";
import { playsHere } from "./gather.js";
import { hasSay, isDeaf, meOf } from "./people.js";
import { capital, clock, said, told } from "./say.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Person} Person */
/** @typedef {import("./dom.js").Child} Child */

/** @param {State} state */
export function next(state) {
  const words = wordsFor(state);
  return words.length > 0 && h("p", { class: "next" }, words);
}

/** @param {State} state @returns {Child[]} */
function wordsFor(state) {
  const me = meOf(state);
  const held = told(state.room.held) || state.waits;
  if (held) return [capital(held)];
  switch (state.room.stage) {
    case "gathering":
      return gathering(state);
    case "measuring":
    case "refining":
      return measuring(state);
    case "chosen":
      return agreeing(state, me);
    case "launching":
      return launching(state, me);
    case "waiting":
      return [];
    case "failed":
      return failed(state);
    default:
      return [];
  }
}

/** @param {State} state @returns {Child[]} */
function gathering(state) {
  const players = state.people.filter((person) => person.peer && person.connected);
  const byItself = state.room.players > 0;
  if (!state.you.organiser) {
    if (byItself) return said(playsHere(state) ? "next.in-by-itself" : "next.play-by-itself");
    return said(playsHere(state) ? "next.in-organiser" : "next.play-organiser", organiser(state));
  }
  if (players.length === 0) return said("next.play-first");
  if (players.length === 1) return said("next.send");
  return said(byItself ? "next.by-itself" : "next.start");
}

/** @param {State} state @returns {Child[]} */
function measuring(state) {
  const away = state.people.filter((person) => person.peer && !person.connected && !person.left_out);
  if (state.room.paused) return said("next.paused");
  if (away.length === 0) return said("next.nothing");
  return said("next.away", { n: away.length, players: names(away) });
}

/** @param {State} state @param {Person | undefined} me @returns {Child[]} */
function agreeing(state, me) {
  if (!state.agreement.open) return said("next.seconds");
  if (state.agreement.launch_at) return said(me ? "next.off-wait" : "next.off");
  if (!me || !hasSay(state, me)) return said("next.vote-how");
  if (!me.ready) return said("next.like");
  const awaited = state.people.filter((person) => (person.page || person.asked) && !person.ready && hasSay(state, person));
  return awaited.length > 0 ? said("next.awaits", { players: names(awaited) }) : [];
}

/** @param {State} state @param {Person | undefined} me @returns {Child[]} */
function launching(state, me) {
  if (state.way?.region) return said("next.region");
  switch (me?.launch) {
    case "asking":
      return said("next.say-yes");
    case "failed":
      return said("next.not-started");
    case "launched":
      return said(state.you.organiser ? "next.fun-organiser" : "next.fun");
    case "by-hand":
    case "declined":
      return said("next.by-hand");
    default:
      return me?.peer ? [] : said("next.connect");
  }
}

/** @param {State} state @returns {Child[]} */
function failed(state) {
  const deaf = state.people.filter((person) => isDeaf(person, true));
  if (state.room.retry) return said(state.you.organiser ? "next.retry-now" : "next.retry", { at: clock(new Date(state.room.retry)) });
  if (deaf.length > 0) return said("next.deaf", { players: names(deaf), command: h("code", {}, "muster doctor") });
  return state.you.organiser ? said("next.change") : said("next.change-organiser", organiser(state));
}

/** The organiser's name, which the room may not know. @param {State} state */
function organiser(state) {
  const name = state.people.find((person) => person.organiser)?.name;
  return { known: name === undefined ? "no" : "yes", organiser: name ?? "" };
}

/** @param {Person[]} people */
function names(people) {
  return people.map((person) => person.name);
}
