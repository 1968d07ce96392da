// The night as a poster, for posting: where the group went, as the stops of a tour, on a map with
// everybody's ways. It names no address, no code and no link. Names are hostile text.

import { say } from "./say.js";
import { colourOf, colours, dial, escaped, middle, rounded, signAt, text } from "./souvenir.js";

/** @typedef {{name: string, arrival: number, guest?: boolean}} Someone */
/** @typedef {{time: string, flag: string, server: string, country: string, own?: string, mean: number, people: {name: string, arrival: number, ms: number, estimated: boolean}[]}} Stop own is the player whose server it is */
/** @typedef {{x: number, y: number}} Point */
/** @typedef {{land: string, borders: string, stops: (Point | null)[], people: (Point | null)[], ways: {stop: number, person: number}[]}} Chart in the poster's px */
/** @typedef {{title: string, date: string, game: string, stops: Stop[], people: Someone[], chart?: Chart | null, nameless?: boolean}} Night */

/** The poster's size, px: 4:5, as posts are. */
export const width = 1080;
export const height = 1350;
/** The paper frame, the margin of the words, the height of a stop, and how many stops are named. */
const frame = 18;
const margin = 64;
const row = 82;
const namedStops = 5;
/** Where the stops end, and the middle of the signs below them. */
const foot = 1182;
const signsAt = 1262;
/** How many people are named. */
const named = 18;
const paper = "#f5f1e8";
const sea = "#18243a";
const land = "#2a3852";
/** How much wider the title's letters are. */
const stretched = 1.12;

/** The width of a letter, relative to the size of its text: what bold type takes at most. @param {string} letter */
const letterWidth = (letter) => (isWide.test(letter) ? 1.1 : /[WMwm@%—…]/u.test(letter) ? 0.98 : /\p{Lu}/u.test(letter) ? 0.74 : 0.6);
const isWide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\p{Extended_Pictographic}]/u;

/** Created once, because that takes long. */
const splitter = new Intl.Segmenter();

/** More marks than this on one letter are no writing, and more letters than this fit nowhere. */
const marks = 2;
const mostLetters = 80;

/** A text that fits, cut if need be, and its width. @param {string} words @param {number} size @param {number} room px */
function fitting(words, size, room) {
  const letters = [];
  for (const { segment } of splitter.segment(words)) {
    if (letters.length === mostLetters) break;
    const few = [...segment].slice(0, 8).join("");
    letters.push((few.match(/\p{M}/gu)?.length ?? 0) > marks ? few.replaceAll(/\p{M}/gu, "") : few);
  }
  const widthOf = (/** @type {string[]} */ some) => size * some.reduce((sum, letter) => sum + letterWidth(letter), 0);
  if (widthOf(letters) <= room) return { text: letters.join(""), width: widthOf(letters) };
  while (letters.length > 0 && widthOf([...letters, "…"]) > room) letters.pop();
  return { text: letters.length > 0 ? `${letters.join("").trimEnd()}…` : "", width: widthOf([...letters, "…"]) };
}

/** The upper edge of the list of stops. @param {number} stops */
export const topOf = (stops) => foot - row * Math.min(namedStops, Math.max(1, stops));

/** The size of signs on the map. @param {number} people */
export const signSize = (people) => (people <= 6 ? 74 : people <= 10 ? 62 : 46);

