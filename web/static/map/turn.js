// The world turned until a server is its centre: the distance on it is the distance on the
// ground, in every direction, so that everybody's route is a straight spoke.
//
//	canvas  land, the server's country in gold, faded at the rim
//	svg     rings of 50 and 100 ms ─ spokes ─ signs with pings
//
// The rings are what light in glass fibre takes there and back, on the straightest way:
// nobody's ping is below that.

import { millis, svg } from "../dom.js";
import { sign } from "../sign.js";
import { placeOf, world } from "./world.js";

/** @typedef {import("../types.js").Person} Person */
/** @typedef {{person: Person, ms?: number}} Route */

/** How far light in glass fibre comes in a millisecond of ping, there and back, km. */
const fibre = 100;
/** The earth's radius and half its circumference, km. */
const radius = 6371;
const farthest = 20_015;
/** The map is never closer than that, km: a country should be seen whole. */
const nearest = 2500;
/** The rings, ms. */
const rings = [50, 100];
/** How long the world turns, ms. */
const turning = 1400;
/** How far signs of one place stand from each other, in their size. */
const beside = 1.1;

/**
 * Draws the world round a server's country into a place, with a spoke for everybody whose
 * country is known. Tells whether there is a map: of an unknown country there is none.
 * @param {HTMLElement} place @param {{country?: string, routes: Route[], from?: [number, number], turns?: boolean}} shown from: where the world turns from, longitude and latitude
 */
export async function turn(place, { country, routes, from, turns = false }) {
  const at = placeOf(country);
  const { clientWidth: width, clientHeight: height } = place;
  if (!at || width < 50 || height < 50) return false;
  const { d3, land, borders, countries } = await world();
  const canvas = document.createElement("canvas");
  const marks = svg("svg", { class: "marks", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  canvas.setAttribute("aria-hidden", "true");
  place.replaceChildren(canvas, marks);
  const sharp = Math.min(2, devicePixelRatio || 1);
  [canvas.width, canvas.height] = [Math.round(width * sharp), Math.round(height * sharp)];
  const known = routes.flatMap((route) => {
    const home = placeOf(route.person.country);
    return home ? [{ ...route, home }] : [];
  });
  const size = Math.max(22, Math.min(width, height) / 14);
  const room = Math.min(width, height) / 2 - size * 1.4;
  const centre = [at.lon, at.lat];
  const km = (/** @type {{home: {lon: number, lat: number}}} */ { home }) => d3.geoDistance(centre, [home.lon, home.lat]) * radius;
  const reach = Math.min(farthest, Math.max(nearest, ...known.map(km)));
  const perKm = room / reach;
  const style = getComputedStyle(place);
  const shape = countries.find((/** @type {any} */ one) => one.id === at.number);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

  /** @param {number[]} middle */
  const draw = (middle) => {
    const projection = d3.geoAzimuthalEquidistant().rotate([-middle[0], -middle[1]]).translate([width / 2, height / 2]).scale(perKm * radius).clipAngle(179).precision(0.5);
    const path = d3.geoPath(projection, context);
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.globalCompositeOperation = "source-over";
    context.clearRect(0, 0, width, height);
    const fill = (/** @type {any} */ what, /** @type {string} */ colour) => {
      context.fillStyle = colour;
      context.beginPath();
      path(what);
      context.fill();
    };
    fill(land, style.getPropertyValue("--land"));
    if (shape) {
      context.globalAlpha = 0.55;
      fill(shape, style.getPropertyValue("--gold"));
      context.globalAlpha = 1;
    }
    context.strokeStyle = style.getPropertyValue("--ground");
    context.lineWidth = 0.8;
    context.beginPath();
    path(borders);
    context.stroke();
    const rim = context.createRadialGradient(width / 2, height / 2, room * 0.8, width / 2, height / 2, Math.max(width, height) / 2);
    rim.addColorStop(0, "#000");
    rim.addColorStop(1, "transparent");
    context.globalCompositeOperation = "destination-in"; // faded at the rim
    context.fillStyle = rim;
    context.fillRect(0, 0, width, height);
  };

  const projection = d3.geoAzimuthalEquidistant().rotate([-centre[0], -centre[1]]).translate([width / 2, height / 2]).scale(perKm * radius);
  const points = known.map((route) => {
    const [x, y] = projection([route.home.lon, route.home.lat]);
    return { route, x, y };
  });
  apart(points, width / 2, height / 2, size);
  const circles = rings.filter((ms) => ms * fibre < reach * 1.3).map((ms) => svg("g", {}, svg("circle", { class: "away", cx: width / 2, cy: height / 2, r: ms * fibre * perKm }), svg("text", { class: "away", x: width / 2, y: height / 2 - ms * fibre * perKm - 4, "text-anchor": "middle" }, `${ms} ms`)));
  const spokes = points.map(({ route, x, y }) => svg("line", { class: `spoke p${(route.person.arrival ?? 0) % 16}`, x1: width / 2, y1: height / 2, x2: x, y2: y }));
  const signs = points.map(({ route, x, y }) => {
    const inner = sign(route.person, size);
    inner.setAttribute("x", String(x - size / 2));
    inner.setAttribute("y", String(y - size / 2));
    const isLeft = x < width / 2;
    return svg("g", {}, inner, route.ms !== undefined && svg("text", { class: "ping", x: x + (isLeft ? -0.65 : 0.65) * size, y, "text-anchor": isLeft ? "end" : "start", "dominant-baseline": "central" }, millis(route.ms)));
  });
  const pin = svg("circle", { class: "here", cx: width / 2, cy: height / 2, r: size / 3 });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (turns && !still) await turned(d3.geoInterpolate(from ?? [at.lon - 90, at.lat * 0.3], centre), draw, place);
  draw(centre);
  marks.replaceChildren(...circles, ...spokes, pin, ...signs);
  return true;
}

/** Turns the world, as long as somebody sees it. @param {(t: number) => number[]} way @param {(middle: number[]) => void} draw @param {HTMLElement} place @returns {Promise<void>} */
function turned(way, draw, place) {
  const began = performance.now();
  return new Promise((resolve) => {
    const frame = () => {
      const t = Math.min(1, (performance.now() - began) / turning);
      if (t >= 1 || !place.isConnected) return resolve();
      draw(way(1 - (1 - t) ** 3)); // it comes to rest
      requestAnimationFrame(frame);
    };
    frame();
  });
}

/** Turns those who stand on each other round the centre, so that all are seen; a spoke keeps its length. @param {{x: number, y: number}[]} points @param {number} x @param {number} y @param {number} size */
function apart(points, x, y, size) {
  const polar = points.map((point) => ({ point, angle: Math.atan2(point.y - y, point.x - x), far: Math.max(size * 1.2, Math.hypot(point.x - x, point.y - y)) }));
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < polar.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [polar[i], polar[j]];
        const gap = Math.hypot(a.far * Math.cos(a.angle) - b.far * Math.cos(b.angle), a.far * Math.sin(a.angle) - b.far * Math.sin(b.angle));
        if (gap >= size * beside) continue;
        const by = (size * 0.1) / Math.max(a.far, b.far);
        const sense = Math.sin(a.angle - b.angle) < 0 ? -1 : 1;
        a.angle += sense * by;
        b.angle -= sense * by;
      }
    }
  }
  for (const { point, angle, far } of polar) [point.x, point.y] = [x + far * Math.cos(angle), y + far * Math.sin(angle)];
}
