// Which stage of the evening the page shows, and what it is called.

import { nameOnly } from "../choice.js";
import { count, h } from "../dom.js";
import { standing, votes } from "./ballot.js";
import { headline } from "./seats.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {"lobby" | "search" | "reveal" | "vote" | "countdown" | "go" | "seats" | "failed" | "night"} Stage */

/**
 * What the page knows of the round besides its state: for which one it saw the search,
 * and of which one the reveal is over. Who comes later sees no reveal.
 * @typedef {{searched: number, revealed: number}} Seen
 */

/** The stage that stands on the page. @param {State} state @param {Seen} seen @returns {Stage} */
export function stageOf(state, seen) {
  const { room, agreement } = state;
  if (room.ended) return "night";
  const isSettled = room.stage === "launching" || (room.stage === "chosen" && agreement.open);
  if (isSettled && state.choice && seen.searched === room.round && seen.revealed !== room.round) return "reveal";
  switch (room.stage) {
    case "gathering":
      return "lobby";
    case "chosen":
      if (!agreement.open) return "search"; // everyone looks at the best again
      return agreement.launch_at ? "countdown" : "vote";
    case "launching":
      return "go";
    case "waiting":
      return state.seats?.launch_at ? "countdown" : "seats";
    case "failed":
      return "failed";
    default:
      return "search";
  }
}

const steps = /** @type {const} */ ([
  ["lobby", "Lobby"],
  ["search", "Search"],
  ["reveal", "Reveal"],
  ["vote", "Vote"],
  ["go", "Go"],
]);

/** The way of the round, as steps. @param {State} state @param {Stage} stage */
export function way(state, stage) {
  const at = { failed: "search", seats: "search", countdown: state.room.stage === "waiting" ? "search" : "vote" }[/** @type {string} */ (stage)] ?? stage;
  const shown = steps.filter(([id]) => id !== "vote" || votes(state));
  const now = shown.findIndex(([id]) => id === at);
  return shown.map(([id, name], i) => h("li", { class: i < now ? "past" : i === now ? "now" : "", "aria-current": i === now ? "step" : undefined, "data-id": id }, name));
}

/** One sentence that says where the room stands: screen readers hear it. @param {State} state */
export function sentence(state) {
  const { room, people } = state;
  const players = people.filter((person) => person.peer && person.connected).length;
  if (room.ended) return state.meeting ? "The room sleeps" : "Good night";
  switch (room.stage) {
    case "gathering":
      return room.players > 0 ? `Waiting for ${count(Math.max(0, room.players - players), "more player")}` : players === 0 ? "Waiting for the first player" : `${count(players, "player")} here`;
    case "listing":
      return "Fetching the server list";
    case "measuring":
      return "Everyone is measuring";
    case "refining":
      return "Looking for the best server for everyone";
    case "chosen":
      if (state.agreement.launch_at) return "Off we go in a few seconds";
      return state.agreement.open ? `Where shall we play? ${standing(state)}` : "Everyone looks at the best again";
    case "launching":
      return state.way ? `Everyone to ${nameOnly(state.way.server)}` : "Everyone on the way";
    case "waiting":
      return state.seats ? headline(state.seats) : "Waiting for seats";
    case "failed":
      if (state.seats) return "No seats for everyone this time";
      return "No server for everyone this time";
    default:
      return room.stage;
  }
}

/** What counts of a sentence for who has heard it: its letters. @param {string} text */
const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, "");

/** What of a text is news to who has heard others: its sentences that are in none of them. @param {string} text @param {string[]} heard */
export function unheard(text, heard) {
  const sentences = (/** @type {string} */ text) => text.split(/(?<=[.?!]) /);
  const known = new Set(heard.flatMap(sentences).map(letters));
  return sentences(text).filter((one) => !known.has(letters(one))).join(" ");
}
