// The outlines of the world in a projection, traced in pieces: a phone would need too long for all
// at once.

import { projectionOf } from "./projection.js";

/** The most points of a piece, unless one shape alone has more. */
const most = 800;

/** The pieces of each shape. @type {WeakMap<any, any[]>} */
const cut = new WeakMap();

/** Cuts polygons or lines into pieces, in their order. @param {any} shape a MultiPolygon or a MultiLineString @returns {any[]} */
export function piecesOf(shape) {
  const known = cut.get(shape);
  if (known) return known;
  const pieces = [];
  let points = Infinity;
  for (const part of shape.coordinates) {
    const size = shape.type === "MultiPolygon" ? part.flat().length : part.length;
    if (points + size > most) {
      pieces.push({ type: shape.type, coordinates: /** @type {any[]} */ ([]) });
      points = 0;
    }
    pieces.at(-1)?.coordinates.push(part);
    points += size;
  }
  cut.set(shape, pieces);
  return pieces;
}

/** Traces a shape, a piece at a step, and returns the whole path. @param {any} d3 @param {any} projection @param {any} shape @returns {Generator<undefined, Path2D>} */
export function* traced(d3, projection, shape) {
  const whole = new Path2D();
  const path = d3.geoPath(projection, whole);
  for (const piece of piecesOf(shape)) {
    path(piece);
    yield;
  }
  return whole;
}

/** @typedef {[[left: number, top: number], [right: number, bottom: number]]} Bounds */

/** The bounds of the land at scale 1, by the longitude in the middle. @type {Map<number, Bounds>} */
const bounds = new Map();

/** The scale at which bounds are measured: curves are as smooth as d3 makes them there. */
const measured = 150;

/** Measures the land on an equal-earth map of scale 1, a piece at a step. @param {any} d3 @param {number} lon in the middle, degrees @param {any} land @returns {Generator<undefined, Bounds>} */
export function* unitBounds(d3, lon, land) {
  const known = bounds.get(lon);
  if (known) return known;
  const path = d3.geoPath(projectionOf(d3, "flat", { lon, scale: measured }));
  let [[left, top], [right, bottom]] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  for (const piece of piecesOf(land)) {
    const [[x0, y0], [x1, y1]] = path.bounds(piece);
    [left, top, right, bottom] = [Math.min(left, x0), Math.min(top, y0), Math.max(right, x1), Math.max(bottom, y1)];
    yield;
  }
  /** @type {Bounds} */
  const all = [[left / measured, top / measured], [right / measured, bottom / measured]];
  bounds.set(lon, all);
  return all;
}
