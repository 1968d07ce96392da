// The map of the picture to share: a square around the server, on which a distance is the distance
// on the globe, and the farthest player stands at the rim.

import { moveApart, projectionOf as projected, wayTo } from "./projection.js";
import { placeOf } from "./world.js";

/** Half the picture's side, in its own units, and how far from the middle signs may be. */
export const half = 500;
const near = 150;
const far = 390;
/** The distance between signs, in their sizes, and how many at the foot show their pings. More stand closer, with their pings in the list. */
const apart = 1.45;
const footPings = 6;
/** The height of the ping below a sign, in the picture's units. */
const pingHigh = 34;
/** The least land beyond the farthest player that the picture shows, radians. */
const leastReach = 0.5;
const widest = Math.PI * 0.98;

/**
 * The players' positions on the map around a server, or nothing if its country is unknown, or
 * everybody's is. Players from unknown countries are lost: they stand at the foot.
 * @template {{person: import("../types.js").Person}} One
 * @param {string | undefined} country @param {One[]} all @param {number} size of signs
 */
export function mapOf(country, all, size) {
  const centre = placeOf(country);
  const placed = all.filter(({ person }) => placeOf(person.country));
  if (!centre || placed.length === 0) return null;
  const lost = all.filter((one) => !placed.includes(one));
  const ways = placed.map(({ person }) => wayTo(centre, /** @type {import("./world.js").Country} */ (placeOf(person.country))));
  const reach = Math.min(widest, Math.max(leastReach, ...ways.map(({ angle }) => angle)));
  const points = ways.map(({ angle, bearing }, i) => {
    const r = Math.max(near, (far * angle) / reach);
    const turn = bearing ?? (2 * Math.PI * i) / ways.length;
    return { x: r * Math.sin(turn), y: -r * Math.cos(turn) };
  });
  const foot = footOf(size, lost.length);
  const edge = half - size / 2 - 40;
  const lowest = lost.length > 0 ? foot - size - 2 * pingHigh : edge;
  moveApart(points, () => size * apart, (one) => {
    one.x = Math.min(edge, Math.max(-edge, one.x));
    one.y = Math.min(lowest, Math.max(-edge, one.y));
  });
  const at = all.map((one) => (lost.includes(one) ? somewhere(lost.indexOf(one), lost.length, size, foot) : points[placed.indexOf(one)]));
  return { centre, reach, lost, at };
}

/** The projection of such a map to a square. @param {import("./world.js").World} world @param {import("./world.js").Country} centre @param {number} reach radians @param {number} side px */
export function projectionOf({ d3 }, centre, reach, side) {
  const scale = ((far / half) * (side / 2)) / reach;
  return projected(d3, "around", { lat: centre.lat, lon: centre.lon, scale, x: side / 2, y: side / 2, clip: 179 });
}

/** The height at which players from unknown countries stand. @param {number} size @param {number} lost */
const footOf = (size, lost) => half - size / 2 - (lost > footPings ? 4 : pingHigh + 6);

/** The position at the picture's foot of a player from an unknown country. @param {number} i @param {number} of @param {number} size @param {number} y */
function somewhere(i, of, size, y) {
  const pitch = of > footPings ? Math.min(size * 1.1, (2 * half - size) / of) : Math.max(size * apart, 125); // room for "≈ 247 ms"
  return { x: pitch * (i - (of - 1) / 2), y };
}
