// No server for everyone this time: why, and what helps.

import { advice } from "../details/why.js";
import { h } from "../dom.js";
import { settings } from "../gather.js";
import { next } from "../next.js";
import { again, headline } from "./parts.js";

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function failed(live, _view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  const why = state.choice?.explain ?? [state.log.at(-1)?.text ?? ""];
  return [
    headline(state),
    h("ul", { class: "reasons" }, why.map((text) => h("li", {}, h("bdi", { dir: "ltr" }, text)))),
    advice(state),
    next(state),
    again(state, "Try again"),
    h("section", { id: "settings", class: "card", "data-key": "settings" }, settings(state)),
  ];
}

/** Once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} _live @param {import("../app.js").View} _view */
export function shown(_place, _live, _view) {}
