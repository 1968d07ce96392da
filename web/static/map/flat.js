// The lobby's map: the world laid flat, cut and scaled to the people on it. It says where each
// person's sign stands. A country is all that is known of a place, so a connector leads from the sign
// to the country's centre, and nobody stands where they might live.
//
//	places ─▶ sightOf: longitude, scale ─▶ projection ─▶ true points
//	true points, sizes of signs ─▶ settle ─▶ where signs stand
//	canvas: land and borders, in frames of their own

import { inFrames } from "../frames.js";
import { projectionOf } from "./projection.js";
import { traced } from "./trace.js";
import { placeOf, world } from "./world.js";

/** @typedef {{lat: number, lon: number}} Place */
/** @typedef {{x: number, y: number, trueX: number, trueY: number, width: number, height: number, face: number}} Mark a sign with its words: x and y are the middle of the sign, face is the sign's size */
/** @typedef {{lon: number, scale: number, x: number, y: number}} Sight the longitude in the middle, and where the map's middle is, px */

/** The width and the height of an equal-earth map of scale 1, and how far up and down its land reaches. */
const whole = 5.413;
const north = 1.28;
const south = -0.99;
/** The longitude in the middle of the map that is cut in the Bering Strait. */
const usual = 11;
/** The steps by which another cut turns, degrees. */
const step = 30;
/** From this much empty longitude around the usual cut nobody misses it, degrees. */
const clear = 25;
/** The most that a map is enlarged: its shapes are rough. */
const closest = 3.4;
/** The part of the map that signs and their words need around the people's places. */
const room = { x: 0.2, y: 0.24 };

/** @param {{country?: string}} person */
export const homeOf = (person) => placeOf(person.country);

export { projectionOf };

/** The world; it is loaded once. */
export const load = world;

/** The middle of the longitudes that people use, and how wide these are. @param {Place[]} places */
function middle(places) {
  const lons = places.map(({ lon }) => lon).toSorted((a, b) => a - b);
  let [widest, from] = [0, 0];
  lons.forEach((lon, i) => {
    const gap = (lons[i + 1] ?? lons[0] + 360) - lon;
    if (gap > widest) [widest, from] = [gap, lon];
  });
  const span = 360 - widest;
  return { lon: from + widest + span / 2, span };
}

/** Which part of the world the map shows. @param {any} d3 @param {Place[]} places @param {number} width @param {number} height @param {number} [most] how often the whole world is enlarged at most @returns {Sight} */
export function sightOf(d3, places, width, height, most = closest) {
  const { lon: between, span } = middle(places);
  const least = Math.max(width / whole, height / 3.2);
  const cutIsFree = places.every((place) => Math.abs(((place.lon + 169 + 540) % 360) - 180) > clear);
  const lon = span > 110 && cutIsFree ? usual : Math.round(between / step) * step;
  const flat = projectionOf(d3, "flat", { lon });
  const points = places.map((place) => flat([place.lon, place.lat]));
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  const fits = Math.min((width * (1 - 2 * room.x)) / Math.max(0.01, box.right - box.left), (height * (1 - 2 * room.y)) / Math.max(0.01, box.bottom - box.top));
  const scale = Math.min(Math.max(fits, least), least * most);
  return { lon, scale, x: held(width / 2 - ((box.left + box.right) / 2) * scale, width, (whole / 2) * scale, (whole / 2) * scale), y: held(height / 2 - ((box.top + box.bottom) / 2) * scale, height, north * scale, -south * scale) };
}

/** A shift that leaves no empty edge where the map is larger than its box, and centres it where it is smaller. @param {number} shift @param {number} size @param {number} before @param {number} after */
function held(shift, size, before, after) {
  if (before + after <= size) return (size - after + before) / 2;
  return Math.min(before, Math.max(size - after, shift));
}

/** The space between two signs with their words, and around a place that no sign may hide, as parts of a sign. */
const between = 0.12;
const dot = 0.15;
/** Where a sign may stand: how far from its place, as multiples of its size, and in how many directions. */
const distances = [0.95, 1.25, 1.7, 2.3, 3.2];
const directions = 16;
/** How often everybody looks for a better spot, and how often signs are pushed apart at most. */
const looks = 3;
const pushes = 200;

/** Finds each sign a spot beside its place, so that none hides another, its words, a place or a connector. @param {Mark[]} marks @param {number} width @param {number} height */
export function settle(marks, width, height) {
  const centre = { x: sum(marks, "trueX") / marks.length, y: sum(marks, "trueY") / marks.length };
  for (const mark of marks) hold(mark, width, height);
  for (let n = 0; n < looks; n++) {
    let moved = false;
    for (const mark of marks) moved = look(mark, marks, n === 0 ? marks.indexOf(mark) : marks.length, centre, width, height) || moved;
    if (!moved) break;
  }
  for (let n = 0, moved = true; n < pushes && moved; n++) {
    moved = false;
    for (const [i, one] of marks.entries()) for (const other of marks.slice(0, i)) moved = part(one, other) || moved;
    for (const mark of marks) hold(mark, width, height);
  }
}

/** @param {Mark[]} marks @param {"trueX" | "trueY"} what */
const sum = (marks, what) => marks.reduce((all, mark) => all + mark[what], 0);

