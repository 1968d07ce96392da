// The world's land and countries, and the library that draws them. They load when somebody first
// sees a map, not with the page. Natural Earth's countries and d3-geo are in vendor/.

import { table } from "./places.js";

/** @typedef {{lat: number, lon: number, km: number, number: string}} Country where its people live, how far from there, and its number in the shapes */
/** @typedef {{d3: any, countries: any[], land: any, borders: any}} World */

/** Antarctica's number: nobody plays there, and it is wide. */
const antarctica = "010";

/** @type {Map<string, Country>} */
const places = new Map();
for (const row of table.trim().split(/[,\n]+/)) {
  const [code, number, lat, lon, km] = row.split(" ");
  places.set(code, { number, lat: Number(lat), lon: Number(lon), km: Number(km) });
}

/** A country's place, if it is known. @param {string} [code] of two letters */
export const placeOf = (code) => places.get(code ?? "");

/** @type {Promise<World> | null} */
let loading = null;

/** The world, loaded once. @returns {Promise<World>} */
export function world() {
  loading ??= load().catch((error) => {
    loading = null; // the next caller tries again
    throw error;
  });
  return loading;
}

/** @param {string} name */
const vendored = (name) => new URL(`../vendor/${name}`, import.meta.url).href;

async function load() {
  const geo = import(vendored("d3-array.min.js")).then(() => import(vendored("d3-geo.min.js"))); // d3-geo looks for d3-array
  const [topology] = await Promise.all([
    fetch(vendored("countries-110m.json")).then((answer) => answer.json()),
    geo,
    import(vendored("topojson-client.min.js")),
  ]);
  const { d3, topojson } = /** @type {any} */ (globalThis);
  const all = topology.objects.countries;
  all.geometries = all.geometries.filter((/** @type {any} */ shape) => shape.id !== antarctica);
  return {
    d3,
    countries: topojson.feature(topology, all).features,
    land: topojson.merge(topology, all.geometries),
    borders: topojson.mesh(topology, all, (/** @type {any} */ a, /** @type {any} */ b) => a !== b),
  };
}
