// What the page of a room needs that looks for a place. It loads once the page knows that the room does,
// with its sentences and its style.
//
//	gathering, measuring ──▶ ask: the reader has yet to answer, or measures
//	                     └─▶ search
//	vote                ───▶ the vote of servers
//	launching           ───▶ placed, until somebody gives the server's address

import { h } from "../dom.js";
import { learn, say } from "../say.js";
import * as asks from "./ask.js";
import { agree, decline, isAsked, isMeasuring, isOpen, ownOf } from "./own.js";
import * as placed from "./placed.js";
import * as searches from "./search.js";

export { notice } from "./own.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../live.js").Live} Live */
/** @typedef {import("../app.js").View} View */

/** @type {Partial<Record<import("../stages/stages.js").Stage, import("../app.js").Drawn>>} */
export const stages = {
  ask: { draw: asks.asking, shown: asks.shown, says: asks.says },
  search: { draw: searches.search, shown: searches.shown, says: searches.says },
  placed: { draw: placed.placed, shown: placed.shown, says: placed.says },
};

/** Loads a style sheet, and waits for it. @param {string} name beside this file */
export function styled(name) {
  return new Promise((done) => {
    const link = h("link", { rel: "stylesheet", href: new URL(name, import.meta.url).href });
    link.onload = link.onerror = done;
    document.head.append(link);
  });
}

/** Loads the sentences and the style. */
export const ready = () => Promise.all([learn("places/"), styled("places.css")]);

/** The room's stage while it looks for a place, if it has one of its own. @param {State} state @param {View} view @returns {import("../stages/stages.js").Stage | undefined} */
export function stageOf(state, view) {
  if (state.room.ended || !state.places) return undefined;
  if (state.way?.place) return "placed";
  if (!isOpen(state) || (view.tv && state.phase.name === "gathering")) return undefined;
  return isMeasuring(state, view) || isAsked(state, view) ? "ask" : "search";
}

/** Where the room stands, in a sentence, if it is about a place. @param {State} state */
export function sentence(state) {
  if (state.room.ended || !state.places) return undefined;
  if (state.way?.place && state.way.connect) return say("stage.go", { server: state.way.place.name });
  if (state.way?.place) return say("souvenir.host-in", { place: state.way.place.name });
  return isOpen(state) ? say("place.looking") : state.phase.name === "voting" ? say("place.title") : undefined;
}

/** The actions of the buttons here. @param {Live} live @param {View} view @returns {Record<string, () => unknown>} */
export const actions = (live, view) => ({
  measure: () => agree(live, view),
  "not-now": () => decline(live, view),
  "set-up": () => ((ownOf(view).isSettingUp = true), view.changed()),
  "set-down": () => ((ownOf(view).isSettingUp = false), view.changed()),
});

/** What is done with the form here, if that was sent. @param {HTMLFormElement} form @param {Live} live @param {View} view */
export const submit = (form, live, view) => (form.dataset.submit === "measure" ? agree(live, view) : undefined);