/** The poster as SVG. @param {Night} night @param {string} [style] */
export function posterOf(night, style = "") {
  const { stops, date, game } = night;
  const shown = stops.slice(-namedStops);
  const top = topOf(stops.length);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Archivo, system-ui, sans-serif">${style && `<style>${style}</style>`}
<title>${escaped(night.title)}</title>
<defs><radialGradient id="sea"><stop offset="0" stop-color="${sea}"/><stop offset=".7" stop-color="${sea}" stop-opacity=".7"/><stop offset="1" stop-color="${sea}" stop-opacity="0"/></radialGradient><linearGradient id="fade" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${colours.ground}" stop-opacity="0"/><stop offset="1" stop-color="${colours.ground}"/></linearGradient></defs>
<rect width="${width}" height="${height}" rx="6" fill="${paper}"/>
<rect x="${frame}" y="${frame}" width="${width - 2 * frame}" height="${height - 2 * frame}" fill="${colours.ground}"/>
${night.chart ? mapped(night, night.chart, top) : dialled(night, top)}
${titled(night.title)}
${text(width - margin, 116, 27, colours.text, date, 26, 650, "end")}
${text(width - margin, 152, 27, colours.quiet, game, 26, 450, "end")}
${shown.map((stop, i) => stopAt(stop, top + i * row, Boolean(night.nameless))).join("\n")}
${signRow(night)}
</svg>`;
}

/** The room's name on two lines at most. @param {string} title */
function titled(title) {
  const words = title.slice(0, 200).split(/\s+/).filter(Boolean);
  const wide = (/** @type {string} */ line) => fitting(line, 1, Infinity).width;
  let lines = [words.join(" ")];
  for (let i = 1; i < words.length; i++) {
    const two = [words.slice(0, i).join(" "), words.slice(i).join(" ")];
    if (Math.max(...two.map(wide)) < Math.max(...lines.map(wide))) lines = two;
  }
  const size = Math.max(40, Math.min(96, Math.floor(600 / (stretched * Math.max(...lines.map(wide), 0.1)))));
  return lines.map((line, i) => `<text x="${margin - 4}" y="${96 + size * (0.42 + i)}" font-size="${size}" font-weight="820" font-stretch="118%" fill="${colours.text}" unicode-bidi="isolate">${escaped(fitting(line, size * stretched, 620).text)}</text>`).join("");
}

/** @param {Night} night @param {Chart} chart @param {number} top */
function mapped({ people, nameless }, chart, top) {
  const size = signSize(people.length);
  const last = Math.max(...chart.ways.map(({ stop }) => stop), 0);
  const ways = chart.ways.toSorted((a, b) => Number(a.stop === last) - Number(b.stop === last)).map(({ stop, person }) => {
    const [from, to] = [chart.people[person], chart.stops[stop]];
    return from && to ? `<path d="${arc(from, to)}" fill="none" stroke="${colourOf(/** @type {any} */ (people[person]))}" stroke-linecap="round" ${stop === last ? 'stroke-width="6"' : 'stroke-width="2.5" stroke-opacity=".65"'}/>` : "";
  });
  const stops = chart.stops.map((at) => at && `<circle cx="${at.x.toFixed(1)}" cy="${at.y.toFixed(1)}" r="23" fill="${colours.ground}" stroke="${colours.gold}" stroke-width="3"/><circle cx="${at.x.toFixed(1)}" cy="${at.y.toFixed(1)}" r="14" fill="${colours.gold}"/>`);
  const signs = people.map((person, i) => {
    const at = chart.people[i];
    return at && !person.guest ? signAt(/** @type {any} */ (person), at.x, at.y, size, { nameless }) : "";
  });
  const [cy, r] = [(200 + top) / 2, (top - 100) / 2 + 60];
  return `<circle cx="${width / 2}" cy="${cy}" r="${Math.min(r, width / 2 - frame)}" fill="url(#sea)"/><path d="${chart.land}" fill="${land}"/><path d="${chart.borders}" fill="none" stroke="${colours.ground}" stroke-width="1.2" stroke-opacity=".6"/><rect x="${frame}" y="${top - 150}" width="${width - 2 * frame}" height="150" fill="url(#fade)"/>
${[...ways, ...stops, ...signs].filter(Boolean).join("\n")}`;
}

/** A way, bent upwards. @param {Point} from @param {Point} to */
function arc(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const bend = 0.16 * (dx > 0 ? 1 : -1);
  return `M${from.x.toFixed(1)} ${from.y.toFixed(1)}Q${((from.x + to.x) / 2 + dy * bend).toFixed(1)} ${((from.y + to.y) / 2 - dx * bend).toFixed(1)} ${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
}

/** The last stop's pings as a dial, if no places are known. @param {Night} night @param {number} top */
function dialled({ stops, nameless }, top) {
  const last = stops.at(-1);
  if (!last || last.people.length === 0) return "";
  const room = Math.min(1.45, (top - 250) / 600);
  return `<g transform="translate(${width / 2 - middle.x * room} ${(250 + top) / 2 - middle.y * room}) scale(${room.toFixed(3)})">${dial(last.people.slice(0, named).map((one) => (nameless ? { ...one, name: "" } : one)))}</g>`;
}

/** @param {Stop} stop @param {number} y @param {boolean} nameless */
function stopAt({ time, flag, server, country, own, mean }, y, nameless) {
  const base = y + row / 2 + 11;
  const about = own && !nameless ? say("souvenir.own", { country, player: fitting(own, 24, 200).text }) : country;
  const name = fitting(server, 32, about ? 470 : 600);
  const where = fitting(about, 21, 630 - name.width).text;
  const place = where ? `<tspan dx="14" font-size="24" font-weight="450" fill="${colours.quiet}">${escaped(where)}</tspan>` : "";
  return `<path d="M${margin} ${y}H${width - margin}" stroke="${colours.line}" stroke-width="2"/>
<text x="${margin}" y="${base}" font-size="28" font-weight="650" fill="${colours.quiet}">${escaped(time)}</text>
<text x="${margin + 108}" y="${base + 1}" font-size="34" font-family="Country Flags, Archivo, system-ui, sans-serif" fill="${colours.quiet}">${escaped(flag)}</text>
<text x="${margin + 176}" y="${base}" font-size="32" font-weight="760" fill="${colours.text}" unicode-bidi="isolate">${escaped(name.text)}${place}</text>
${figure(mean, base)}`;
}

/** A stop's average. @param {number} ms @param {number} base */
const figure = (ms, base) => `<text x="${width - margin}" y="${base}" font-size="38" font-weight="800" fill="${colours.text}" text-anchor="end">${escaped(rounded(ms))}</text>`;

/** Everybody's sign, with dashed outlines for guests, and the host that the poster is from. @param {Night} night */
function signRow({ people, nameless }) {
  const mark = 186;
  const some = people.slice(0, named);
  const pitch = Math.min(88, (width - 2 * margin - mark) / Math.max(1, some.length));
  const size = Math.min(56, pitch - 6);
  const isNamed = !nameless && pitch > 70;
  const y = isNamed ? signsAt - 12 : signsAt;
  const signs = some.map((person, i) => {
    const x = margin + size / 2 + i * pitch;
    const name = isNamed ? text(x, y + size / 2 + 26, 17, colours.quiet, fitting(person.name, 17, pitch - 4).text, 99, 450, "middle") : "";
    return signAt(/** @type {any} */ (person), x, y, size, { dashed: person.guest, nameless }) + name;
  });
  const sun = `<g transform="translate(${width - margin - 166} ${signsAt - 20}) scale(1.65)" fill="none" stroke="${colours.text}" stroke-width="2" stroke-linecap="round"><circle cx="12" cy="12" r="3.2" fill="${colours.text}"/><path d="M12 2v4M12 18v4M2 12h4M18 12h4M5 5l2.8 2.8M16.2 16.2 19 19M19 5l-2.8 2.8M7.8 16.2 5 19"/></g>`;
  return `<path d="M${margin} ${foot}H${width - margin}" stroke="${colours.line}" stroke-width="2"/>
${signs.join("\n")}${sun}${text(width - margin, signsAt + 11, 31, colours.text, "Muster", 10, 760, "end")}`;
}
