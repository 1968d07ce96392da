// The reveal's map: the world round the server, with everybody's way a straight spoke; and
// where places are not known a dial, on which distance is ping.
//
//	canvas  land, turned to the server       none on the dial
//	svg     rings ─ spokes ─ signs with pings ─ the server's pin

import { svg } from "../dom.js";
import { sign } from "../sign.js";
import { placeOf, world } from "./world.js";

/** @typedef {{person: import("../types.js").Person, ms: number, text: string}} Spoke nearest first */

/** Half the picture's side, in its own units, and how far from the middle signs may be. */
const half = 500;
const near = 150;
const far = 390;
/** The rim of the picture shows land beyond who is farthest, radians at least. */
const leastReach = 0.5;
const widest = Math.PI * 0.98;
/** Light in fibre is there and back over so many km in a ms. */
const fibre = 100;
const earth = 6371;

export class Turn {
  /** @param {HTMLElement} place @param {string | undefined} country of the server @param {Spoke[]} spokes */
  constructor(place, country, spokes) {
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.centre = placeOf(country);
    this.onMap = Boolean(this.centre && spokes.length > 0 && spokes.every(({ person }) => placeOf(person.country)));
    this.reach = leastReach;
    const at = this.onMap ? this.geographic(spokes) : dial(spokes);
    const size = spokes.length > 9 ? 62 : spokes.length > 5 ? 80 : 100;
    spread(at, size);
    this.spokes = spokes.map(({ person }, i) => svg("line", { class: `spoke p${(person.arrival ?? 0) % 16}`, x1: 0, y1: 0, x2: at[i].x, y2: at[i].y, pathLength: 1 }));
    this.signs = spokes.map(({ person, text }, i) => {
      const shape = sign({ ...person, able: false }, size);
      shape.setAttribute("x", String(at[i].x - size / 2));
      shape.setAttribute("y", String(at[i].y - size / 2));
      return svg("g", {}, shape, svg("text", { class: "ping", x: at[i].x, y: at[i].y + size / 2 + 34, "text-anchor": "middle" }, text));
    });
    this.pin = svg("g", { class: "pin" }, svg("circle", { class: "halo", r: 46 }), svg("circle", { class: "core", r: 28 }));
    this.rings = svg("g", { class: "rings" }, this.onMap ? [50, 100].map((ms) => svg("circle", { r: Math.min(half * 2, (far * ms * fibre) / earth / this.reach) })) : at.map(({ r }) => svg("circle", { r })));
    const picture = svg("svg", { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, "aria-hidden": "true" }, this.rings, this.spokes, this.signs, this.pin);
    place.replaceChildren(this.canvas, picture);
    if (this.onMap) world().then((loaded) => { this.world = loaded; this.land(this.turned ?? 1, true); }, () => {}); // the spokes say it without land
  }

  /** Where players are seen from the server. @param {Spoke[]} spokes */
  geographic(spokes) {
    const from = /** @type {import("./world.js").Country} */ (this.centre);
    const all = spokes.map(({ person }) => away(from, /** @type {import("./world.js").Country} */ (placeOf(person.country))));
    this.reach = Math.min(widest, Math.max(leastReach, ...all.map(({ angle }) => angle)));
    return all.map(({ angle, bearing }, i) => {
      const r = Math.max(near, (far * angle) / this.reach);
      const turn = angle < 0.02 ? (2 * Math.PI * i) / spokes.length : bearing;
      return { x: r * Math.sin(turn), y: -r * Math.cos(turn), r };
    });
  }

  /** Shows a moment. @param {ReturnType<typeof import("../stages/moment.js").seenAt>} seen */
  show(seen) {
    const grown = 0.4 + 0.6 * seen.pin;
    this.pin.style.cssText = `opacity:${seen.pin};scale:${grown}`;
    this.rings.style.opacity = String(seen.turn);
    this.rings.style.rotate = `${-60 * (1 - seen.turn)}deg`;
    seen.spokes.forEach((shot, i) => {
      this.spokes[i].style.cssText = `stroke-dashoffset:${1 - shot};opacity:${shot > 0 ? 1 : 0}`;
      this.signs[i].style.cssText = `opacity:${shot}`;
    });
    this.canvas.style.opacity = String(Math.min(seen.dim, 0.25 + seen.turn));
    this.land(seen.turn);
  }

  /** Draws the land, turned so far. @param {number} turned from 0 to 1 */
  land(turned, anew = false) {
    if (!this.onMap || !this.centre || (!anew && this.turned === turned)) return;
    this.turned = turned;
    if (!this.world) return;
    const side = (this.canvas.width = this.canvas.height = 900); // px; the screen scales it
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const { d3, land } = this.world;
    const back = 70 * (1 - turned); // degrees it has yet to turn
    const scale = ((far / half) * (side / 2)) / this.reach;
    const projection = d3.geoAzimuthalEquidistant().rotate([-this.centre.lon + back, -this.centre.lat + back / 4]).translate([side / 2, side / 2]).scale(scale).clipAngle(179);
    const style = getComputedStyle(this.canvas);
    context.fillStyle = style.getPropertyValue("--land");
    context.beginPath();
    d3.geoPath(projection, context)(land);
    context.fill();
    const number = this.centre.number;
    const country = this.world.countries.find((/** @type {any} */ shape) => String(shape.id) === number);
    if (!country || turned < 1) return;
    context.fillStyle = style.getPropertyValue("--gold");
    context.globalAlpha = 0.55;
    context.beginPath();
    d3.geoPath(projection, context)(country);
    context.fill();
  }
}

/** Everybody round the server, as far as their ping. @param {Spoke[]} spokes */
function dial(spokes) {
  const longest = Math.max(1, ...spokes.map(({ ms }) => ms));
  const order = spokes.map(({ person }) => person.arrival ?? 0).toSorted((a, b) => a - b);
  return spokes.map(({ person, ms }) => {
    const turn = (2 * Math.PI * (order.indexOf(person.arrival ?? 0) + 0.5)) / spokes.length;
    const r = near + (far - near) * Math.sqrt(ms / longest);
    return { x: r * Math.sin(turn), y: -r * Math.cos(turn), r };
  });
}

/** How far it is on the globe, and whereto, in radians. @param {import("./world.js").Country} from @param {import("./world.js").Country} to */
function away(from, to) {
  const [a, b, lon] = [from.lat, to.lat, to.lon - from.lon].map((degrees) => (degrees * Math.PI) / 180);
  const angle = Math.acos(Math.min(1, Math.max(-1, Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(lon))));
  const bearing = Math.atan2(Math.sin(lon) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(lon));
  return { angle, bearing };
}

/** Pushes signs apart that would hide each other. @param {{x: number, y: number}[]} at @param {number} size */
function spread(at, size) {
  const apart = size * 1.45;
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < at.length; i++) {
      for (let j = 0; j < i; j++) {
        const [dx, dy] = [at[i].x - at[j].x || 1, at[i].y - at[j].y];
        const distance = Math.hypot(dx, dy);
        if (distance >= apart) continue;
        const push = (apart - distance) / 2 / distance;
        at[i].x += dx * push;
        at[i].y += dy * push;
        at[j].x -= dx * push;
        at[j].y -= dy * push;
      }
    }
    for (const one of at) {
      const most = half - size / 2 - 40;
      one.x = Math.min(most, Math.max(-most, one.x));
      one.y = Math.min(most, Math.max(-most, one.y));
    }
  }
}
