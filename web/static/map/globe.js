// Draws the world around a server: sea and land that fade at the globe's rim, the server's country in
// gold, and a glow around the server. The fade at a side is the style sheet's.

import { projectionOf } from "./projection.js";

/** @typedef {import("./world.js").World} World */
/** @typedef {{centre: import("./world.js").Country, x: number, y: number, scale: number, width: number, height: number, glow: number}} View the server's place, and where the map has it, CSS px */
/** @typedef {{sea: string, land: string, border: string, gold: string}} Inks */

/** Degrees that the world has yet to turn when a reveal begins. */
const back = 70;
/** How far from the server the globe is drawn, degrees: farther land is behind the rim's fade. */
const clip = 165;
/** The share of the globe's radius from which it fades. */
const fades = 2 / 3;
/** The most pixels of a picture: while the world turns, and once it stands. */
const moving = 700_000;
const standing = 5_000_000;

/** @param {World} world @param {View} view @param {number} [turn] degrees */
function globeOf({ d3 }, { centre, x, y, scale, width, height }, turn = 0) {
  return projectionOf(d3, "globe", { lat: centre.lat - turn / 4, lon: centre.lon - turn, scale, x, y, clip }).clipExtent([[-9, -9], [width + 9, height + 9]]);
}

/** Draws a moment of the turning. @param {HTMLCanvasElement} canvas @param {World} world @param {View} view @param {Inks} inks @param {number} turned from 0 to 1 */
export function drawGlobe(canvas, world, view, inks, turned) {
  const { width, height, x, y, scale } = view;
  const sharp = Math.min(2, devicePixelRatio || 1, Math.sqrt((turned < 1 ? moving : standing) / (width * height)));
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(sharp, sharp);
  const path = world.d3.geoPath(globeOf(world, view, back * (1 - turned)), context);
  const filled = (/** @type {any} */ shape, /** @type {string} */ ink) => {
    context.beginPath();
    path(shape);
    context.fillStyle = ink;
    context.fill();
  };
  context.beginPath();
  context.arc(x, y, 2 * scale, 0, 2 * Math.PI);
  context.fillStyle = inks.sea;
  context.fill();
  filled(world.land, inks.land);
  if (turned === 1) detailed(context, path, world, view, inks, filled);
  const rim = context.createRadialGradient(x, y, 2 * scale * fades, x, y, 2 * scale);
  rim.addColorStop(0, "#000");
  rim.addColorStop(1, "transparent");
  context.globalCompositeOperation = "destination-in";
  context.fillStyle = rim;
  context.fillRect(0, 0, width, height);
}

/** What is drawn once the world stands. @param {CanvasRenderingContext2D} context @param {any} path @param {World} world @param {View} view @param {Inks} inks @param {(shape: any, ink: string) => void} filled */
function detailed(context, path, world, view, inks, filled) {
  context.strokeStyle = inks.border;
  context.lineWidth = 0.9;
  context.beginPath();
  path(world.borders);
  context.stroke();
  const country = world.countryOf(view.centre.number);
  if (country) {
    context.globalAlpha = 0.55;
    filled(country, inks.gold);
    context.globalAlpha = 1;
    context.strokeStyle = inks.gold;
    context.lineWidth = 1.4;
    context.stroke();
  }
  const glow = context.createRadialGradient(view.x, view.y, 0, view.x, view.y, view.glow);
  glow.addColorStop(0, inks.gold);
  glow.addColorStop(1, "transparent");
  context.globalAlpha = 0.3;
  context.fillStyle = glow;
  context.fillRect(0, 0, view.width, view.height);
  context.globalAlpha = 1;
}
