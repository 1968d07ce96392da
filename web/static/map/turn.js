// The reveal's map: the world around the server, with each player's way as a straight spoke. A
// player from an unknown country stands at the foot, "somewhere", without a spoke, because a spoke
// would point to a place. If the server's country is unknown, or everybody's is, the map is a dial
// on which distance is ping.
//
//	canvas  land, turned to the server       none on the dial
//	svg     rings ─ spokes ─ signs with pings ─ the server's pin ─ somewhere

import { svg } from "../dom.js";
import { millis, say } from "../say.js";
import { sign } from "../sign.js";
import { placeOf, world } from "./world.js";

/** @typedef {{person: import("../types.js").Person, ms: number, text: string}} Spoke nearest first */

/** Half the picture's side, in its own units, and how far from the middle signs may be. */
export const half = 500;
const near = 150;
const far = 390;
/** Pings of the rings, ms; the picture has room for some of them. */
const ringsAt = [10, 20, 50, 100, 200, 500];
/** The radius within which a ring and its ping are complete, and how many rings are drawn. */
const rim = 455;
const ringsShown = 2;
/** The distance between signs, in their sizes, and how many at the foot show their pings. More stand closer, with their pings in the list. */
const apart = 1.45;
const footPings = 6;
/** How much larger signs are on a small map. */
const smallSigns = 1.5;
/** The height of the ping below a sign, in the picture's units. */
const pingHigh = 34;
/** The least land beyond the farthest player that the picture shows, radians. */
const leastReach = 0.5;
const widest = Math.PI * 0.98;
/** How many km away light in fibre goes and returns in a ms. */
const fibre = 100;
const earth = 6371;

export class Turn {
  /** @param {HTMLElement} place @param {string | undefined} country of the server @param {Spoke[]} spokes @param {boolean} [isSmall] signs are large, with their pings next to them */
  constructor(place, country, spokes, isSmall = false) {
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    const size = (spokes.length > 9 ? 62 : spokes.length > 5 ? 80 : 100) * (isSmall ? smallSigns : 1);
    this.side = isSmall ? 450 : 900; // px; the screen scales it
    const map = mapOf(country, spokes, size);
    this.centre = map?.centre;
    this.onMap = Boolean(map);
    this.reach = map?.reach ?? leastReach;
    const lost = map?.lost ?? [];
    const points = map?.points ?? dial(spokes, size);
    const at = map?.at ?? points;
    const foot = footOf(size, lost.length);
    this.spokes = spokes.map((spoke, i) => (lost.includes(spoke) ? svg("g") : svg("line", { class: `spoke p${(spoke.person.arrival ?? 0) % 16}`, x1: 0, y1: 0, x2: at[i].x, y2: at[i].y, pathLength: 1 })));
    this.signs = spokes.map((spoke, i) => {
      const shape = sign({ ...spoke.person, able: false }, size);
      shape.setAttribute("x", String(at[i].x - size / 2));
      shape.setAttribute("y", String(at[i].y - size / 2));
      const isCrowd = lost.length > footPings && lost.includes(spoke);
      return svg("g", { class: lost.includes(spoke) ? "lost" : "" }, shape, !isCrowd && svg("text", { class: "ping", x: at[i].x, y: at[i].y + size / 2 + pingHigh, "text-anchor": "middle" }, spoke.text));
    });
    this.pin = svg("g", { class: "pin" }, svg("circle", { class: "halo", r: 46 }), svg("circle", { class: "core", r: 28 }));
    const scale = this.onMap ? (/** @type {number} */ ms) => (far * ms * fibre) / earth / this.reach : pingScale(spokes, size);
    const whole = ringsAt.map((ms) => ({ ms, r: scale(ms) })).filter(({ r }) => r >= (this.onMap ? near : 0) && r <= rim);
    this.rings = svg("g", { class: "rings" }, whole.slice(-ringsShown).map(({ r }) => svg("circle", { r })));
    this.pings = svg("g", { class: "ring-pings" }, whole.slice(-ringsShown).map(({ ms, r }) => {
      const turn = this.onMap ? clearest(r, points, size) : 0;
      return svg("text", { x: r * Math.sin(turn), y: -r * Math.cos(turn), "text-anchor": "middle", "dominant-baseline": "central" }, this.onMap ? say("ping.at-best", { ms: millis(ms) }) : millis(ms));
    }));
    const word = lost.length > 0 && svg("text", { class: "somewhere", x: 0, y: foot - size / 2 - 18, "text-anchor": "middle" }, say("map.somewhere"));
    this.foot = svg("g", {}, word);
    const picture = svg("svg", { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, "aria-hidden": "true" }, this.rings, this.spokes, this.pings, this.signs, this.pin, this.foot);
    place.replaceChildren(this.canvas, picture);
    if (this.onMap) world().then((loaded) => { this.world = loaded; this.land(this.turned ?? 1, true); }, () => {}); // without land, the spokes are enough
  }

