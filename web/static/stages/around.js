// The players around a server: the last picture of the reveal's map, small and without motion. It
// uses the space that is left, and is absent if there is none.

import { h } from "../dom.js";
import { isEstimated, ping } from "../estimate.js";
import { placeOf } from "../map/world.js";
import { moments, seenAt } from "./moment.js";
import { nextFrame } from "../time.js";

/** @typedef {import("../types.js").State} State */

/** What each drawn map shows. @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/** The players with a ping to a server, nearest first. At a place nobody is out yet, so all signs are whole there. @param {State} state @param {import("../types.js").Ranked | null | undefined} ranked */
export function spokesOf(state, ranked) {
  const { choice } = state;
  if (!choice || !ranked) return [];
  return Object.entries(ranked.rtt_ms)
    .flatMap(([name, ms]) => {
      const person = state.people.find((one) => one.name === name);
      const isGuess = isEstimated(choice.selection, name);
      return person ? [{ person: isGuess && state.places ? { ...person, peer: true, connected: true } : person, ms, isGuess, text: ping(choice.selection, name, Math.max(1, Math.round(ms))) }] : [];
    })
    .toSorted((a, b) => a.ms - b.ms || a.person.name.localeCompare(b.person.name));
}

/** Where a server is: its country, or the position of a place. @param {State} state @param {string | undefined} addr @returns {string | import("../map/world.js").Country | undefined} */
export function whereOf({ choice, places }, addr = "") {
  const country = choice?.servers[addr]?.country;
  const place = places?.candidates.find(({ at }) => at === addr);
  const about = placeOf(country);
  return about && place && (place.lat || place.lon) ? { ...about, lat: place.lat ?? 0, lon: place.lon ?? 0 } : country;
}

/** A place for a server's map. The words next to it say everything that it shows. @param {string} addr */
export function around(addr) {
  return h("div", { class: "around", "data-key": `around ${addr}`, "data-addr": addr, "aria-hidden": "true" }, h("div", { class: "turning", "data-keep": true }));
}

/**
 * Draws the visible maps that are not yet drawn. Each gets a frame of its own, because five at once
 * would block the page.
 * @param {HTMLElement} place @param {State} state
 */
export function drawAround(place, state) {
  if (!place.isConnected) return;
  for (const box of place.querySelectorAll(".around")) {
    const addr = box.getAttribute("data-addr") ?? "";
    const spokes = spokesOf(state, state.choice?.selection.ranking.find((one) => one.addr === addr) ?? state.choice?.selection.chosen);
    const where = whereOf(state, addr);
    const shows = JSON.stringify([where, spokes.map(({ person, text }) => [person.name, person.arrival, person.country, person.connected, text]), matchMedia("(prefers-color-scheme: dark)").matches]);
    const turning = box.firstElementChild;
    if (!(turning instanceof HTMLElement) || drawn.get(turning) === shows || !turning.checkVisibility()) continue;
    drawn.set(turning, shows);
    void import("../map/turn.js").then(
      ({ Turn }) => nextFrame(() => {
        if (drawn.get(turning) === shows) new Turn(turning, where, spokes, { says: "none" }).show(seenAt(moments.over, spokes.length));
        drawAround(place, state); // the next one
      }),
      () => drawn.delete(turning),
    );
    return;
  }
}
