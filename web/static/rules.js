// The rules, as selection/rules has them: go test ./selection/rules -run TestFresh -write
// writes this file.

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {string} name
 * @property {string} hint
 * @property {string} wish what it looks for, in a sentence
 * @property {string} figure what its figure is called
 * @property {boolean} limited it is nothing without a limit
 * @property {boolean} own it counts from each player's own best
 */

/** @type {Rule[]} */
export const rules = [
  {
    id: "mean",
    name: "Lowest average",
    hint: "the best for the group as a whole",
    wish: "the lowest average ping",
    figure: "average",
    limited: false,
    own: false,
  },
  {
    id: "threshold",
    name: "Average under a limit",
    hint: "nobody over the limit, then the lowest average",
    wish: "the lowest average ping",
    figure: "average",
    limited: true,
    own: false,
  },
  {
    id: "fairness",
    name: "Fairest",
    hint: "everyone has about the same ping",
    wish: "about the same ping for everyone",
    figure: "apart",
    limited: false,
    own: false,
  },
  {
    id: "fair-threshold",
    name: "Fairest under a limit",
    hint: "nobody over the limit, then the fairest",
    wish: "about the same ping for everyone",
    figure: "apart",
    limited: true,
    own: false,
  },
  {
    id: "minimax",
    name: "Kindest to the worst off",
    hint: "the highest ping is as low as can be",
    wish: "the lowest ping for whoever is worst off",
    figure: "worst ping",
    limited: false,
    own: false,
  },
  {
    id: "least-sacrifice",
    name: "Nobody gives up much",
    hint: "what anyone gives up of their own best ping is as little as can be",
    wish: "a place for which nobody gives up much of their own best ping",
    figure: "at most given up",
    limited: false,
    own: true,
  },
  {
    id: "pairwise",
    name: "Kindest to the slowest pair",
    hint: "the two highest pings together are as low as can be: for lockstep games, voice and music",
    wish: "the lowest ping between the two who are slowest",
    figure: "slowest pair",
    limited: false,
    own: false,
  },
];

/** @param {string} id */
export function ruleOf(id) {
  return rules.find((rule) => rule.id === id);
}
