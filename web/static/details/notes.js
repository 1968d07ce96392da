// The log, and what the session has played so far.

import { nameOnly } from "../choice.js";
import { h } from "../dom.js";
import { nameOfGame } from "../form.js";
import { clock, millis, said, say, tell, time } from "../say.js";

/** @param {import("../types.js").State} state */
export function log(state) {
  const notes = state.log.toReversed();
  return [
    h("ol", { class: "log", "aria-label": say("log.label"), tabindex: 0 }, notes.map((note, i) => h("li", { "data-key": `${note.at} ${notes.length - i}` }, h("time", { datetime: note.at }, clock(new Date(note.at))), h("bdi", { dir: "auto" }, ...tell(named(state, note)))))),
  ];
}

/** A note with the game's name instead of its id. @param {import("../types.js").State} state @param {import("../types.js").Sentence} note @returns {import("../types.js").Sentence} */
function named(state, note) {
  const game = note.with?.game;
  return typeof game === "string" ? { ...note, with: { ...note.with, game: nameOfGame(state, game) } } : note;
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
        h("span", { class: "quiet" }, say("night.round-at", { n: played.length - i, at: time(new Date(round.at)) })),
        h("strong", {}, round.place ? said("souvenir.host-in", { place: round.server }) : h("bdi", {}, nameOnly(round.server))),
        h("span", {}, h("bdi", {}, [round.map, say("ping.on-average", { ms: millis(round.mean_ms) }), say("list.of", { items: round.players })].filter(Boolean).join(" · "))),
      )),
    ),
  ];
}
