// The choice of the page's language, for readers whose browser asks for another one.

import { h, svg } from "./dom.js";
import { language, languages, say, speak } from "./say.js";

/** Shows the languages in a place, if there are several. @param {HTMLElement} place */
export function offerLanguages(place) {
  const choice = languageChoice("language");
  place.hidden = choice.children.length < 2;
  if (!place.hidden) place.replaceChildren(h("p", { class: "language" }, globe(), choice));
}

/** The choice of the language, each by its own name. @param {string} id */
export function languageChoice(id) {
  const offered = [...new Set([language, ...languages])].map((tag) => ({ tag, name: nameOf(tag) })).toSorted((a, b) => a.name.localeCompare(b.name));
  const select = h("select", { id, "aria-label": say("page.language"), "data-waits": true }, offered.map(({ tag, name }) => h("option", { value: tag, lang: tag, dir: "auto", selected: tag === language }, name)));
  select.addEventListener("change", () => speak(/** @type {HTMLSelectElement} */ (select).value));
  // A gamepad that only came by has chosen nothing.
  select.addEventListener("blur", () => (/** @type {HTMLSelectElement} */ (select).value = language));
  return select;
}

/** A language's name in itself, as a list shows it: “Deutsch”, “Français”. @param {string} tag */
function nameOf(tag) {
  const name = new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag;
  const [first = ""] = name;
  return first.toLocaleUpperCase(tag) + name.slice(first.length);
}

/** Readers who do not know the page's language find its choice by a sign. */
function globe() {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("circle", { cx: 12, cy: 12, r: 9.5 }), svg("ellipse", { cx: 12, cy: 12, rx: 4.2, ry: 9.5 }), svg("path", { d: "M2.5 12h19M4 7.2h16M4 16.8h16" }));
}