  /** Shows a moment. @param {ReturnType<typeof import("../stages/moment.js").seenAt>} seen */
  show(seen) {
    const grown = 0.4 + 0.6 * seen.pin;
    this.pin.style.cssText = `opacity:${seen.pin};scale:${grown}`;
    this.rings.style.opacity = this.pings.style.opacity = this.foot.style.opacity = String(seen.turn);
    this.rings.style.rotate = `${-60 * (1 - seen.turn)}deg`;
    seen.spokes.forEach((shot, i) => {
      this.spokes[i].style.cssText = `stroke-dashoffset:${1 - shot};opacity:${shot > 0 ? 1 : 0}`;
      this.signs[i].style.cssText = `opacity:${shot}`;
    });
    this.canvas.style.opacity = String(Math.min(seen.dim, 0.25 + seen.turn));
    this.land(seen.turn);
  }

  /** Draws the land, turned part of the way. @param {number} turned from 0 to 1 */
  land(turned, anew = false) {
    if (!this.onMap || !this.centre || (!anew && this.turned === turned)) return;
    this.turned = turned;
    if (!this.world) return;
    const { side } = this;
    this.canvas.width = this.canvas.height = side;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const { d3, land } = this.world;
    const projection = projectionOf(this.world, this.centre, this.reach, side, 70 * (1 - turned));
    const style = getComputedStyle(this.canvas);
    context.fillStyle = style.getPropertyValue("--land");
    context.beginPath();
    d3.geoPath(projection, context)(land);
    context.fill();
    const country = shapeOf(this.world, this.centre);
    if (!country || turned < 1) return;
    context.fillStyle = style.getPropertyValue("--gold");
    context.globalAlpha = 0.55;
    context.beginPath();
    d3.geoPath(projection, context)(country);
    context.fill();
  }
}

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
  const ways = placed.map(({ person }) => away(centre, /** @type {import("./world.js").Country} */ (placeOf(person.country))));
  const reach = Math.min(widest, Math.max(leastReach, ...ways.map(({ angle }) => angle)));
  const points = ways.map(({ angle, bearing }, i) => {
    const r = Math.max(near, (far * angle) / reach);
    const turn = angle < 0.02 ? (2 * Math.PI * i) / ways.length : bearing;
    return { x: r * Math.sin(turn), y: -r * Math.cos(turn) };
  });
  const foot = footOf(size, lost.length);
  spread(points, size, lost.length > 0 ? foot - size - 2 * pingHigh : half - size / 2 - 40);
  const at = all.map((one) => (lost.includes(one) ? somewhere(lost.indexOf(one), lost.length, size, foot) : points[placed.indexOf(one)]));
  return { centre, reach, lost, points, at };
}

/** The projection of such a map to a square. @param {import("./world.js").World} world @param {import("./world.js").Country} centre @param {number} reach radians @param {number} side px @param {number} [back] degrees it has yet to turn */
export function projectionOf({ d3 }, centre, reach, side, back = 0) {
  const scale = ((far / half) * (side / 2)) / reach;
  return d3.geoAzimuthalEquidistant().rotate([-centre.lon + back, -centre.lat + back / 4]).translate([side / 2, side / 2]).scale(scale).clipAngle(179);
}

/** A country's shape, if the map has it. @param {import("./world.js").World} world @param {import("./world.js").Country} centre */
export const shapeOf = (world, centre) => world.countries.find((shape) => String(shape.id) === centre.number);

