// What stages share.

import { button, h } from "../dom.js";
import { say } from "../say.js";
import { sentence } from "./stages.js";

/** @typedef {import("../types.js").State} State */

/**
 * The organiser's word. It is meant for what stands there when it is given: the
 * room may have gone on.
 * @param {State} state @param {string} label @param {Record<string, string | boolean>} [attributes]
 */
export function go(state, label, attributes) {
  return button("go", label, { "data-stage": state.room.stage, "data-key": `go ${state.room.stage}`, ...attributes });
}

/** @param {State} state */
export function headline(state) {
  return h("h1", { class: "headline" }, sentence(state));
}

/** How far a search is that the host coordinates. @param {State} state */
export function outlook(state) {
  return state.room.outlook && h("p", { class: "about", id: "outlook" }, state.room.outlook.charAt(0).toUpperCase() + state.room.outlook.slice(1) + ".");
}

/** The next round. @param {State} state */
export function again(state, label = say("go.next")) {
  const over = state.room.stage === "launching" || state.room.stage === "failed";
  return state.you.organiser && over && h("p", { class: "buttons" }, go(state, label, { class: state.room.stage === "failed" ? "primary" : "" }));
}
