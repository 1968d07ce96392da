// The stage that the page shows, and its name.

import { nameOnly } from "../choice.js";
import { h } from "../dom.js";
import { locale, say } from "../say.js";
import { standing, votes } from "./ballot.js";
import { headline } from "./wait.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {"door" | "lobby" | "search" | "reveal" | "vote" | "ban" | "countdown" | "go" | "seats" | "failed" | "night" | "ask" | "placed"} Stage those of places/ come last */

/**
 * What the page knows about the round besides its state: the round whose search or vote it showed,
 * and the round whose reveal is over. A person who comes later sees no reveal.
 * @typedef {{searched: number, revealed: number}} Seen
 */

/** The stage of each phase; a match has its own search and its own vote. @type {Record<string, Stage>} */
const stages = { gathering: "lobby", verifying: "search", voting: "vote", banning: "ban", reveal: "reveal", countdown: "countdown", launching: "go", failed: "failed" };

/** The stage for the page. @param {State} state @param {Seen} seen @returns {Stage} */
export function stageOf(state, seen) {
  const { room, phase } = state;
  if (room.ended) return "night";
  if (phase.name === "launching" && state.choice && seen.searched === room.round && seen.revealed !== room.round) return "reveal"; // of a room without a countdown, while games open
  if (phase.name === "waiting") return state.seats?.launch_at ? "countdown" : "seats";
  return stages[phase.name] ?? "search";
}

const steps = ["lobby", "search", "vote", "go"];
const stepsOfMatch = ["lobby", "search", "ban", "go"];

/** The round's way, as steps. @param {State} state @param {Stage} stage */
export function way(state, stage) {
  const decided = state.room.stage === "waiting" ? "search" : state.match ? "go" : state.agreement.launch_at && votes(state) ? "vote" : "go"; // a reveal is a moment, not a place
  const at = { failed: "search", seats: "search", countdown: decided, reveal: decided, placed: "go" }[/** @type {string} */ (stage)] ?? stage;
  const shown = state.match ? stepsOfMatch : steps.filter((id) => id !== "vote" || votes(state));
  const now = shown.indexOf(at);
  return shown.map((id, i) => h("li", { class: i < now ? "past" : i === now ? "now" : "", "aria-current": i === now ? "step" : undefined, "data-id": id }, say(`steps.${id}`)));
}

/** One sentence that says where the room stands, for screen readers. @param {State} state */
export function sentence(state) {
  const { room, people, phase } = state;
  const players = people.filter((person) => person.peer && person.connected).length;
  if (room.ended) return say(state.meeting ? "stage.sleeps" : "stage.night");
  switch (phase.name) {
    case "gathering":
      return room.players > 0 ? say("stage.awaited", { n: Math.max(0, room.players - players) }) : say("stage.here", { n: players });
    case "listing":
      return say("stage.listing");
    case "measuring":
      return say("stage.measuring");
    case "coordinating":
      return say("stage.refining");
    case "verifying":
      return say("stage.verifying");
    case "voting":
      return `${say("vote.where")} ${standing(state)}`;
    case "banning":
      if (!state.match?.turn?.captain || state.match.turn.kind === "object") return say("match.stage-none");
      return state.match.turn.captain === state.you.name ? say(`match.you.${state.match.turn.kind}`) : say(`match.captain.${state.match.turn.kind}`, { player: state.match.turn.captain });
    case "reveal":
    case "countdown":
      return say("stage.countdown");
    case "launching":
      return state.way ? say("stage.go", { server: nameOnly(state.way.server) }) : say("stage.launching");
    case "waiting":
      return state.seats ? headline(state.seats) : say("stage.waiting");
    case "failed":
      return say(state.seats ? "stage.no-seats" : "stage.no-server");
    default:
      return phase.name;
  }
}

/** The letters of a sentence, for comparing it with announced ones. @param {string} text */
const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, "");

/** Created once, because that takes longer than hundreds of uses. @type {Intl.Segmenter | undefined} */
let splitter;

/** Unicode sees no end before a small letter, not even in “No votes yet. 1 of 2 is ready.” @param {string} text */
function sentencesOf(text) {
  splitter ??= new Intl.Segmenter(locale, { granularity: "sentence" });
  return [...splitter.segment(text)].flatMap(({ segment }) => segment.split(/(?<=[.?!] )/));
}

/** The sentences of a text that are in none of the announced ones. @param {string} text @param {string[]} heard */
export function unheard(text, heard) {
  const known = new Set(heard.flatMap(sentencesOf).map(letters));
  return sentencesOf(text).filter((one) => !known.has(letters(one))).join("").trim();
}
