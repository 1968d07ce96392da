// The log, and what the session has played so far.

import { nameOnly } from "../choice.js";
import { h, millis } from "../dom.js";
import { tell } from "../say.js";

/** @param {import("../types.js").State} state */
export function log(state) {
  const notes = state.log.toReversed();
  return [
    h("ol", { class: "log", "aria-label": "What the host decides, newest first", tabindex: 0 }, notes.map((note, i) => h("li", { "data-key": `${note.at} ${notes.length - i}` }, h("time", { datetime: note.at }, clock(note.at)), h("bdi", { dir: "auto" }, ...tell(note))))),
  ];
}

/** Created once, because that takes longer than hundreds of uses. @type {Intl.DateTimeFormat | undefined} */
let clocks;

/** @param {string} at */
export function clock(at) {
  clocks ??= new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return clocks.format(new Date(at));
}

/** @param {import("../types.js").State} state */
export function evening(state) {
  const played = state.evening ?? [];
  if (played.length === 0) return [];
  return [
    h(
      "ol",
      { class: "evening" },
      played.toReversed().map((round, i) => h(
        "li",
        { "data-key": String(round.round) },
        h("span", { class: "quiet" }, `Round ${played.length - i}, ${clock(round.at).slice(0, 5)}`),
        h("strong", {}, h("bdi", {}, nameOnly(round.server))),
        h("span", {}, h("bdi", {}, [round.map, `${millis(round.mean_ms)} on average`, round.players.join(", ")].filter(Boolean).join(" · "))),
      )),
    ),
  ];
}
