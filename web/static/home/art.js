// The page's pictures: those that index.html contains, and the one of a group.

import { svg } from "../dom.js";
import { sign } from "../sign.js";

/** A picture of the page, hidden from screen readers. @param {string} id */
export function art(id) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "art");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#art-${id}`);
  svg.append(use);
  return svg;
}

/** Where the signs of a group stand, and how their ways bend. */
const group = [
  { x: 120, y: 190, bend: "Q 190 300" },
  { x: 270, y: 96, bend: "Q 268 220" },
  { x: 480, y: 168, bend: "Q 420 240" },
  { x: 530, y: 400, bend: "Q 430 410" },
  { x: 178, y: 486, bend: "Q 210 400" },
];
const meeting = { x: 326, y: 330 };
const signSize = 92;

/** A group that meets: the person's own sign, the dashed signs of those who come, and where they meet. @param {string} name */
export function together(name) {
  const signs = group.map(({ x, y }, i) => {
    const person = /** @type {import("../types.js").Person} */ ({ name: i === 0 ? name : "", arrival: i, peer: i === 0, connected: true });
    const one = sign(person, signSize);
    one.setAttribute("x", String(x - signSize / 2));
    one.setAttribute("y", String(y - signSize / 2));
    return one;
  });
  return svg(
    "svg",
    { class: "together", viewBox: "0 0 640 600", "aria-hidden": "true" },
    svg("circle", { class: "globe", cx: 320, cy: 300, r: 282 }),
    [110, 210].map((rx) => svg("ellipse", { class: "grid", cx: 320, cy: 300, rx, ry: 282 })),
    svg("path", { class: "grid", d: "M320 18v564M38 300h564M78 156q242 66 484 0M78 444q242-66 484 0" }),
    group.map(({ x, y, bend }, i) => svg("path", { class: `road p${i}`, d: `M${x} ${y}${bend} ${meeting.x} ${meeting.y}` })),
    svg("circle", { class: "spot", cx: meeting.x, cy: meeting.y, r: 17 }),
    svg("circle", { class: "around", cx: meeting.x, cy: meeting.y, r: 31 }),
    signs,
  );
}
