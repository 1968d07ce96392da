// The world around the server. A straight spoke leads to each player's place. A player whose place
// nobody knows stands somewhere around the server on a dotted spoke, as far away as their ping
// usually means. If the server's country is unknown, there is no such picture, because then places
// mean nothing.
//
//	canvas  sea, land, the country in gold
//	svg     rings ─ spokes ─ signs with names and pings ─ the server
//
// The style sheet says how large the picture is, where signs may be (padding), and how large signs
// and their words are (font-size). lay.js and labels.js decide everything else.

import { svg } from "../dom.js";
import { millis, say } from "../say.js";
import { shortened, sign } from "../sign.js";
import { drawGlobe } from "./globe.js";
import { labelled } from "./labels.js";
import { fitted, lightReach, someWay } from "./lay.js";
import { far, wayTo } from "./projection.js";
import { placeOf, world } from "./world.js";

/** @typedef {{person: import("../types.js").Person, ms: number, text: string, isGuess?: boolean}} Spoke nearest first */
/** @typedef {"whole" | "pings" | "none"} Said what stands beside the signs */
/** @typedef {ReturnType<typeof import("../stages/moment.js").seenAt>} Seen */

/** Sizes in the map's own em. */
const signEm = 2.3;
const pinEm = 0.72;
const haloEm = 1.15;
/** Pings of the rings, ms, of which two are drawn. */
const ringsAt = [10, 20, 50, 100];
const ringsShown = 2;
/** The em from which rings say what they are, px. */
const ringWords = 17;
/** The width below which a table of more than four leaves names to the list, px. */
const smallTable = 600;
/** The number of players from which signs are smaller, and from which their words are one figure. */
const several = 6;
const many = 9;

/** Everything about the picture that depends on its size. @typedef {{width: number, height: number, em: number, room: import("./lay.js").Box, whole: import("./lay.js").Box, taken: import("./lay.js").Box[]}} Room where signs may be, where their words may be, and where something else is */

/** The room of a place, as the style sheet says. @param {HTMLElement} place @returns {Room} */
function roomOf(place) {
  const style = getComputedStyle(place);
  const [width, height] = [place.clientWidth, place.clientHeight];
  const [top, right, bottom, left] = ["Top", "Right", "Bottom", "Left"].map((side) => parseFloat(/** @type {any} */ (style)[`padding${side}`]));
  const edge = 6;
  const late = document.querySelector("#stage .late")?.getBoundingClientRect();
  const at = place.getBoundingClientRect();
  const taken = late ? [{ left: late.left - at.left, right: late.right - at.left, top: late.top - at.top, bottom: late.bottom - at.top }] : [];
  return { taken, width, height, em: parseFloat(style.fontSize), room: { left, top, right: width - right, bottom: height - bottom }, whole: { left: Math.max(edge, left / 2), top: Math.max(edge, top * 0.62), right: width - edge, bottom: height - Math.max(edge, bottom / 2) } };
}

export class Turn {
  /** @param {HTMLElement} place @param {string | import("./world.js").Country | undefined} where the server's country, or its position @param {Spoke[]} spokes @param {{says?: Said, table?: boolean}} [more] whether the players will come to a table around the server */
  constructor(place, where, spokes, { says = "whole", table = false } = {}) {
    this.place = place;
    this.spokes = spokes;
    this.says = says;
    this.hasTable = table;
    if (table && place.clientWidth < smallTable && spokes.length > 4) this.says = "pings";
    this.centre = typeof where === "object" ? where : placeOf(where);
    /** @type {Seen | null} */
    this.seen = null;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.rings = svg("svg", { class: "rings", "aria-hidden": "true" }); // they fade as the land does
    this.picture = svg("svg", { "aria-hidden": "true" });
    place.replaceChildren(this.canvas, this.rings, this.picture);
    this.drawn = "";
    this.laid = "";
    this.layOut();
    const isShown = () => this.canvas.isConnected; // a later map takes the place
    const resized = new ResizeObserver(() => (isShown() ? this.layOut() : resized.disconnect()));
    resized.observe(place);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recoloured = () => (isShown() ? this.land() : scheme.removeEventListener("change", recoloured));
    scheme.addEventListener("change", recoloured);
    if (this.centre) world().then((loaded) => { this.world = loaded; this.drawn = ""; this.land(); }, () => {}); // without land, the spokes are enough
  }

  /** Lays everything out for the size that the place has now. */
  layOut() {
    const { centre, place, spokes } = this;
    const room = roomOf(place);
    if (!centre || room.width < 60 || room.height < 60 || !place.isConnected) return;
    /** @type {string} */
    const laid = `${room.width} ${room.height} ${room.em}`;
    if (this.laid === laid) return;
    this.laid = laid;
    this.room = room;
    const size = room.em * signEm * (spokes.length >= many ? 0.72 : spokes.length >= several ? 0.86 : 1);
    const ways = spokes.map(({ person, ms }) => {
      const at = placeOf(person.country);
      return at ? wayTo(centre, at) : someWay(ms);
    });
    this.fit = this.hasTable ? seated(ways, room.room, size) : fitted(ways, room.room, size);
    this.at = this.fit.stands.map(({ x, y }) => ({ x: x + this.server.x, y: y + this.server.y }));
    for (const picture of [this.rings, this.picture]) picture.setAttribute("viewBox", `0 0 ${room.width} ${room.height}`);
    this.fill();
    this.drawn = "";
    if (this.seen) this.show(this.seen);
    else this.land();
  }

