// How fast the search's stage changes: pure functions of the host's news and of what the stage
// showed before.

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Leader} Leader */

/** The shortest time between two changes of places, ms. */
const swapEvery = 1000;

/** The leaders on the podium, and since when they have these places, ms. @typedef {{round: number, leaders: Leader[], since: number}} Podium */

/**
 * The podium now. Places change at most once a second, so that people can follow. Until then
 * everything stays, so that figures and places belong to the same moment.
 * @param {Podium} before @param {number} round @param {Leader[]} leaders the host's leaders @param {number} now ms
 * @returns {Podium}
 */
export function podium(before, round, leaders, now) {
  const isNew = before.round !== round;
  const isSwap = before.leaders.some(({ id }, i) => leaders[i]?.id !== id);
  if (isSwap && !isNew && now - before.since < swapEvery) return before;
  return { round, leaders, since: isSwap || isNew ? now : before.since };
}

/** How many servers a player asks at most if the host coordinates the search. */
const budget = 650;

/** The share of their servers that a player has asked, from 0 to 1. @param {State} state @param {Person} person */
export function share(state, person) {
  const { strategy, listed } = state.room;
  return person.done ? 1 : Math.min(1, person.probed / Math.max(1, strategy === "coordinated" ? Math.min(budget, listed) : listed));
}

/** How long a figure counts to its new value, ms. */
const counts = 280;

/** What a figure shows while it counts. @param {number} from @param {number} to @param {number} ms since it set out */
export function counted(from, to, ms) {
  const part = Math.min(1, Math.max(0, ms / counts));
  return Math.round(from + (to - from) * (1 - (1 - part) ** 3));
}