/** Moves a sign to the best of its spots, as the first others stand. It reports whether that is another one. @param {Mark} mark @param {Mark[]} marks @param {number} placed how many of them stand @param {{x: number, y: number}} centre @param {number} width @param {number} height */
function look(mark, marks, placed, centre, width, height) {
  const [x, y] = [mark.x, mark.y];
  let [best, least] = [{ x, y }, Infinity];
  const outwards = Math.atan2(mark.trueY - centre.y, mark.trueX - centre.x);
  for (const distance of distances) {
    for (let i = 0; i < directions; i++) {
      const angle = outwards + (i * 2 * Math.PI) / directions;
      mark.x = mark.trueX + Math.cos(angle) * mark.face * distance;
      mark.y = mark.trueY + Math.sin(angle) * mark.face * distance;
      hold(mark, width, height);
      const bad = cost(mark, marks, placed, least) + Math.abs(((i + directions / 2) % directions) - directions / 2);
      if (bad < least) [best, least] = [{ x: mark.x, y: mark.y }, bad];
    }
  }
  [mark.x, mark.y] = [best.x, best.y];
  return best.x !== x || best.y !== y;
}

/** How bad a sign's spot is: hidden signs are worst, then hidden places, crossed words, and long connectors. It stops at a limit. @param {Mark} mark @param {Mark[]} marks @param {number} placed @param {number} limit */
function cost(mark, marks, placed, limit) {
  let bad = 20 * (Math.hypot(mark.x - mark.trueX, mark.y - mark.trueY) / mark.face) ** 2;
  for (let i = 0; i < marks.length && bad < limit; i++) {
    const other = marks[i];
    if (covers(mark, other.trueX, other.trueY)) bad += 400;
    if (other === mark) bad += crosses(mark, mark) ? 120 : 0;
    else if (i < placed) {
      const near = Math.min(across(mark, other), down(mark, other));
      bad += near > 0 ? 1000 + near * 20 : 0;
      bad += (crosses(mark, other) ? 260 : 0) + (crosses(other, mark) ? 260 : 0);
      if (covers(other, mark.trueX, mark.trueY)) bad += 400;
    }
  }
  return bad;
}

/** The middle of a sign with its words. @param {Mark} mark */
const middleY = (mark) => mark.y - mark.face / 2 + mark.height / 2;

/** By how much two signs with their words are too near each other. @param {Mark} a @param {Mark} b */
const across = (a, b) => (a.width + b.width) / 2 + between * a.face - Math.abs(a.x - b.x);
/** @param {Mark} a @param {Mark} b */
const down = (a, b) => (a.height + b.height) / 2 + between * a.face - Math.abs(middleY(a) - middleY(b));

/** Whether a sign hides a place. @param {Mark} mark @param {number} x @param {number} y */
const covers = (mark, x, y) => Math.abs(mark.x - x) < mark.width / 2 + dot * mark.face && Math.abs(middleY(mark) - y) < mark.height / 2 + dot * mark.face;

/**
 * Whether the line from a sign to its place runs through another sign, or through its own words.
 * @param {Mark} connector @param {Mark} through
 */
function crosses(connector, through) {
  const [top, bottom] = [through.y - through.face / 2, through.y - through.face / 2 + through.height];
  if (Math.abs(connector.x + connector.trueX - 2 * through.x) > Math.abs(connector.x - connector.trueX) + through.width) return false;
  if (Math.min(connector.y, connector.trueY) > bottom || Math.max(connector.y, connector.trueY) < top) return false;
  const steps = 8;
  for (let i = 1; i < steps; i++) {
    const [x, y] = [connector.x + ((connector.trueX - connector.x) * i) / steps, connector.y + ((connector.trueY - connector.y) * i) / steps];
    if (Math.abs(through.x - x) < through.width / 2 && y < bottom && y > (connector === through ? top + through.face : top)) return true;
  }
  return false;
}

/** Pushes two signs apart. @param {Mark} a @param {Mark} b */
function part(a, b) {
  const [x, y] = [across(a, b), down(a, b)];
  if (x <= 0.5 || y <= 0.5) return false;
  const [byX, byY] = x < y ? [(a.x < b.x ? -x : x) / 2, 0] : [0, (middleY(a) < middleY(b) ? -y : y) / 2];
  a.x += byX;
  a.y += byY;
  b.x -= byX;
  b.y -= byY;
  return true;
}

/** Keeps a sign within the map. @param {Mark} mark @param {number} width @param {number} height */
function hold(mark, width, height) {
  mark.x = Math.max(mark.width / 2, Math.min(width - mark.width / 2, mark.x));
  mark.y = Math.max(mark.face / 2, Math.min(height - mark.height + mark.face / 2, mark.y));
}

/**
 * Draws the land into a place, in separate frames.
 * @param {HTMLElement} place @param {import("./world.js").World} loaded @param {Sight} sight @param {number} width @param {number} height
 */
export function draw(place, loaded, sight, width, height) {
  const sharp = Math.min(2, devicePixelRatio || 1);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * sharp), Math.round(height * sharp)];
  const projection = projectionOf(loaded.d3, "flat", sight).clipExtent([[-2, -2], [width + 2, height + 2]]);
  newest.set(place, canvas);
  inFrames(paint(canvas, place, loaded, projection, sharp), () => newest.get(place) === canvas);
}

/** What is drawn into each place: a newer picture ends the drawing of an older one. @type {WeakMap<HTMLElement, HTMLCanvasElement>} */
const newest = new WeakMap();

/** Paints land and borders, and puts them into their place once they are complete. @param {HTMLCanvasElement} canvas @param {HTMLElement} place @param {import("./world.js").World} loaded @param {any} projection @param {number} sharp */
function* paint(canvas, place, { d3, land, borders }, projection, sharp) {
  const style = getComputedStyle(place);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(sharp, sharp);
  context.fillStyle = style.getPropertyValue("--world") || style.getPropertyValue("--land");
  context.strokeStyle = style.getPropertyValue("--ground");
  context.lineWidth = 0.8;
  const coasts = yield* traced(d3, projection, land);
  context.fill(coasts);
  const lines = yield* traced(d3, projection, borders);
  context.stroke(lines);
  place.replaceChildren(canvas);
}
