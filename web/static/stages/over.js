// People over the limit: the question to the organiser, what such a person reads, and whom that
// concerns. The vote, the reveal, the countdown and the way into the game show it.

import { button, h } from "../dom.js";
import { millis, said, say } from "../say.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Advice} Advice */

/** Whether an advice answers the question: a higher limit for a choice that stands, or to go without somebody whom it leaves out anyway. @param {State} state @param {Advice} advice */
export function isAnswer(state, { action, argument }) {
  if (!state.choice?.selection.chosen) return false;
  return action === "allow" || (action === "without" && state.people.some((person) => person.name === argument.name && person.left_out));
}

/** Whether the organiser can still answer. @param {State} state */
export const isAsked = (state) => Boolean(state.choice?.advice?.some((one) => isAnswer(state, one)));

/** What the reader is asked or told. @param {State} state @param {import("../app.js").View} view */
export function over(state, view) {
  if (view.tv || !state.choice?.over) return false;
  return question(state, state.choice.over) || told(state, state.choice.over);
}

/** The question, with both answers. @param {State} state @param {NonNullable<import("../types.js").Choice["over"]>} at */
function question(state, at) {
  const answers = (state.choice?.advice ?? []).filter((one) => isAnswer(state, one) && (one.action === "allow" || at.rtt_ms[one.argument.name ?? ""] > 0));
  const players = answers.flatMap(({ argument }) => argument.name ?? []);
  if (!state.you.organiser || players.length === 0 || players.length === answers.length) return false;
  const most = Math.max(...players.map((name) => at.rtt_ms[name]));
  return h(
    "div",
    { class: "over-limit", "data-key": "over-limit" },
    h("p", {}, ...said("over.question", { players, n: players.length, ms: millis(most), over: millis(most - at.limit_ms), limit: millis(at.limit_ms) })),
    answers.map(({ action, argument }) => button("advice", argument.name ? say("advice.without", { player: argument.name }) : say("over.along", { players, limit: millis(argument.limit_ms ?? 0) }), { "data-order": action, "data-argument": JSON.stringify(argument), "data-key": `${action} ${argument.name ?? ""}` })),
  );
}

/** What a person over the limit reads: by how much, and what they can do. @param {State} state @param {NonNullable<import("../types.js").Choice["over"]>} at */
function told(state, at) {
  const me = state.you.name ?? "";
  const ms = at.rtt_ms[me];
  if (ms === undefined) return false;
  const mayAsk = (state.choice?.advice ?? []).some((one) => one.argument.name === me && isAnswer(state, one));
  return h("div", { class: "over-limit", "data-key": "over-limit" }, h("p", {}, ...said("over.you", { ms: millis(ms), over: millis(ms - at.limit_ms), limit: millis(at.limit_ms) }), " ", ...said(mayAsk ? "over.you-ask" : "over.you-go")));
}
