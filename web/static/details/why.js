// Why this server: what decided, in the host's words, and what the organiser can do.

import { button, h } from "../dom.js";
import { tell } from "../say.js";

/** @param {import("../types.js").State} state */
export function why(state) {
  if (!state.choice || state.room.stage === "failed") return [];
  return [h("ul", { class: "reasons" }, state.choice.explain.map((sentence) => h("li", {}, ...tell(sentence)))), advice(state)];
}

/** The host's advice, as buttons for the organiser. @param {import("../types.js").State} state */
export function advice(state) {
  const all = state.choice?.advice ?? [];
  return state.you.organiser && all.length > 0 && h("p", { class: "buttons" }, all.map((one) => button("advice", one.text.charAt(0).toUpperCase() + one.text.slice(1), { "data-order": one.action, "data-argument": JSON.stringify(one.argument), "data-key": one.text })));
}
