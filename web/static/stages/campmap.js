// Where a side's people are: a small globe that is turned to them, with their signs. A country is all
// that is known of a place, so signs that would hide each other move apart.

import { h, svg } from "../dom.js";
import { far, wayTo } from "../map/lay.js";
import { placeOf, world } from "../map/world.js";
import { sign } from "../sign.js";
import { campOf, peopleOf } from "./camps.js";
import { nextFrame } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {{x: number, y: number, person: Person}} Mark */

/** The least reach of a globe: nearer people do not enlarge it further, radians. */
const leastReach = 0.35;
/** The share of the globe's radius within which signs stand. */
const within = 0.74;
/** The size of signs, as a share of the globe's width, and their distance as multiples of it. */
const signOf = 0.105;
const apart = 1.12;

/** What each globe shows. @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/** A place for a side's globe, if anybody's country is known. @param {import("./camps.js").Camp} camp @param {Person[]} people */
export function campMap(camp, people) {
  return people.some(({ country }) => placeOf(country)) && h("div", { class: "camp-map", "data-key": "globe", "data-keep": true, "data-side": camp.side, "aria-hidden": "true" });
}

/** Draws the visible globes that are not yet drawn. @param {HTMLElement} place @param {State} state */
export function drawCampMaps(place, state) {
  for (const box of place.querySelectorAll(".camp-map")) {
    const camp = state.match && campOf(state.match, box.getAttribute("data-side") ?? "");
    if (!camp || !(box instanceof HTMLElement) || !box.checkVisibility() || box.clientWidth < 80 || box.clientHeight < 80) continue;
    const people = peopleOf(state, camp).filter(({ country }) => placeOf(country));
    const { clientWidth: width, clientHeight: height } = box;
    const shows = JSON.stringify([width, height, people.map((one) => [one.name, one.arrival, one.country, one.connected]), matchMedia("(prefers-color-scheme: dark)").matches]);
    if (drawn.get(box) === shows) continue;
    drawn.set(box, shows);
    void Promise.all([world(), import("../map/globe.js")]).then(
      ([loaded, { drawGlobe }]) => nextFrame(() => {
        if (drawn.get(box) !== shows) return;
        if (box.clientWidth !== width || box.clientHeight !== height) drawn.delete(box); // a phone was turned meanwhile
        else draw(box, loaded, drawGlobe, people);
      }),
      () => drawn.delete(box), // the list says who is on the side
    );
  }
}

/** @param {HTMLElement} box @param {import("../map/world.js").World} loaded @param {typeof import("../map/globe.js").drawGlobe} drawGlobe @param {Person[]} people */
function draw(box, loaded, drawGlobe, people) {
  const [width, height] = [box.clientWidth, box.clientHeight];
  const radius = Math.min(width, height) / 2;
  const homes = people.map(({ country }) => /** @type {import("../map/world.js").Country} */ (placeOf(country)));
  const centre = middleOf(homes);
  const reach = Math.max(leastReach, ...homes.map((home) => wayTo(centre, home).angle));
  const scale = Math.max(radius / 2, (within * radius) / far(reach));
  const size = 2 * radius * signOf;
  const marks = people.map((person, i) => {
    const { angle, bearing = 0 } = wayTo(centre, homes[i]);
    const r = Math.min(within * radius, scale * far(angle));
    return { person, x: width / 2 + r * Math.sin(bearing), y: height / 2 - r * Math.cos(bearing) };
  });
  part(marks, size * apart, { x: width / 2, y: height / 2, radius: radius - size * 0.6 });
  const style = getComputedStyle(box);
  const [sea, land, border] = ["--sea", "--world", "--ground"].map((name) => style.getPropertyValue(name).trim());
  const canvas = document.createElement("canvas");
  drawGlobe(canvas, loaded, { centre: { ...centre, km: 0, number: "" }, x: width / 2, y: height / 2, scale, width, height, glow: 1 }, { sea, land, border, gold: "transparent" }, 1);
  box.replaceChildren(canvas, svg("svg", { viewBox: `0 0 ${width} ${height}` }, marks.map(({ person, x, y }) => signAt(person, x, y, size))));
}

/** @param {Person} person @param {number} x @param {number} y @param {number} size */
function signAt(person, x, y, size) {
  const shape = sign({ ...person, able: false }, size);
  shape.setAttribute("x", String(x - size / 2));
  shape.setAttribute("y", String(y - size / 2));
  return shape;
}

/** The middle of some places on the globe. @param {{lat: number, lon: number}[]} places */
export function middleOf(places) {
  const [x, y, z] = [0, 1, 2].map((i) => places.reduce((sum, { lat, lon }) => {
    const [up, along] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180];
    return sum + [Math.cos(up) * Math.cos(along), Math.cos(up) * Math.sin(along), Math.sin(up)][i];
  }, 0));
  return { lat: (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI, lon: (Math.atan2(y, x) * 180) / Math.PI };
}

/** Moves marks apart that would hide each other, and keeps them on the globe. @param {Mark[]} marks @param {number} least @param {{x: number, y: number, radius: number}} globe */
function part(marks, least, globe) {
  for (let round = 0; round < 60; round++) {
    let moved = false;
    for (const [i, one] of marks.entries()) for (const other of marks.slice(0, i)) {
      const [dx, dy] = [one.x - other.x || 0.5 + i, one.y - other.y || 0.5];
      const push = (least - Math.hypot(dx, dy)) / 2;
      if (push <= 0.2) continue;
      const by = push / Math.hypot(dx, dy);
      [one.x, one.y, other.x, other.y] = [one.x + dx * by, one.y + dy * by, other.x - dx * by, other.y - dy * by];
      moved = true;
    }
    for (const mark of marks) {
      const out = Math.hypot(mark.x - globe.x, mark.y - globe.y) / globe.radius;
      if (out > 1) [mark.x, mark.y] = [globe.x + (mark.x - globe.x) / out, globe.y + (mark.y - globe.y) / out];
    }
    if (!moved) return;
  }
}
