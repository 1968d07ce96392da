// Figures that count to their new value.

import { h } from "./dom.js";
import { counted } from "./stages/pace.js";
import { nextFrame, runTime } from "./time.js";

/** An element with a whole number, which counts up or down to its newest value. This module writes its text. @param {number} value @param {string} [name] its class */
export function figure(value, name) {
  return h("b", { class: name, "data-keep": "", "data-count": Math.round(value) }, Math.round(value));
}

/** The figures that are counting: from, to, and since when. @type {Map<Element, {from: number, to: number, since: number}>} */
const counting = new Map();
/** The last value that each was given. @type {WeakMap<Element, number>} */
const told = new WeakMap();

/** Starts counting the figures of a place to their current values. @param {HTMLElement} place */
export function count(place) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const figure of place.querySelectorAll("[data-count]")) {
    const to = Number(figure.getAttribute("data-count"));
    const before = told.get(figure);
    told.set(figure, to);
    if (before === undefined || before === to) continue;
    const begins = counting.size === 0;
    counting.set(figure, { from: isStill ? to : Number(figure.textContent), to, since: runTime() });
    if (begins) nextFrame(go);
  }
}

function go() {
  const now = runTime();
  for (const [figure, { from, to, since }] of counting) {
    const shown = counted(from, to, now - since);
    figure.textContent = String(shown);
    if (shown === to || !figure.isConnected) counting.delete(figure);
  }
  if (counting.size > 0) nextFrame(go);
}
