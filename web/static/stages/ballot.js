// The vote, derived from the state of the room.

import { countryName, serverName } from "../choice.js";
import { h } from "../dom.js";
import { isEstimated } from "../estimate.js";
import { hasSay, inOrder } from "../people.js";
import { locale, millis, said, say } from "../say.js";
import { shortened } from "../sign.js";

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

/**
 * @typedef {object} Pick a card of the vote: a candidate, or the place of one that is gone
 * @property {string} addr
 * @property {string} kind what it is the best in
 * @property {import("../types.js").Option} option
 * @property {Candidate | undefined} candidate
 */

/** The longest name in a sentence, in letters. */
const longestName = 10;

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

/**
 * The cards of the vote, in an order that stays: the choices that differ, and other servers that have
 * votes. If only one is left, all candidates have a card, because there is a vote nevertheless.
 * @param {State} state @returns {Pick[]}
 */
export function picksOf(state) {
  const all = candidatesOf(state);
  const options = state.agreement.choices ?? [];
  const of = (/** @type {import("../types.js").Option} */ option) => ({ addr: option.addr, kind: option.kind, option, candidate: all.find((one) => one.ranked.addr === option.addr) });
  const picks = options.map(of).filter(({ option, candidate }) => candidate || option.gone);
  const isAlone = picks.filter(({ candidate }) => candidate).length < 2;
  const special = specialOf(state);
  if (special.length === 1) for (const pick of picks) if (pick.addr === special[0].addr) pick.kind = "best";
  const others = all.filter((one) => !options.some(({ addr }) => addr === one.ranked.addr) && (isAlone || one.voters.length > 0));
  return [...picks, ...others.toSorted((a, b) => a.number - b.number).map((one) => of({ addr: one.ranked.addr, kind: options.length > 0 ? "also" : "" }))];
}

/** The choices that differ from all others. @param {State} state */
export const specialOf = (state) => (state.agreement.choices ?? []).filter(({ kind, gone }) => !gone && kind !== "also");

/** What a choice gains and costs, in a sentence or two. @param {State} state @param {Pick} pick @param {boolean} isOurs the room's own */
export function tradeOf(state, { option, kind }, isOurs) {
  const players = (state.choice?.selection.players ?? playersOf(state)).length; // people who are left out have no part in it
  const { gain_ms = 0, players: n = players, payer = "", cost_ms = 0 } = option;
  const by = (state.lists?.favourites ?? []).find((one) => one.addr === option.addr)?.by ?? [];
  const gain = kind === "ours" && by.length > 0 ? said("pick.gain.ours-of", { players: by }) : option.kind !== "also" && kind !== "" ? said(`pick.gain.${option.kind}`, { n, all: players, ms: millis(gain_ms) }) : [];
  if (payer === "") return gain;
  const you = payer === state.you.name ? "-you" : "";
  return [...gain, " ", ...said(`${isOurs ? "pick.pays" : "pick.costs"}${you}`, { player: h("b", {}, h("bdi", { dir: "auto" }, shortened(payer, longestName))), ms: millis(cost_ms) })];
}

/** The players and the guests who are counted in, in the order of arrival. @param {State} state */
export function playersOf(state) {
  const counted = state.choice?.selection.players ?? [];
  return inOrder(state.people.filter((person) => person.peer || counted.includes(person.name)));
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

/** Names more people than this are a crowd. */
const few = 2;

/** Who has not voted yet, or how many have voted; nothing once all have. @param {State} state */
export function unvoted(state) {
  const awaited = awaitedOf(state);
  const names = awaited.filter((person) => !person.vote).map(({ name }) => name);
  if (names.length === 0 || names.length === awaited.length) return [];
  return names.length <= few ? said("pick.not-voted", { players: names, n: names.length }) : said("pick.voted", { voted: awaited.length - names.length, all: awaited.length });
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
