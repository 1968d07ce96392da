// The picture of where the room went. It is made from the room's state, and goes to the system's
// share dialog or into a file.
//
//	state ──▶ resultOf ──▶ souvenir.js (SVG, a text) ──▶ png ──▶ shared, or saved

import { countryName, targetOf } from "./choice.js";
import { button, h, saveFile } from "./dom.js";
import { isEstimated } from "./estimate.js";
import { gameName } from "./gather.js";
import { say } from "./say.js";
import { height, mapHalf, named, pictureOf, signSize, width } from "./souvenir.js";

/** @typedef {import("./types.js").State} State */

/** The contents of the picture, or nothing before there is a choice. @param {State} state @returns {import("./souvenir.js").Result | null} */
function resultOf(state) {
  const { choice } = state;
  const target = choice && targetOf(choice);
  if (!choice || !target) return null;
  const server = choice.servers[target.addr];
  const arrivals = new Map(state.people.map((person) => [person.name, person.arrival ?? 0]));
  const people = choice.selection.players
    .filter((name) => target.rtt_ms[name] !== undefined)
    .map((name) => ({ name, arrival: arrivals.get(name) ?? 0, ms: target.rtt_ms[name], estimated: isEstimated(choice.selection, name) }))
    .toSorted((a, b) => a.arrival - b.arrival);
  return { game: gameName(state), server: server?.name ?? "", country: server?.country ? countryName(server.country) : "", isPlace: Boolean(state.places), mean: target.mean_ms, people };
}

/** The picture's map. It is missing if places are unknown or the map does not load; then the picture has a dial. @param {State} state @param {import("./souvenir.js").Result} result @returns {Promise<import("./souvenir.js").Map | null>} */
async function mapOf(state, result) {
  const { choice } = state;
  const people = result.people.slice(0, named).map(({ name }) => ({ person: /** @type {import("./types.js").Person} */ (state.people.find((one) => one.name === name) ?? { name }) }));
  try {
    const [square, { world }] = await Promise.all([import("./map/square.js"), import("./map/world.js")]);
    const scale = mapHalf / square.half;
    const target = choice && targetOf(choice);
    const map = square.mapOf(target ? choice.servers[target.addr]?.country : undefined, people, signSize(people.length) / scale);
    if (!map) return null;
    const loaded = await world();
    const rim = (map.reach * 180) / Math.PI * rimShown;
    const path = loaded.d3.geoPath(square.projectionOf(loaded, map.centre, map.reach, 2 * mapHalf).clipAngle(Math.min(179, rim))).digits(0);
    const home = loaded.countryOf(map.centre.number);
    return { land: path(loaded.land) ?? "", home: (home && path(home)) ?? "", at: map.at.map(({ x, y }, i) => ({ x: x * scale, y: y * scale, isLost: map.lost.includes(people[i]) })) };
  } catch {
    return null;
  }
}

/** How far beyond the farthest player the picture's map reaches, as a factor. */
const rimShown = 1.2;

/** The button. @param {State} state */
export function shareButton(state) {
  return resultOf(state) && h("p", { class: "buttons" }, button("share", say("share.button")));
}

/** The picture as SVG, or nothing before there is a choice. @param {State} state */
export async function picture(state) {
  const result = resultOf(state);
  if (!result) return "";
  const [map, style] = await Promise.all([mapOf(state, result), fontStyle()]);
  return pictureOf({ ...result, map }, style);
}

/** Shares the picture if the system can, and otherwise saves it as a file. @param {State} state @returns {Promise<string>} the outcome, for people */
export async function share(state) {
  const svg = await picture(state);
  if (!svg) return say("share.nothing");
  return shareFile(new File([await png(svg, width, height)], "game-night.png", { type: "image/png" }), true);
}

/** Whether this system shares pictures. */
export const sharesPictures = () => Boolean(navigator.canShare?.({ files: [new File([""], "game-night.png", { type: "image/png" })] }));

/** Passes a file to the system's share dialog, or saves it. @param {File} file @param {boolean} shares @returns {Promise<string>} the outcome, for people */
export async function shareFile(file, shares) {
  if (shares && navigator.canShare?.({ files: [file] })) {
    try {
      await navigator.share({ files: [file], title: say("room.unnamed") });
      return "";
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return ""; // the person cancelled
    }
  }
  saveFile(file, file.name);
  return say("share.saved", { file: file.name });
}

/** The fonts that have been fetched, as styles: the host may be gone when a picture needs them again. @type {Map<string, string>} */
const fetchedFonts = new Map();

/** The page's fonts, for a picture without a page. @param {boolean} [withFlags] */
export async function fontStyle(withFlags = false) {
  const archivo = "font-family:Archivo;font-weight:400 820;font-stretch:62% 125%";
  const faces = [["archivo-basic", archivo], ["archivo-latin", archivo], ...(withFlags ? [["country-flags", "font-family:'Country Flags';unicode-range:U+1F1E6-1F1FF"]] : [])];
  return (await Promise.all(faces.map(async ([file, what]) => {
    try {
      const style = fetchedFonts.get(file) ?? `@font-face{${what};src:url(data:font/woff2;base64,${await base64Of(`vendor/${file}.woff2`)})}`;
      fetchedFonts.set(file, style);
      return style;
    } catch {
      return "";
    }
  }))).join("");
}

/** @param {string} file */
async function base64Of(file) {
  const answer = await fetch(new URL(file, import.meta.url));
  let binary = "";
  for (const byte of new Uint8Array(await answer.arrayBuffer())) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Renders an SVG. @param {string} svg @param {number} width @param {number} height @returns {Promise<Blob>} */
export async function png(svg, width, height) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
    return await new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
