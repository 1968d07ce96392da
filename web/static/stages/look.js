// The long look: its progress, and what it shows of each line.

import { serverName } from "../choice.js";
import { h } from "../dom.js";
import { millis, said, say } from "../say.js";
import { go, headline } from "./parts.js";
import { leftUntil } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Line} Line */

/** @param {State} state */
export function looking(state) {
  const look = /** @type {import("../types.js").LongLook} */ (state.look);
  const players = state.people.filter((person) => person.peer && !person.left_out).map((person) => person.name);
  const left = Math.max(0, Math.ceil(leftUntil(state, look.until) / 1000));
  const all = (state.room.long_look_ms ?? 0) / 1000 || 1;
  return [
    headline(state),
    h(
      "section",
      { class: "long-look", "data-key": "long look" },
      h("p", { class: "left" }, left > 0 ? said("look.left", { n: left, strong: (...held) => h("strong", {}, ...held) }) : say("look.last")),
      h("progress", { max: all, value: Math.max(0, all - left), "aria-label": say("look.progress") }),
      !state.match && h( // nobody sees the others' pings there
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": say("look.so-far") },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("table.server")), players.map((name) => h("th", { scope: "col" }, h("bdi", {}, name))))),
          h("tbody", {}, look.finalists.map((one) => h("tr", { "data-key": one.addr }, h("th", { scope: "row" }, h("bdi", {}, one.name || (state.choice && serverName(state.choice, one.addr)) || one.addr)), players.map((name) => h("td", {}, seen(one.lines[name])))))),
        ),
      ),
      !state.match && h("p", { class: "quiet" }, say("look.legend")),
      state.you.organiser && h("p", { class: "buttons" }, go(state, say("look.enough"))),
    ),
  ];
}

/** @param {Line | undefined} line */
function seen(line) {
  if (!line) return "…";
  const lost = 100 * line.loss;
  return [
    h("span", { class: lost >= 2 ? "bad" : "" }, say(lost === 0 ? "look.line-whole" : "look.line", { ms: millis(line.rtt_ms), lost: lost < 10 ? lost : Math.round(lost), jitter: line.jitter_ms })),
    h("small", {}, say("look.worst", { ms: millis(line.worst_ms) })),
  ];
}
