// The world's land and countries, and the library that draws them. They load when somebody first
// sees a map, not with the page. Natural Earth's countries and d3-geo are in vendor/.

import { table } from "./places.js";

/** @typedef {{lat: number, lon: number, km: number, number: string}} Country where its people live, how far from there, and its number in the shapes */
/** @typedef {{d3: any, land: any, borders: any, countryOf: (number: string) => any}} World countryOf is the shape of a country, if the map has it */

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
  const all = topology.objects.countries.geometries;
  const countries = { type: "GeometryCollection", geometries: all.filter((/** @type {any} */ shape) => shape.id !== antarctica) };
  return {
    d3,
    land: landOf(topojson, topology),
    borders: topojson.mesh(topology, countries, (/** @type {any} */ a, /** @type {any} */ b) => a !== b),
    countryOf: (/** @type {string} */ number) => {
      const shape = all.find((/** @type {any} */ one) => String(one.id) === number);
      return shape && topojson.feature(topology, shape); // only now: all 177 would take longer than the land
    },
  };
}

/** The land without Antarctica. The file has it merged; merging the countries would take ten times as long. @param {any} topojson @param {any} topology */
function landOf(topojson, topology) {
  const { countries, land } = topology.objects;
  const known = (/** @type {any[]} */ arcs) => arcs.flat(Infinity).map((arc) => (arc < 0 ? ~arc : arc)); // ~ means backwards
  const south = new Set(known(countries.geometries.find((/** @type {any} */ shape) => shape.id === antarctica).arcs));
  const arcs = land.geometries.flatMap((/** @type {any} */ shape) => shape.arcs).filter((/** @type {any[]} */ polygon) => !known(polygon).some((arc) => south.has(arc)));
  return topojson.feature(topology, { type: "MultiPolygon", arcs }).geometry;
}
