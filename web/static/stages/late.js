// On a wall: how somebody who comes late joins, in the corner.

import { h } from "../dom.js";
import { say } from "../say.js";

/** @param {import("../types.js").State} state @param {import("../app.js").View} view */
export function late(state, view, label = say("late.come")) {
  return view.qr !== "" && h("div", { class: "late", "data-key": "late" }, h("img", { src: view.qr, alt: "", width: 124, height: 124 }), h("p", {}, h("small", {}, label), h("b", {}, state.room.code)));
}
