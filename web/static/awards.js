// Awards for the end of the night: facts that the room measured, never judgements.

import { inOrder } from "./people.js";

/** @typedef {import("./types.js").Played} Played */
/** @typedef {import("./types.js").Person} Person */
/** @typedef {{kind: "nearest" | "longest" | "patient" | "steady" | "home" | "first", player: string, ms?: number, km?: number, server?: string, n?: number}} Award */

/** How many awards there are at most, and the fewest km that are a long way. */
const most = 6;
const long = 500;
/** Two pings that differ by less are the same to people, ms. */
const same = 0.5;

/**
 * The awards, at most one a player. If the best of a kind has an award already, that kind has none,
 * because the second best would be no fact.
 * @param {Played[]} rounds @param {Person[]} people the players
 * @param {(round: Played, player: string) => number | undefined} kmOf how far a player is from a round's server
 * @param {{addr: string, by?: string[]}[]} favourites
 * @returns {Award[]}
 */
export function awards(rounds, people, kmOf, favourites) {
  const is = (/** @type {string} */ name) => people.some((person) => person.name === name);
  const pings = rounds.flatMap((round) => Object.entries(round.rtt_ms ?? {}).filter(([name, ms]) => is(name) && ms > 0).map(([player, ms]) => ({ player, ms, server: round.server })));
  const ways = rounds.flatMap((round) => round.players.filter(is).map((player) => ({ player, km: kmOf(round, player) ?? 0, server: round.server }))).filter(({ km }) => km >= long);
  const homes = rounds.flatMap((round) => favourites.filter(({ addr }) => addr === round.connect).flatMap(({ by = [] }) => by.filter(is)).map((player) => ({ player, server: round.server })));
  const first = inOrder(people.filter((person) => person.arrival !== undefined)).slice(0, 1);
  /** @type {Award[]} */
  const given = [];
  const give = (/** @type {Award["kind"]} */ kind, /** @type {Omit<Award, "kind">[]} */ best) => {
    const one = best.find(({ player }) => !given.some((award) => award.player === player));
    if (one && given.length < most) given.push({ kind, ...one });
  };
  give("nearest", least(pings, ({ ms }) => ms, same));
  give("longest", least(ways, ({ km }) => -km, 0));
  if (new Set(pings.map(({ player }) => player)).size > 1) give("patient", least(pings, ({ ms }) => -ms, same));
  give("steady", least(spans(pings), ({ ms }) => ms, same));
  give("home", homes);
  if (people.length > 1) give("first", first.map(({ name }) => ({ player: name })));
  return given;
}

/** How far a player's pings of a night lie apart, for players who were in all of at least two rounds. @param {{player: string, ms: number}[]} pings */
function spans(pings) {
  const players = [...new Set(pings.map(({ player }) => player))];
  const of = players.map((player) => pings.filter((one) => one.player === player).map(({ ms }) => ms));
  const all = Math.max(0, ...of.map((own) => own.length));
  if (all < 2) return [];
  return players.map((player, i) => ({ player, ms: Math.max(...of[i]) - Math.min(...of[i]), n: of[i].length })).filter(({ n }) => n === all);
}

/** Those with the least figure, and others within a tolerance of it. @template T @param {T[]} all @param {(one: T) => number} figure @param {number} tolerance @returns {T[]} */
function least(all, figure, tolerance) {
  const low = Math.min(...all.map(figure));
  return all.filter((one) => figure(one) <= low + tolerance).toSorted((a, b) => figure(a) - figure(b));
}
