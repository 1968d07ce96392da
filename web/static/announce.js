// What the page says to people who listen to it.

import { byId } from "./dom.js";
import { unheard } from "./stages/stages.js";
import { wallTime } from "./time.js";

/** The pause between two announcements, ms. */
const between = 3000;

/** How many sentences wait at most; older ones are dropped. */
const waits = 3;

/**
 * Makes screen readers announce what is new on the page, one thing at a time. A new sentence of the
 * stage replaces its earlier one.
 * @param {string} says the stage's sentence @param {import("./app.js").View} view
 */
export function announce(says, view) {
  const texts = [says, ...[...document.querySelectorAll("[data-say]")].map((place) => place.textContent ?? "")].filter(Boolean);
  const waiting = view.unsaid.filter((text) => text === says || text !== view.says);
  view.unsaid = [...waiting, ...texts.filter((text) => !view.said.includes(text) && !waiting.includes(text))].slice(-waits);
  [view.said, view.says] = [texts, says];
  if (view.unsaid.length === 0 || wallTime() - view.saidAt < between) return; // a later frame announces it
  const text = view.unsaid.shift() ?? "";
  const news = unheard(text, [view.read, view.titled]);
  view.read = text;
  if (news === "") return;
  byId("status").textContent = news;
  view.saidAt = wallTime();
}
