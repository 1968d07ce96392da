// Flags. Windows has no font with these letters, so the page brings one, loaded where a flag
// appears. Without it, two letters name the country.

import { h } from "./dom.js";

/** A country's flag, or nothing if the country is unknown. The country's name is next to it. @param {string} [country] ISO 3166-1 alpha-2 */
export function flag(country) {
  if (!country || !/^[A-Z]{2}$/.test(country)) return false;
  const letters = [...country].map((letter) => String.fromCodePoint(0x1f1e6 + letter.charCodeAt(0) - 65)).join("");
  return h("span", { class: "flag", "aria-hidden": "true" }, letters);
}
