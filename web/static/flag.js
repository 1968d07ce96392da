// Flags: letters of a font that Windows has not, so that it comes along, fetched where a
// flag stands. Without it two letters say the country.

import { h } from "./dom.js";

/** A country's flag, or nothing where no country is known. The country is named beside it. @param {string} [country] ISO 3166-1 alpha-2 */
export function flag(country) {
  if (!country || !/^[A-Z]{2}$/.test(country)) return false;
  const letters = [...country].map((letter) => String.fromCodePoint(0x1f1e6 + letter.charCodeAt(0) - 65)).join("");
  return h("span", { class: "flag", "aria-hidden": "true" }, letters);
}
