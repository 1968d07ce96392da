// The room's map behind the doors: the same world as the lobby's, quiet, with a dot for
// each person where no words are.

import { svg } from "../dom.js";
import { draw, homeOf, load, sightOf } from "./flat.js";
import { projectionOf } from "./projection.js";

/** @typedef {import("../types.js").Person} Person */

/** The share of the height in whose middle the people's places are: below it there are doors. */
const upper = 0.4;
/** The most that the world is enlarged. Only its edges show around the doors, so people know it by its continents. */
const closest = 1.8;
/** The radius of a dot, and its distance from words and doors, px. */
const dot = 4;
const clear = 6;

/** What was last drawn, by its place. @type {WeakMap<HTMLElement, string>} */
const drawn = new WeakMap();

/** Draws the map into a place, unless it is there already. @param {HTMLElement} place @param {Person[]} people */
export async function behind(place, people) {
  const world = await load();
  const homes = people.flatMap((person) => {
    const home = homeOf(person);
    return home ? [{ home, person }] : [];
  });
  const [width, height] = [place.clientWidth, place.clientHeight];
  if (homes.length === 0 || width < 100 || height < 100) return;
  const sight = sightOf(world.d3, homes.map(({ home }) => home), width, height * upper, closest);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const looks = JSON.stringify([width, height, sight, isDark]);
  const land = place.querySelector("div") ?? place.appendChild(document.createElement("div"));
  if (drawn.get(place) !== looks) draw(land, world, sight, width, height);
  drawn.set(place, looks);
  const projection = projectionOf(world.d3, "flat", sight);
  const own = place.getBoundingClientRect();
  const taken = [...document.querySelectorAll("header *, .lead h1, .who-is-in li, .frame, .cost")].map((element) => element.getBoundingClientRect());
  const dots = homes.map(({ home, person }) => ({ person, at: projection([home.lon, home.lat]) })).filter(({ at: [x, y] }) => !taken.some((box) => x + own.left > box.left - clear && x + own.left < box.right + clear && y + own.top > box.top - clear && y + own.top < box.bottom + clear));
  place.querySelector("svg")?.remove();
  place.append(svg("svg", { viewBox: `0 0 ${width} ${height}` }, dots.map(({ person, at: [x, y] }) => svg("circle", { class: `p${(person.arrival ?? 0) % 16}`, cx: x, cy: y, r: dot }))));
}
