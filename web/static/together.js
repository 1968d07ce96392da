// The picture of a group that meets, beside the one field of the pages that open a room.

import { svg } from "./dom.js";
import { sign } from "./sign.js";

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

/** A group that meets: the signs of those who are here, the dashed signs of those who come, and where they meet. @param {string[]} here names */
export function together(here) {
  const signs = group.map(({ x, y }, i) => {
    const person = /** @type {import("./types.js").Person} */ ({ name: here[i] ?? "", arrival: i, peer: i in here, connected: true });
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
    group.map(({ x, y, bend }, i) => svg("path", { class: `road p${i}${i in here ? "" : " comes"}`, d: `M${x} ${y}${bend} ${meeting.x} ${meeting.y}` })),
    svg("circle", { class: "spot", cx: meeting.x, cy: meeting.y, r: 17 }),
    svg("circle", { class: "around", cx: meeting.x, cy: meeting.y, r: 31 }),
    signs,
  );
}
