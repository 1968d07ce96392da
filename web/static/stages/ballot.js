// The vote, derived from the state of the room.

import { countryName, serverName } from "../choice.js";
import { h } from "../dom.js";
import { isEstimated } from "../estimate.js";
import { hasSay } from "../people.js";
import { locale, said, say } from "../say.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Ranked} Ranked */
/** @typedef {import("../types.js").Server} Server */

/**
 * @typedef {object} Candidate a server on the ballot
 * @property {number} number its number, here and in the terminal
 * @property {Ranked} ranked
 * @property {Server | undefined} server
 * @property {string} name
 * @property {Person[]} voters
 * @property {boolean} leads
 */

/** How many players must have the page open for a vote, unless somebody has decided about it. */
const enoughPages = 2;

/** @param {State} state @returns {Candidate[]} */
export function candidatesOf(state) {
  const { choice, agreement } = state;
  if (!choice) return [];
  return agreement.ballot.flatMap((addr, i) => {
    const ranked = choice.selection.ranking.find((one) => one.addr === addr);
    return ranked ? [{ number: agreement.numbers?.[i] ?? i + 1, ranked, server: choice.servers[addr], name: serverName(choice, addr), voters: state.people.filter((person) => person.vote === addr), leads: choice.target === addr }] : [];
  });
}

/** The players and the guests who are counted in, in the order of arrival. @param {State} state */
export function playersOf(state) {
  const counted = state.choice?.selection.players ?? [];
  return state.people.filter((person) => person.peer || counted.includes(person.name)).toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0));
}

/** A person's ping to a server, with its unit in a tag of its own if there is one. @param {State} state @param {{rtt_ms: Record<string, number>}} ranked @param {Person} person @param {import("../say.js").Tag} [small] */
export function pingOf(state, ranked, person, small) {
  const ms = ranked.rtt_ms[person.name];
  if (ms === undefined) return said("ping.none");
  const figure = said("unit.big-ms", { n: Math.round(ms), ...(small && { small }) });
  return state.choice && isEstimated(state.choice.selection, person.name) ? said("unit.guess", { ms: h("span", {}, ...figure) }) : figure;
}

/** The people for whose vote the countdown waits. @param {State} state */
export function awaitedOf(state) {
  return state.people.filter((person) => hasSay(state, person) && (person.page || person.asked || person.ready));
}

/** Whether this round has a vote, as far as is known. @param {State} state */
export function votes(state) {
  return state.room.agree ?? (state.agreement.open || state.people.filter((person) => person.peer && person.page).length >= enoughPages);
}

/** How the vote stands, in a sentence or two. @param {State} state */
export function standing(state) {
  const leader = candidatesOf(state).find((one) => one.leads);
  const awaited = awaitedOf(state);
  const ready = awaited.filter((person) => person.ready).length;
  const where = leader?.server?.country ? countryName(leader.server.country) : say("vote.number", { n: leader?.number ?? 0 });
  const n = leader?.voters.length ?? 0;
  const leads = leader && (n > 0 ? say("vote.leads", { where: where.charAt(0).toLocaleUpperCase(locale) + where.slice(1), n }) : say("vote.none"));
  return [leads, awaited.length > 0 && say("vote.ready", { ready, all: awaited.length })].filter(Boolean).join(" ");
}