  /** The server's position, px. */
  get server() {
    const { x, y } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    return { x, y };
  }

  /** The radius of the table, px. */
  get table() {
    const { size } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    return tableOf(this.spokes.length) * size;
  }

  fill() {
    const { spokes, server, at } = this;
    const { size } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    const { em } = /** @type {Room} */ (this.room);
    const words = spokes.map((spoke) => this.wordsOf(spoke));
    this.signs = spokes.map(({ person }, i) => {
      const shape = sign({ ...person, able: false }, size);
      shape.setAttribute("x", String(-size / 2));
      shape.setAttribute("y", String(-size / 2));
      return svg("g", { class: "stand" }, shape, words[i].element);
    });
    this.ways = spokes.map(({ person, isGuess }, i) => svg("g", { class: `spoke p${(person.arrival ?? 0) % 16}${placeOf(person.country) ? "" : " lost"}${isGuess ? " guess" : ""}` }, ["case", "line"].map((name) => svg("line", { class: name, x1: server.x, y1: server.y, x2: at?.[i].x, y2: at?.[i].y, pathLength: placeOf(person.country) ? 1 : undefined }))));
    this.pin = svg("g", { class: "pin" }, svg("circle", { class: "halo", r: em * haloEm }), svg("circle", { class: "core", r: em * pinEm }));
    this.pin.setAttribute("transform", `translate(${server.x} ${server.y})`);
    this.under = svg("g", {});
    this.picture.replaceChildren(this.under, ...this.ways, this.pin, ...this.signs);
    this.words = words.map((one) => ({ ...one, ...one.measure() }));
    this.stand(at ?? []);
  }

  /** The words beside a sign. @param {Spoke} spoke */
  wordsOf({ person, ms, text }) {
    const { em } = /** @type {Room} */ (this.room);
    const isCrowd = this.spokes.length >= many;
    const name = this.says === "whole" && !isCrowd ? svg("text", { class: "name", y: -0.1 * em }, shortened(person.name, longestName)) : null;
    const some = this.says === "whole" && !isCrowd && !placeOf(person.country) ? svg("text", { class: "some", y: 1.85 * em }, say("map.somewhere")) : null;
    const ping = this.says === "none" ? null : svg("text", { class: "ping", y: (name ? 0.95 : 0.36) * em }, isCrowd ? text.replace(/\s*ms$/, "") : text);
    const element = svg("g", { class: "words" }, name, ping, some);
    const measure = () => {
      for (let letters = longestName; name instanceof SVGTextContentElement && letters > 3 && name.getComputedTextLength() > widestName * em;) name.textContent = shortened(person.name, --letters);
      const widths = [name, ping, some].map((one) => (one instanceof SVGTextContentElement ? one.getComputedTextLength() : 0));
      return { width: Math.max(...widths), height: em * (ping ? (name ? 2.05 : 1.05) + (some ? 0.9 : 0) : 0) };
    };
    return { element, measure, ms };
  }

  /** Puts signs and their words at these points, px. @param {{x: number, y: number}[]} at @param {{x: number, y: number}[]} [from] where each one's line begins, if not at the server */
  stand(at, from = at.map(() => this.server)) {
    const { signs, words, server } = this;
    const { size } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    const { whole, em, taken } = /** @type {Room} */ (this.room);
    signs?.forEach((one, i) => { one.style.transform = `translate(${at[i].x}px, ${at[i].y}px)`; });
    if (!words || this.says === "none") return;
    const places = labelled(server, at, size, words, whole, { whole: this.says === "whole", from, taken: [...taken, ...from.filter((point) => point !== this.server && !at.some(({ x, y }) => Math.hypot(x - point.x, y - point.y) < size)).map((point) => around(point, em, em))] });
    /** The boxes of words. @type {import("./lay.js").Box[]} */
    const boxes = [];
    words.forEach(({ element, width, height }, i) => {
      const place = places[i];
      element.style.visibility = place ? "" : "hidden";
      if (!place) return;
      element.setAttribute("text-anchor", place.anchor);
      element.style.transform = `translate(${place.x - at[i].x}px, ${place.y - at[i].y - height / 2 + 0.75 * em}px)`;
      const x = place.anchor === "middle" ? place.x : place.x + (place.anchor === "start" ? width : -width) / 2;
      boxes.push(around({ x, y: place.y }, width, height));
    });
    this.drawRings(at, [...taken, ...boxes], at.map((point, i) => (Math.hypot(from[i].x - server.x, from[i].y - server.y) > Math.hypot(point.x - server.x, point.y - server.y) ? from[i] : point)));
  }

