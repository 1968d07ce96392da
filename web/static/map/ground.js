// The ground of the search's map: land with its borders, and the servers of each country as lights.
// Everything is worked out in steps, see frames.js.
//
//	longitude ─▶ projection ─▶ land, mask, borders
//	mask, projection, counts ─▶ spots ─▶ lights

import { projectionOf } from "./projection.js";
import { traced, unitBounds } from "./trace.js";
import { placeOf } from "./world.js";

/** @typedef {{land: string, ground: string, lights: number[]}} Inks lights by kind: dim, pale, bright */
/** @typedef {import("../types.js").Place} Place */

/** How often a light tries another random position until it is on land. */
const throws = 6;
/** The width of the picture that says where land is, px. Lights are no more precise than that. */
const maskWidth = 600;
/** How many lights a step places. */
const atATime = 100;
/** Km in a degree of latitude. */
const degree = 111;
/** The space around the land, px. */
const edge = 4;
/** The sizes of lights by kind, px. */
const sizes = [1.4, 1.4, 2];

export class Ground {
  /** @param {number} width CSS px @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.sharp = Math.min(2, devicePixelRatio || 1);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.width = Math.round(width * this.sharp);
    this.canvas.height = Math.round(height * this.sharp);
    /** @type {any} */
    this.projection = null;
    /** Where land is, in rough. @type {ImageData | null} */
    this.mask = null;
    /** The positions of each country's lights: x and y of each, px. @type {Map<string, Float32Array>} */
    this.spots = new Map();
    /** The image that the lights are written into. @type {ImageData | null} */
    this.image = null;
  }

  /** Paints land and borders. @param {import("./world.js").World} world @param {number} lon in the middle, degrees @param {Inks} inks */
  *paint({ d3, land, borders }, lon, inks) {
    const [[left, top], [right, bottom]] = yield* unitBounds(d3, lon, land);
    const [width, height] = [this.width - 2 * edge, this.height - 2 * edge];
    const scale = Math.min(width / (right - left), height / (bottom - top));
    this.projection = projectionOf(d3, "flat", { lon, scale, x: edge + (width - scale * (right + left)) / 2, y: edge + (height - scale * (bottom + top)) / 2 });
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.scale(this.sharp, this.sharp);
    const coasts = yield* traced(d3, this.projection, land);
    context.fillStyle = inks.land;
    context.fill(coasts);
    yield;
    this.mask = landIn(this.canvas);
    yield;
    const lines = yield* traced(d3, this.projection, borders);
    context.strokeStyle = inks.ground;
    context.lineWidth = 0.7;
    context.stroke(lines);
    yield;
    this.image = new ImageData(this.canvas.width, this.canvas.height);
  }

  /** Writes all lights into the image. Finding their positions takes longest, because there may be thirty thousand, so that is done once. @param {Place[]} places @param {Inks} inks */
  *light(places, inks) {
    yield* this.findSpots(places);
    const image = /** @type {ImageData} */ (this.image);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(0);
    for (const { country, listed, answered = 0, open = 0 } of places) {
      const spots = this.spots.get(country ?? "");
      if (!spots) continue;
      for (let i = listed - 1; i >= 0; i--) { // those that could still win come last, on top
        const kind = i < open ? 2 : i < answered ? 1 : 0;
        const size = sizeOf(kind, this.sharp);
        const left = Math.max(0, Math.round(spots[2 * i] - size / 2));
        const top = Math.max(0, Math.round(spots[2 * i + 1] - size / 2));
        for (let y = top; y < Math.min(top + size, image.height); y++) {
          pixels.fill(inks.lights[kind], y * image.width + left, y * image.width + Math.min(left + size, image.width));
        }
        if (i % atATime === 0) yield;
      }
    }
  }

  /** Finds the positions of all lights. @param {Place[]} places */
  *findSpots(places) {
    for (const { country, listed } of places) {
      const at = placeOf(country);
      const centre = at && this.projection([at.lon, at.lat]);
      if (!at || !centre || (this.spots.get(country ?? "")?.length ?? 0) >= 2 * listed) continue;
      const north = this.projection([at.lon, Math.min(89, at.lat + 1)]);
      const pixels = (Math.hypot(north[0] - centre[0], north[1] - centre[1]) / degree) * at.km * this.sharp; // relative to the usual distance from the centre
      const spots = new Float32Array(2 * listed);
      for (let i = 0; i < listed; i++) {
        spots.set(this.thrown(i, centre[0] * this.sharp, centre[1] * this.sharp, pixels), 2 * i);
        if (i % atATime === atATime - 1) yield;
      }
      this.spots.set(country ?? "", spots);
    }
  }

  /** A light's position: always the same for a server, and on land if that is near. @param {number} index @param {number} x @param {number} y @param {number} spread */
  thrown(index, x, y, spread) {
    for (let attempt = 0; attempt < throws; attempt++) {
      const angle = chance(index * throws + attempt) * 2 * Math.PI;
      const far = spread * Math.sqrt(-Math.log(1 - chance(index * throws + attempt + 0.5))) * (attempt === throws - 1 ? 0.2 : 0.9);
      const [tryX, tryY] = [x + far * Math.cos(angle), y + far * Math.sin(angle)];
      if (attempt === throws - 1 || this.isLand(tryX, tryY)) return [tryX, tryY];
    }
    return [x, y];
  }

  /** @param {number} x @param {number} y */
  isLand(x, y) {
    const { width, height, data } = /** @type {ImageData} */ (this.mask);
    const [column, row] = [Math.floor((x * width) / this.canvas.width), Math.floor((y * height) / this.canvas.height)];
    return column >= 0 && row >= 0 && column < width && row < height && data[4 * (row * width + column) + 3] > 0;
  }
}

/** The side of a light, in the canvas's pixels. @param {number} kind @param {number} sharp */
const sizeOf = (kind, sharp) => Math.max(1, Math.round(sizes[kind] * sharp));

/** How much ink a light needs to look as large as it should, from 0 to 1. @param {number} kind @param {number} sharp */
export const strength = (kind, sharp) => (kind === 2 ? 1 : Math.min(1, (0.7 * sharp * sharp) / sizeOf(kind, sharp) ** 2));

/** A rough picture of where a drawing has land. @param {HTMLCanvasElement} land */
function landIn(land) {
  const rough = new OffscreenCanvas(maskWidth, Math.round((maskWidth * land.height) / land.width));
  const masked = /** @type {OffscreenCanvasRenderingContext2D} */ (rough.getContext("2d", { willReadFrequently: true }));
  masked.drawImage(land, 0, 0, rough.width, rough.height);
  return masked.getImageData(0, 0, rough.width, rough.height);
}

/** A number from 0 to 1 that is always the same for n. @param {number} n */
function chance(n) {
  const x = Math.sin(n * 12.9898 + 78.233) * 43758.5453;
  return x - Math.floor(x);
}
