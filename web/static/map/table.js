// The way to the server as a picture: a gold table around it, and each sign at one of three places:
// at home, half way while the game opens, and at the table. It never shows progress that nobody
// knows.

import { svg } from "../dom.js";
import { turned } from "./lay.js";
import { Turn } from "./turn.js";

/** @typedef {"home" | "half" | "in" | "failed"} Where */
/** @typedef {{x: number, y: number}} Point */

/** The distance of signs from each other, in their sizes. */
const apart = 1.16;
/** Where on its way a sign may wait, as shares of the way, best first. */
const halves = [0.5, 0.6, 0.4, 0.7, 0.3, 0.8];

/**
 * Where signs stand. This is a pure function.
 * @param {Point[]} homes @param {Point[]} seats @param {Where[]} where @param {number} size
 */
export function standing(homes, seats, where, size) {
  const along = (/** @type {number} */ i, /** @type {number} */ share) => ({ x: homes[i].x + (seats[i].x - homes[i].x) * share, y: homes[i].y + (seats[i].y - homes[i].y) * share, share });
  const at = where.map((one, i) => along(i, one === "in" ? 1 : 0));
  const fixed = at.filter((_, i) => where[i] !== "half");
  where.forEach((one, i) => {
    if (one !== "half") return;
    const free = (/** @type {Point} */ point) => Math.min(...fixed.map(({ x, y }) => Math.hypot(x - point.x, y - point.y)), Infinity);
    const places = halves.map((share) => along(i, share));
    at[i] = places.find((place) => free(place) >= apart * size) ?? places.reduce((best, place) => (free(place) > free(best) ? place : best));
    fixed.push(at[i]);
  });
  return at;
}

export class Table extends Turn {
  /** @param {HTMLElement} place @param {string | undefined} country @param {import("./turn.js").Spoke[]} spokes @param {Where[]} where */
  constructor(place, country, spokes, where) {
    super(place, country, spokes, { table: true });
    this.where = where;
    this.gather();
  }

  /** Takes everybody to where they are now. @param {Where[]} where */
  move(where) {
    this.where = where;
    this.gather();
  }

  fill() {
    super.fill();
    const { server, under, spokes, at } = this;
    const { size } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    const { em } = /** @type {import("./turn.js").Room} */ (this.room);
    const ways = /** @type {NonNullable<typeof this.fit>} */ (this.fit).stands;
    const turns = turned(ways.map(({ turn }) => ({ angle: 1, bearing: turn })), 2 * Math.asin(Math.min(1, (apart * size) / 2 / this.table)));
    this.seats = turns.map((turn) => ({ x: server.x + this.table * Math.sin(turn), y: server.y - this.table * Math.cos(turn) }));
    for (const way of this.ways ?? []) way.remove();
    this.trails = spokes.map(({ person }, i) => {
      const [from, to] = [at?.[i] ?? server, this.seats?.[i] ?? server];
      const line = (/** @type {string} */ name, /** @type {number | undefined} */ length) => svg("line", { class: name, x1: from.x, y1: from.y, x2: to.x, y2: to.y, pathLength: length });
      return svg("g", { class: `trail p${(person.arrival ?? 0) % 16}` }, line("ahead", undefined), line("case", 1), line("behind", 1), svg("circle", { class: "home", cx: from.x, cy: from.y, r: em * 0.4 }));
    });
    under?.replaceChildren(svg("circle", { class: "board", cx: server.x, cy: server.y, r: this.table }), ...this.trails);
    this.gather();
  }

  /** Puts signs, their trails and their words where they are. */
  gather() {
    const { where, at, seats, trails } = this;
    if (!where || !at || !seats || !trails) return;
    const { size } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    const now = standing(at, seats, where, size);
    trails.forEach((trail, i) => {
      trail.style.setProperty("--share", String(now[i].share));
      trail.setAttribute("class", `${(trail.getAttribute("class") ?? "").replace(/ is-\w+/, "")} is-${where[i]}`);
    });
    this.stand(now, at);
  }
}
