// The search: who is winning, and where.

import { duration, h } from "../dom.js";
import { rtts, verdict } from "../choice.js";
import { gameName } from "../gather.js";
import { next } from "../next.js";
import { go, headline, outlook } from "./parts.js";

/** @typedef {import("../types.js").State} State */

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function search(live, _view) {
  const state = /** @type {State} */ (live.state);
  switch (state.room.stage) {
    case "listing":
      return [headline(state), h("p", { class: "wait" }, "The host asks the masters who is out there …")];
    case "chosen":
      return [...verdict(state), next(state), outlook(state), rtts(state)];
    default:
      return measuring(live, state);
  }
}

/** Once the children are on the page: for canvases, which a node with data-keep holds. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}

/** @param {import("../live.js").Live} live @param {State} state */
function measuring(live, state) {
  const players = state.people.filter((person) => person.peer && !person.left_out);
  const asked = players.reduce((sum, person) => sum + person.probed, 0);
  const limit = Math.max(0, ...state.room.limits_ms) || 200;
  const near = players.reduce((sum, person) => sum + live.clouds.of(person.name).near(limit), 0);
  return [
    h("p", { class: "eyebrow" }, h("bdi", {}, gameName(state))),
    headline(state),
    outlook(state),
    next(state),
    h("dl", { class: "numbers" }, figure("servers", state.room.listed), figure("asked so far", asked), figure(`within ${limit} ms`, near), figure("passed", duration(live.elapsed()))),
    state.you.organiser && h("p", { class: "buttons" }, go(state, "Choose from what there is")),
  ];
}

/** @param {string} name @param {number | string} value */
function figure(name, value) {
  return h("div", {}, h("dd", {}, typeof value === "number" ? value.toLocaleString("en") : value), h("dt", {}, name));
}