/** The height at which players from unknown countries stand. @param {number} size @param {number} lost */
const footOf = (size, lost) => half - size / 2 - (lost > footPings ? 4 : pingHigh + 6);

/** Everybody around the server, at the distance of their ping. Nobody stands at twelve o'clock, where the rings show their pings. @param {Spoke[]} spokes @param {number} size */
function dial(spokes, size) {
  const scale = pingScale(spokes, size);
  const order = spokes.map(({ person }) => person.arrival ?? 0).toSorted((a, b) => a - b);
  return spokes.map(({ person, ms }) => {
    const turn = (2 * Math.PI * (order.indexOf(person.arrival ?? 0) + 1)) / (spokes.length + 1);
    const r = scale(ms);
    return { x: r * Math.sin(turn), y: -r * Math.cos(turn), r };
  });
}

/**
 * The distance of a ping from the middle of the dial. Each ms is equally long, as on the bars next
 * to it, so that the rings read like a ruler. 0 ms is not at the pin but on a circle around it that
 * has room for all signs, so that no sign moves to where another ping belongs.
 * @param {Spoke[]} spokes @param {number} size of signs
 */
function pingScale(spokes, size) {
  const longest = Math.max(1, ...spokes.map(({ ms }) => ms));
  const nought = Math.max(near, ((spokes.length + 1) * size * apart) / (2 * Math.PI));
  return (/** @type {number} */ ms) => nought + ((far - nought) * ms) / longest;
}

/** The position at the picture's foot of a player from an unknown country. @param {number} i @param {number} of @param {number} size @param {number} y */
function somewhere(i, of, size, y) {
  const pitch = of > footPings ? Math.min(size * 1.1, (2 * half - size) / of) : Math.max(size * apart, 125); // room for "≈ 247 ms"
  return { x: pitch * (i - (of - 1) / 2), y, r: half };
}

/** The direction, radians, in which a ring's ping is farthest from all spokes and signs. @param {number} r @param {{x: number, y: number}[]} at @param {number} size */
function clearest(r, at, size) {
  const room = (/** @type {number} */ turn) => {
    const [x, y] = [r * Math.sin(turn), -r * Math.cos(turn)];
    return Math.min(...at.map((end) => {
      const along = Math.min(1, Math.max(0, (x * end.x + y * end.y) / (end.x ** 2 + end.y ** 2)));
      return Math.min(Math.hypot(x - along * end.x, y - along * end.y), Math.hypot(x - end.x, y - end.y - size / 2 - pingHigh));
    }));
  };
  const turns = Array.from({ length: 24 }, (_, i) => (Math.PI * i) / 12).filter((turn) => -r * Math.cos(turn) < far / 2); // not at the foot
  return turns.reduce((best, turn) => (room(turn) > room(best) + 1 ? turn : best));
}

/** The distance on the globe and the direction, in radians. @param {import("./world.js").Country} from @param {import("./world.js").Country} to */
function away(from, to) {
  const [a, b, lon] = [from.lat, to.lat, to.lon - from.lon].map((degrees) => (degrees * Math.PI) / 180);
  const angle = Math.acos(Math.min(1, Math.max(-1, Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(lon))));
  const bearing = Math.atan2(Math.sin(lon) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(lon));
  return { angle, bearing };
}

/** Pushes signs apart that would hide each other. @param {{x: number, y: number}[]} at @param {number} size @param {number} lowest where they may be */
function spread(at, size, lowest) {
  const least = size * apart;
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < at.length; i++) {
      for (let j = 0; j < i; j++) {
        const [dx, dy] = [at[i].x - at[j].x || 1, at[i].y - at[j].y];
        const distance = Math.hypot(dx, dy);
        if (distance >= least) continue;
        const push = (least - distance) / 2 / distance;
        at[i].x += dx * push;
        at[i].y += dy * push;
        at[j].x -= dx * push;
        at[j].y -= dy * push;
      }
    }
    for (const one of at) {
      const most = half - size / 2 - 40;
      one.x = Math.min(most, Math.max(-most, one.x));
      one.y = Math.min(lowest, Math.max(-most, one.y));
    }
  }
}
