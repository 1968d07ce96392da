// The players' colours. Colour-blind people can tell them apart, they are the same everywhere on
// the page, and a name always accompanies them.

/** How many there are; the next player gets the first again. */
const hues = 16;

/**
 * The colour class of a person, by their place in the order of arrival.
 * @param {import("./types.js").Person[]} people @param {string} name
 */
export function colourOf(people, name) {
  return `p${(people.find((person) => person.name === name)?.arrival ?? 0) % hues}`;
}

/** The CSS colour of a class or a variable, for canvases. @param {string} name */
export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A colour in the format of an image's pixels: little endian ABGR. @param {string} colour #rrggbb @param {number} opacity from 0 to 1 */
export function packed(colour, opacity) {
  const n = parseInt(colour.trim().slice(1), 16);
  return ((Math.round(255 * opacity) << 24) | ((n & 0xff) << 16) | (n & 0xff00) | (n >> 16)) >>> 0;
}

/**
 * The class of an RTT's cell, from heat0, good, to heat6, bad. The colours run from blue to yellow
 * in even steps of lightness, and the cell also shows the number.
 * @param {number} ms
 */
export function heat(ms) {
  const steps = [25, 50, 80, 120, 180, 260];
  const step = steps.findIndex((limit) => ms <= limit);
  return `heat${step < 0 ? steps.length : step}`;
}
