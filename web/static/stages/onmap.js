// The people on the lobby's map. Their words have the size that the browser gives them, so it is
// measured once they are on the page. The map loads when the first country is known.

import { setTimer } from "../time.js";

/** @typedef {import("../types.js").Person} Person */
/** @typedef {{x: number, y: number, half: number, length: number, angle: number}} Spot where a sign stands, half its width, and the way from there to its true place */

/** What the map consists of, once it is loaded. @type {{flat: typeof import("../map/flat.js"), world: import("../map/world.js").World} | null} */
let loaded = null;
let isLoading = false;

/** The size of the map's box, and what was last laid out and drawn for it. */
const box = { width: 0, height: 0 };
let laid = "";
let drawn = "";
let fonts = "";

/** Where the people stand. @type {Map<string, Spot>} */
const spots = new Map();

/** Reports whether there is a map for some people; if not, it loads what is missing. @param {Person[]} people @param {() => void} changed */
export function isMapped(people, changed) {
  if (!people.some((person) => person.country)) return false;
  if (!loaded && !isLoading) {
    isLoading = true;
    void import("../map/flat.js").then(async (flat) => {
      loaded = { flat, world: await flat.load() };
      changed();
    }).catch(() => setTimer(() => (isLoading = false), 10_000)); // the signs say who is here without it, too
    void document.fonts.ready.then(() => ((fonts = "there"), changed()));
  }
  return loaded !== null && people.some((person) => loaded?.flat.homeOf(person));
}

/** Reports whether a person has a place on the map. @param {Person} person */
export const isPlaced = (person) => loaded?.flat.homeOf(person) !== undefined;

/** The attributes of a person on the map. @param {Person} person */
export function spotOf(person) {
  const spot = spots.get(person.name);
  return spot ? { "--x": `${spot.x}px`, "--y": `${spot.y}px`, "--half": `${spot.half}px`, "--length": `${spot.length}px`, "--angle": `${spot.angle}rad` } : {};
}

/** @type {WeakSet<Element>} */
const watched = new WeakSet();

/** Puts the people on their spots, and draws the land. @param {HTMLElement} room @param {Person[]} people @param {() => void} changed */
export function place(room, people, changed) {
  if (!watched.has(room)) {
    watched.add(room);
    laid = drawn = "";
    new ResizeObserver(([{ contentRect }]) => {
      [box.width, box.height] = [Math.round(contentRect.width), Math.round(contentRect.height)];
      changed();
    }).observe(room);
    return;
  }
  const land = room.querySelector(".flat");
  if (!loaded || !(land instanceof HTMLElement) || box.width < 100 || box.height < 100) return;
  const signature = JSON.stringify([box, fonts, isDark(), room.dataset.named, people.map((person) => [person.name, person.country]), [...room.querySelectorAll(".one .label")].map((label) => label.textContent)]);
  if (signature === laid) return;
  laid = signature;
  const sight = layOut(room, people);
  const looks = JSON.stringify([box, sight, isDark()]);
  if (looks === drawn) return;
  drawn = looks;
  const reach = land.getBoundingClientRect();
  const own = room.getBoundingClientRect();
  const shifted = { ...sight, x: sight.x + own.left - reach.left, y: sight.y + own.top - reach.top };
  loaded.flat.draw(land, loaded.world, shifted, Math.round(reach.width), Math.round(reach.height));
}

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** Finds everybody's spot, and shows it at once. @param {HTMLElement} room @param {Person[]} people */
function layOut(room, people) {
  const { flat, world: { d3 } } = /** @type {NonNullable<typeof loaded>} */ (loaded);
  const placed = people.flatMap((person) => {
    const home = flat.homeOf(person);
    const element = home && room.querySelector(`.placed[data-name="${CSS.escape(person.name)}"]`);
    return home && element instanceof HTMLElement ? [{ person, home, element }] : [];
  });
  const sight = flat.sightOf(d3, placed.map(({ home }) => home), box.width, box.height);
  const projection = flat.projectionOf(d3, "flat", sight);
  const marks = placed.map(({ home, element }) => {
    const [trueX, trueY] = projection([home.lon, home.lat]);
    const face = /** @type {HTMLElement} */ (element.querySelector(".face")).offsetWidth;
    return { x: trueX, y: trueY, trueX, trueY, face, width: element.offsetWidth, height: element.offsetHeight };
  });
  flat.settle(marks, box.width, box.height);
  spots.clear();
  placed.forEach(({ person, element }, i) => {
    const { x, y, width, trueX, trueY } = marks[i];
    spots.set(person.name, { x: Math.round(x), y: Math.round(y), half: width / 2, length: Math.round(Math.hypot(trueX - x, trueY - y)), angle: Math.round(1000 * Math.atan2(trueY - y, trueX - x)) / 1000 });
    for (const [name, value] of Object.entries(spotOf(person))) element.style.setProperty(name, value);
    element.classList.add("stands");
  });
  return sight;
}

/** Reports whether a person's sign has found its spot. @param {Person} person */
export const stands = (person) => spots.has(person.name);

/** Whether people's names have room on the map. @param {number} people @param {number} least what a sign with its name needs, px² */
export function namesFit(people, least) {
  const enlarged = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  return people <= 8 && (box.width === 0 || (box.width * box.height) / people >= least * enlarged ** 2);
}
