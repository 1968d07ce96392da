// Every map's projection, with its parameters, and what marks on maps have in common: the way between
// two places, and marks that move apart where they would hide each other.
//
//	flat    equal earth, cut at a longitude: the lobby's map, the search's
//	globe   azimuthal equal area around a place: the reveal, a side, the poster. Near things have more room
//	around  azimuthal equidistant around a place: the picture to share. A distance is the distance on the globe

/** @typedef {"flat" | "globe" | "around"} Kind */
/** @typedef {{lat?: number, lon: number, scale?: number, x?: number, y?: number, clip?: number}} Sight the place in the middle, degrees; px per radian in the middle; where the middle is, px; and what is shown around it, degrees */
/** @typedef {{angle: number, bearing?: number}} Way how far away a place is, on the globe, and in which direction, radians; without one, it may be anywhere */

const kinds = { flat: "geoEqualEarth", globe: "geoAzimuthalEqualArea", around: "geoAzimuthalEquidistant" };

/** @param {any} d3 @param {Kind} kind @param {Sight} sight */
export function projectionOf(d3, kind, { lat = 0, lon, scale = 1, x = 0, y = 0, clip }) {
  const projection = d3[kinds[kind]]().rotate([-lon, -lat]).scale(scale).translate([x, y]);
  return clip === undefined ? projection : projection.clipAngle(clip);
}

/** Places nearer than this have no direction, radians: a country is all that is known of them. */
const here = 0.02;

/** The way from one place to another. @param {{lat: number, lon: number}} from @param {{lat: number, lon: number}} to @returns {Way} */
export function wayTo(from, to) {
  const [a, b, lon] = [from.lat, to.lat, to.lon - from.lon].map((degrees) => (degrees * Math.PI) / 180);
  const angle = Math.acos(Math.min(1, Math.max(-1, Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(lon))));
  if (angle < here) return { angle };
  return { angle, bearing: Math.atan2(Math.sin(lon) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(lon)) };
}

/** A distance on a globe of scale 1, of a distance on the earth. @param {number} angle radians */
export const far = (angle) => 2 * Math.sin(Math.min(Math.PI, angle) / 2);

/** The middle of some places on the globe. @param {{lat: number, lon: number}[]} places */
export function middleOf(places) {
  const [x, y, z] = [0, 1, 2].map((i) => places.reduce((sum, { lat, lon }) => {
    const [up, along] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180];
    return sum + [Math.cos(up) * Math.cos(along), Math.cos(up) * Math.sin(along), Math.sin(up)][i];
  }, 0));
  return { lat: (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI, lon: (Math.atan2(y, x) * 180) / Math.PI };
}

/**
 * Moves marks apart that would hide each other, a few rounds long. Those on one point part in
 * directions of their own.
 * @template {{x: number, y: number}} Mark
 * @param {Mark[]} marks @param {(one: Mark, other: Mark) => number} least the distance between two @param {(mark: Mark) => void} hold keeps a mark where it may be
 */
export function moveApart(marks, least, hold) {
  for (let round = 0, moved = true; round < 60 && moved; round++) {
    moved = false;
    for (const [i, one] of marks.entries()) for (const other of marks.slice(0, i)) {
      const distance = Math.hypot(one.x - other.x, one.y - other.y);
      const push = (least(one, other) - distance) / 2;
      if (push < 0.1) continue;
      const [dx, dy] = distance < 0.01 ? [Math.cos(i * 2.4), Math.sin(i * 2.4)] : [(one.x - other.x) / distance, (one.y - other.y) / distance];
      [one.x, one.y, other.x, other.y] = [one.x + dx * push, one.y + dy * push, other.x - dx * push, other.y - dy * push];
      moved = true;
    }
    marks.forEach(hold);
  }
}
