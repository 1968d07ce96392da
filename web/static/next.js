// What the person at the page does next, in a sentence.

import { h, sentence } from "./dom.js";
import { playsHere } from "./gather.js";
import { hasSay, isDeaf } from "./people.js";

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
  const me = state.people.find((person) => person.name === state.you.name);
  const held = state.room.held || state.waits;
  if (held) return [sentence(held)];
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
  const start = state.room.players > 0 ? ["It starts by itself when everyone is here."] : [...organiser(state), " starts when everyone is here."];
  if (!state.you.organiser) return playsHere(state) ? ["You are in. ", ...start] : ["To play, see “Play along”. ", ...start];
  if (players.length === 0) return ["See “Play along”, on the computer you play on."];
  if (players.length === 1) return ["Send your friends the link below."];
  return state.room.players > 0 ? start : ["Start when everyone is here."];
}

/** @param {State} state @returns {Child[]} */
function measuring(state) {
  const away = state.people.filter((person) => person.peer && !person.connected && !person.left_out);
  if (state.room.paused) return ["Hardly anybody is heard: the host's line may be down. The clock stands still until they are back."];
  if (away.length === 0) return ["Nothing to do now: the choice comes by itself."];
  return [...names(away), away.length === 1 ? " is" : " are", " away: for half a minute the others wait, then it goes on."];
}

/** @param {State} state @param {Person | undefined} me @returns {Child[]} */
function agreeing(state, me) {
  if (!state.agreement.open) return ["Nothing to do now: it takes a few seconds."];
  if (state.agreement.launch_at) return me ? ["Off we go. “Wait!” stops it."] : ["Off we go."];
  if (!me || !hasSay(state, me)) return ["To vote, veto, and say that you are ready, open the page by your own link, which muster join shows, or use its terminal."];
  if (!me.ready) return ["Like it? Say that you are ready. Or vote for another, or veto one, in the list of the best servers."];
  const awaited = state.people.filter((person) => (person.page || person.asked) && !person.ready && hasSay(state, person));
  return awaited.length > 0 ? ["Waiting for ", ...names(awaited), "."] : [];
}

/** @param {State} state @param {Person | undefined} me @returns {Child[]} */
function launching(state, me) {
  switch (me?.launch) {
    case "asking":
      return ["Say yes in your terminal: Muster asks there before it starts your game."];
    case "failed":
      return ["Your game could not be started: connect to the address from the game itself."];
    case "launched":
      return state.you.organiser ? ["Have fun! When you have played, begin the next round."] : ["Have fun! Stay in the room for the next round."];
    case "by-hand":
    case "declined":
      return ["The address takes you there, in the game itself."];
    default:
      return me?.peer ? [] : ["Connect to the address from the game itself."];
  }
}

/** @param {State} state @returns {Child[]} */
function failed(state) {
  const deaf = state.people.filter((person) => isDeaf(person, true));
  if (state.room.retry) {
    const when = new Date(state.room.retry).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
    return [`The room tries again by itself at ${when}.`, state.you.organiser ? " Or press the button now." : ""];
  }
  const who = state.you.organiser ? ["Change what you look for, or try again later."] : [...organiser(state), " can change what we look for, and try again."];
  if (deaf.length === 0) return who;
  return ["No server's answer reaches ", ...names(deaf), ": a firewall may block UDP. Run ", h("code", {}, "muster doctor"), " there, and try again."];
}

/** @param {State} state @returns {Child[]} */
function organiser(state) {
  const who = state.people.find((person) => person.organiser);
  return who ? names([who]) : ["The organiser"];
}

/** People's names in a sentence. @param {Person[]} people @returns {Child[]} */
function names(people) {
  return people.flatMap((person, i) => [i === 0 ? "" : i === people.length - 1 ? " and " : ", ", h("bdi", {}, person.name)]);
}
