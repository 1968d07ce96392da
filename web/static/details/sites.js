// Places where the group could run a server of its own, and how each would do.

import { button, h } from "../dom.js";
import { heat } from "../colours.js";
import { capital, millis, said, say, told } from "../say.js";

/** @typedef {import("../types.js").State} State */

/** The result as a sentence with a capital. @param {State} state @param {boolean} [titled] a title says already that it would suit all */
export function answer(state, titled = false) {
  const whole = state.sites?.answer;
  return capital(titled && whole?.key === "sites.suit" ? say("sites.suit-titled", whole.with) : told(whole));
}

/** @param {State} state @param {boolean} [may] order what the organiser can @param {boolean} [titled] see answer */
export function sites(state, may = true, titled = false) {
  const found = state.sites;
  const again = may && state.you.organiser && (found || (state.room.candidates ?? []).length > 0) && h("p", { class: "buttons" }, button("survey", say(found ? "sites.again" : "sites.now")));
  if (!found) return [h("p", { class: "quiet" }, say("sites.not-measured")), again].filter(Boolean);
  const players = [...new Set(found.sites.flatMap((site) => [...Object.keys(site.rtt_ms), ...(site.silent ?? [])]))].sort();
  return [
    h("p", {}, answer(state, titled) || say("sites.measuring")),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": say("sites.label") },
      h(
        "table",
        { class: "by-place" },
        h("thead", {}, h("tr", {}, [say("sites.place"), say("table.average"), say("ranking.worst"), ...players].map((name) => h("th", { scope: "col" }, h("bdi", {}, name))))),
        h("tbody", {}, found.sites.map((site) => h(
          "tr",
          { "data-key": site.name, class: site.suits ? "chosen" : "" },
          h("th", { scope: "row" }, h("bdi", { class: "name" }, site.name)),
          h("td", {}, site.mean_ms > 0 ? millis(site.mean_ms) : "–"),
          h("td", {}, site.max_ms > 0 ? millis(site.max_ms) : "–"),
          players.map((player) => cell(site.rtt_ms[player])),
        ))),
      ),
    ),
    found.waiting.length > 0 && h("p", { class: "quiet" }, ...said("sites.still", { players: found.waiting })),
    again,
  ].filter(Boolean);
}

/** @param {number | undefined} ms */
function cell(ms) {
  return ms === undefined ? h("td", { class: "heat" }, "–") : h("td", { class: `heat ${heat(ms)}` }, Math.round(ms));
}
