// The ping line: everybody's sign on one scale, and the average as a tick with its number.

import { svg } from "../dom.js";
import { heaped, ticksFor } from "../map/heap.js";
import { millis, say } from "../say.js";
import { sign } from "../sign.js";

/** @typedef {import("../map/turn.js").Spoke} Spoke */

/** Sizes in the line's own units. */
const width = 600;
const narrow = 380;
const edge = 22;
const below = 44;
const big = { high: 66, digit: 43, letter: 10.8, square: 20.5 };

/** About how wide words are. Letters of Chinese, Japanese and Korean are squares. @param {string} words */
const wide = (words) => [...words].reduce((sum, letter) => sum + (letter > "\u2e80" ? big.square : big.letter), 0);

/**
 * The line of a server. Its children say where they are in CSS, so that they can move there.
 * @param {Spoke[]} spokes @param {number} mean ms @param {{isNarrow?: boolean, pings?: boolean}} [more] whether it stands on a phone, and whether signs say their pings
 */
export function pingLine(spokes, mean, { isNarrow = false, pings = false } = {}) {
  const whole = isNarrow ? narrow : width;
  const size = (isNarrow ? 30 : 34) * (spokes.length >= 9 ? 0.85 : 1);
  const ticks = ticksFor(Math.max(mean, ...spokes.map(({ ms }) => ms)));
  const most = ticks.at(-1) ?? 1;
  const long = whole - 2 * edge - (isNarrow ? 8 : 18);
  const at = heaped(spokes.map(({ ms }) => ms), most, long, pings ? size * 1.35 : size + 3);
  const step = size * (pings ? 1.5 : 1.08);
  const tick = (long * Math.min(mean, most)) / most;
  const words = say("unit.ms-average");
  const reach = String(Math.round(mean)).length * big.digit + wide(words) + 20;
  const side = tick + reach <= whole - edge ? "after" : tick - reach >= 0 ? "before" : "above";
  const from = side === "after" ? tick : side === "before" ? tick - reach : Math.max(0, Math.min(tick - reach / 2, long - reach));
  const covered = at.filter(({ x }) => x > from - size && x < from + reach + size / 2);
  const foot = Math.max(size * 0.62, ...covered.map(({ level }) => (level + (pings ? 0.8 : 0.62)) * step)) + (side === "above" ? 14 : 8);
  const top = Math.max(foot + big.high, ...at.map(({ level }) => (level + 0.6) * step + 4)) + 4;
  const height = top + below;
  const number = svg("text", { class: "average", x: edge + from + (side === "after" ? 12 : side === "before" ? reach - 12 : 0), y: top - foot, "text-anchor": side === "before" ? "end" : "start" }, svg("tspan", { class: "big", "data-average": Math.round(mean), "data-keep": true }, Math.round(mean)), svg("tspan", { class: "of", dx: 8 }, words));
  return svg(
    "svg",
    { class: "pingline", viewBox: `0 0 ${whole} ${height}`, "aria-hidden": "true", "data-key": `line ${whole}` },
    svg("line", { class: "axis", x1: edge, y1: top, x2: edge + long, y2: top }),
    ticks.map((ms, i) => svg("g", { class: "tick" }, svg("line", { x1: edge + (long * ms) / most, y1: top + 10, x2: edge + (long * ms) / most, y2: top + 17 }), svg("text", { x: edge + (long * ms) / most, y: top + 38, "text-anchor": "middle" }, i === ticks.length - 1 ? millis(ms) : ms))),
    svg("line", { class: "mean", x1: edge + tick, x2: edge + tick, y1: top, y2: top - foot + (side === "above" ? 8 : 10 - big.high) }),
    number,
    spokes.map(({ person, text }, i) => {
      const shape = sign({ ...person, able: false }, size);
      shape.setAttribute("x", String(-size / 2));
      shape.setAttribute("y", String(-size / 2));
      return svg("g", { class: "on", "data-key": person.name, "--x": `${edge}px`, "--far": `${at[i].x}px`, "--y": `${top - at[i].level * step}px` }, shape, pings && svg("text", { class: "ms", y: -size * 0.58 - 2, "text-anchor": "middle" }, text));
    }),
  );
}
