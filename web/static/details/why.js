// Why this server: what decided, in the host's words.

import { h } from "../dom.js";

/** @param {import("../types.js").State} state */
export function why(state) {
  if (!state.choice || state.room.stage === "failed") return [];
  return [h("ul", { class: "reasons" }, state.choice.explain.map((sentence) => h("li", {}, h("bdi", { dir: "ltr" }, sentence))))];
}