  /** Rings as far as light in fibre comes in some time. They say so where there is room. @param {{x: number, y: number}[]} at the signs @param {import("./lay.js").Box[]} taken @param {{x: number, y: number}[]} ends where the lines from the server end */
  drawRings(at, taken, ends) {
    const { server, rings } = this;
    const { scale, size } = /** @type {NonNullable<typeof this.fit>} */ (this.fit);
    const { width, height, whole, em } = /** @type {Room} */ (this.room);
    const all = ringsAt.map((ms) => ({ ms, r: scale * far(lightReach(ms)) })).filter(({ r }) => r > 2.2 * em * haloEm && r < 0.75 * Math.max(width, height)).slice(-ringsShown);
    rings.replaceChildren(...all.map(({ r }) => svg("circle", { cx: server.x, cy: server.y, r })));
    if (this.says !== "whole" || em < ringWords) return;
    taken = [...taken, ...at.map((sign) => around(sign, size * 1.2, size * 1.2))];
    for (const { ms, r } of all) {
      const text = svg("text", { "text-anchor": "middle", "dominant-baseline": "central" }, say("ping.at-best", { ms: millis(ms) }));
      rings.append(text);
      const wide = /** @type {SVGTextContentElement} */ (/** @type {unknown} */ (text)).getComputedTextLength();
      const place = Array.from({ length: 48 }, (_, i) => Math.PI + (Math.PI * (i % 2 ? i : -i)) / 48) // from below, to both sides
        .map((turn) => ({ x: server.x + r * Math.sin(turn), y: server.y - r * Math.cos(turn) }))
        .find((point) => {
          const box = around(point, wide + em * 0.4, em * 1.2);
          return box.left > whole.left && box.right < whole.right && box.top > whole.top && box.bottom < whole.bottom && !taken.some((other) => touches(box, other)) && !ends.some((end) => [-0.5, -0.25, 0, 0.25, 0.5].some((part) => nearLine({ x: point.x + part * wide, y: point.y }, server, end) < em * 0.9));
        });
      if (!place) {
        text.remove();
        continue;
      }
      taken.push(around(place, wide + em, em * 2));
      text.setAttribute("x", String(place.x));
      text.setAttribute("y", String(place.y));
    }
  }

  /** Shows a moment. @param {Seen} seen */
  show(seen) {
    this.seen = seen;
    if (!this.pin) return;
    this.pin.style.opacity = String(seen.pin);
    this.rings.style.opacity = String(seen.turn);
    seen.spokes.forEach((shot, i) => {
      this.ways?.[i].style.setProperty("--shot", String(shot));
      if (this.signs?.[i]) this.signs[i].style.opacity = String(shot);
    });
    this.canvas.style.opacity = String(Math.min(seen.dim, 0.25 + seen.turn));
    this.land();
  }

  /** Draws the land, turned as far as the moment says. */
  land() {
    const turned = this.seen?.turn ?? 1;
    const { centre, fit, room, canvas } = this;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const drawn = `${this.laid} ${turned} ${dark}`;
    if (!this.world || !centre || !fit || !room || drawn === this.drawn) return;
    if (!this.place.isConnected) return; // it has no colours any more
    this.drawn = drawn;
    const style = getComputedStyle(this.place);
    const [sea, land, border, gold] = ["--sea", "--world", "--ground", "--gold"].map((name) => style.getPropertyValue(name).trim());
    drawGlobe(canvas, this.world, { centre, x: fit.x, y: fit.y, scale: fit.scale, width: room.width, height: room.height, glow: Math.max(9 * room.em, fit.scale * 0.5) }, { sea, land, border, gold }, turned);
  }
}

/** The radius of a table that has room for everybody, in signs. @param {number} n */
const tableOf = (n) => Math.max(1.9, (n * 1.2) / (2 * Math.PI) + 0.3);

/** Where players' homes are if they come to a table. @param {import("./lay.js").Way[]} ways @param {import("./lay.js").Box} room @param {number} size */
const seated = (ways, room, size) => fitted(ways, room, size, { least: tableOf(ways.length) + 1.3 });

/** The longest name beside a sign, in letters and in the map's em. */
const longestName = 14;
const widestName = 6.5;

/** @param {{x: number, y: number}} middle @param {number} width @param {number} height @returns {import("./lay.js").Box} */
const around = ({ x, y }, width, height) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });

/** @param {import("./lay.js").Box} a @param {import("./lay.js").Box} b */
const touches = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** The distance of a point from a line. @param {{x: number, y: number}} point @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
function nearLine(point, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const along = Math.min(1, Math.max(0, ((point.x - from.x) * dx + (point.y - from.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(point.x - from.x - along * dx, point.y - from.y - along * dy);
}
