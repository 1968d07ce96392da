// Why this server: what decided, in the host's words, and what the organiser can do.

import { serverName } from "../choice.js";
import { button, h } from "../dom.js";
import { millis, say, tell } from "../say.js";
import { isAnswer } from "../stages/over.js";

/** @typedef {import("../types.js").State} State */

/** @param {State} state */
export function why(state) {
  if (!state.choice || state.room.stage === "failed") return [];
  return [h("ul", { class: "reasons" }, state.choice.explain.map((sentence) => h("li", {}, ...tell(sentence)))), advice(state)];
}

/** The host's advice, as buttons for the organiser; the question about people over the limit has its own. @param {State} state */
export function advice(state) {
  const all = (state.choice?.advice ?? []).filter((one) => !isAnswer(state, one));
  return state.you.organiser && all.length > 0 && h("p", { class: "buttons" }, all.map((one) => button("advice", labelOf(state, one), { "data-order": one.action, "data-argument": JSON.stringify(one.argument), "data-key": `${one.action} ${one.argument.name ?? ""}` })));
}

/** What the button for an advice says. @param {State} state @param {import("../types.js").Advice} advice */
export function labelOf(state, { action, argument, addr = "", seats = 0, most = 0 }) {
  const { choice } = state;
  switch (action) {
    case "allow":
      return say("advice.allow", { limit: millis(argument.limit_ms ?? 0) });
    case "await":
      return choice && state.agreement.open ? say("advice.await-on", { n: seats, server: serverName(choice, addr) }) : say("advice.await", { n: seats });
    case "more":
      return say(most > 0 ? "advice.more-seen" : "advice.more", { n: argument.servers ?? 0, most, listed: state.room.listed });
    default:
      return say(choice?.selection.chosen ? "advice.without-pings" : "advice.without", { player: argument.name ?? "" });
  }
}
