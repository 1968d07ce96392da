// Where a side's people are: a small globe that is turned to them, with their signs. A country is all
// that is known of a place, so signs that would hide each other move apart.

import { h, svg } from "../dom.js";
import { far, middleOf, moveApart, wayTo } from "../map/projection.js";
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
  moveApart(marks, () => size * apart, (mark) => {
    const out = Math.hypot(mark.x - width / 2, mark.y - height / 2) / (radius - size * 0.6);
    if (out > 1) [mark.x, mark.y] = [width / 2 + (mark.x - width / 2) / out, height / 2 + (mark.y - height / 2) / out];
  });
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
