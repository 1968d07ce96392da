// Shared by the stages.

import { button, h } from "../dom.js";
import { capital, say, told } from "../say.js";
import { sentence } from "./stages.js";

/** @typedef {import("../types.js").State} State */

/** A phone that lies on its side. Its stages have two columns. */
export const onItsSide = "(min-width: 40rem) and (max-height: 32rem)";

/**
 * A button for the organiser. Its order names the stage on the page, because the room may have
 * moved on.
 * @param {State} state @param {string} label @param {Record<string, string | boolean>} [attributes]
 */
export function go(state, label, attributes) {
  return button("go", label, { "data-stage": state.room.stage, "data-key": `go ${state.room.stage}`, ...attributes });
}

/** @param {State} state */
export function headline(state) {
  return h("h1", { class: "headline" }, sentence(state));
}

/** The forecast of a search that the host coordinates. @param {State} state */
export function outlook(state) {
  return state.room.outlook && h("p", { class: "about", id: "outlook" }, capital(told(state.room.outlook)));
}

/** A button for the next round. @param {State} state @param {string} [label] @param {Record<string, string>} [attributes] */
export function again(state, label = say("go.next"), attributes = {}) {
  const over = state.room.stage === "launching" || state.room.stage === "failed";
  return state.you.organiser && over && h("p", { class: "buttons", "data-key": "again" }, go(state, label, attributes));
}
