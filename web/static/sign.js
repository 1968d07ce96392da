// Players' signs: a shape and a colour by the order of arrival, with the initial in it. They stay
// the same for the whole session. Colours alone cannot distinguish sixteen players, or any players
// for a person who sees only grey, but shapes can.
//
//	circle  triangle square  diamond  hexagon star  plus  drop
//	shield  clover   pentagon leaf    arch    burst wedge slant

import { svg } from "./dom.js";

/** @typedef {import("./types.js").Person} Person */

/**
 * The signs in order, each in a box of 100 × 100. Some extend beyond it, so that all look equally
 * large. y and letter are the position and the size of the initial, in percent of the box.
 * @type {{name: string, d: string, y?: number, letter?: number}[]}
 */
export const signs = [
  { name: "circle", d: "M50 6a44 44 0 1 1 0 88a44 44 0 1 1 0-88Z" },
  { name: "triangle", d: "M50 2 102 92H-2Z", y: 66, letter: 40 },
  { name: "square", d: "M12 12h76v76H12Z" },
  { name: "diamond", d: "M50-4 104 50 50 104-4 50Z" },
  { name: "hexagon", d: "M50 3 90.7 26.5v47L50 97 9.3 73.5v-47Z" },
  { name: "star", d: "M50-4 66 31l39 4-29 27 8 40-34-20-34 20 8-40L-5 35l39-4Z", y: 55, letter: 38 },
  { name: "plus", d: "M32 5h36v27h27v36H68v27H32V68H5V32h27Z" },
  { name: "drop", d: "M50 0c9 20 34 36 34 62a34 34 0 0 1-68 0C16 36 41 20 50 0Z", y: 63 },
  { name: "shield", d: "M12 9h76v41c0 24-18 38-38 47C30 88 12 74 12 50Z", y: 47 },
  { name: "clover", d: "M26 26a24 24 0 0 1 48 0a24 24 0 0 1 0 48a24 24 0 0 1-48 0a24 24 0 0 1 0-48Z" },
  { name: "pentagon", d: "M50 3 98 38 80 95H20L2 38Z", y: 56 },
  { name: "leaf", d: "M8 8h52a32 32 0 0 1 32 32v52H40A32 32 0 0 1 8 60Z" },
  { name: "arch", d: "M10 94V48a40 40 0 0 1 80 0v46Z", y: 55 },
  { name: "burst", d: "m50 0 13 18 22-3-3 22 18 13-18 13 3 22-22-3-13 18-13-18-22 3 3-22L0 50l18-13-3-22 22 3Z", letter: 42 },
  { name: "wedge", d: "M-2 9h104L50 98Z", y: 36, letter: 40 },
  { name: "slant", d: "M26 16h78L74 84H-4Z", letter: 42 },
];

/** The default size of an initial, in percent of its sign. */
const usualLetter = 46;

/** The size from which a sign shows that its player can start the game, CSS px. */
const ticked = 40;

/** A person's sign. Its outline is dashed while they do not play. @param {Person} person @param {number} size CSS px */
export function sign(person, size) {
  const { name, d, y = 51, letter = usualLetter } = signs[(person.arrival ?? 0) % signs.length];
  return svg(
    "svg",
    { class: `sign p${(person.arrival ?? 0) % signs.length}${isPlaying(person) ? "" : " dashed"}`, "data-sign": name, viewBox: "-8 -8 116 116", width: size, height: size, "aria-hidden": "true" },
    svg("path", { class: "shape", d }),
    svg("text", { x: 50, y, "font-size": letter, "text-anchor": "middle", "dominant-baseline": "central" }, initial(person.name)),
    person.able && isPlaying(person) && size >= ticked && svg("g", { class: "can" }, svg("circle", { cx: 92, cy: 92, r: 15 }), svg("path", { d: "m85 92 5 5 9-10" })),
  );
}

/** @param {Person} person */
function isPlaying(person) {
  return person.peer && person.connected && !person.left_out;
}

/** Splits letters; created once, because that takes long. @type {Intl.Segmenter | undefined} */
let letters;

/** More marks than this on one letter are no writing. */
const marks = 3;

/** The first letter of a name, in capitals, or whatever comes first. @param {string} name */
export function initial(name) {
  const graphemes = [...(letters ??= new Intl.Segmenter()).segment(name)].map(({ segment }) => segment);
  const first = graphemes.find((segment) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(segment)) ?? graphemes[0] ?? "";
  const plain = (first.match(/\p{M}/gu)?.length ?? 0) > marks ? first.replaceAll(/\p{M}/gu, "") : first;
  const upper = plain.toLocaleUpperCase();
  return [...upper].length > [...plain].length ? plain : upper; // ß has no capital of one letter
}

/** A name of so many letters at most, without piles of marks. @param {string} name @param {number} most */
export function shortened(name, most) {
  const all = [...(letters ??= new Intl.Segmenter()).segment(name)].map(({ segment }) => ((segment.match(/\p{M}/gu)?.length ?? 0) > marks ? segment.replaceAll(/\p{M}/gu, "") : segment));
  return all.length > most ? `${all.slice(0, most - 1).join("")}…` : all.join("");
}
