// The rules, as selection/rules has them: go test ./selection/rules -run TestFresh -write
// writes this file.

import { say } from "./say.js";

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {boolean} limited it is nothing without a limit
 * @property {boolean} own it counts from each player's own best
 * @property {boolean} sides it compares two sides
 */

/** @type {Rule[]} */
export const rules = [
  { id: "mean", limited: false, own: false, sides: false },
  { id: "threshold", limited: true, own: false, sides: false },
  { id: "fairness", limited: false, own: false, sides: false },
  { id: "fair-threshold", limited: true, own: false, sides: false },
  { id: "minimax", limited: false, own: false, sides: false },
  { id: "least-sacrifice", limited: false, own: true, sides: false },
  { id: "pairwise", limited: false, own: false, sides: false },
  { id: "even-sides", limited: false, own: false, sides: true },
];

/** @param {string} id */
export function ruleOf(id) {
  return rules.find((rule) => rule.id === id);
}

/**
 * What the page says of a rule: its name, a hint beside it, what it looks for, or what its figure is
 * called.
 * @param {string} id @param {"name" | "hint" | "wish" | "figure"} what
 */
export function saidOf(id, what) {
  return ruleOf(id) ? say(`rule.${id}.${what}`) : id;
}
