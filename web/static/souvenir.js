// A picture of where the room went, for sharing: the server, its country, and everybody's ping, as
// signs around it. It says what people would tell their friends, and no more: no address, no code,
// no link. Names are hostile text.

import { say } from "./say.js";
import { initial, signs } from "./sign.js";

/** @typedef {{name: string, arrival: number, ms: number, estimated: boolean}} Someone */
/** @typedef {{land: string, home: string, at: {x: number, y: number, isLost: boolean}[]}} Map the paths of the land and of the server's country, and where each of those named stands, in a square of 2 × mapHalf */
/** @typedef {{game: string, server: string, country: string, isPlace?: boolean, mean: number, people: Someone[], map?: Map | null}} Result isPlace says that there is no server yet */

/** The picture's size, px: that of previews in chats. */
export const width = 1200;
export const height = 630;
/** The width of the words at the left, px, and of a bold letter, relative to its size. */
const column = 560;
const wideLetter = 0.62;
/** Players beyond this ping stand at the picture's rim, ms. */
const rim = 1000;
/** How many people are named; the others are counted. */
export const named = 16;
/** The middle of the map or dial, px, the size of signs, and half the map's side. */
export const middle = { x: 890, y: 315 };
export const signSize = (/** @type {number} */ people) => (people <= 6 ? 58 : people <= 10 ? 48 : 36);
export const mapHalf = 300;

/** The page's dark colours, on which signs shine. A picture has no light and dark mode. */
export const colours = { ground: "#0b0f17", land: "#243049", line: "#2b3648", text: "#f5f1e8", quiet: "#a9b2c0", gold: "#ffc53d", ink: "#141210" };
const players = ["#81c3fe", "#ff7a6b", "#c4fbd0", "#b063ff", "#aee51a", "#ffb9b8", "#dcddff", "#b08d3c", "#17c5c2", "#9acb94", "#f0622d", "#9a8cff", "#8e9a2b", "#ff86c6", "#4fe0ff", "#19b565"];

/** The picture as SVG. Without the page's font it uses the system's. @param {Result} result @param {string} [style] */
export function pictureOf(result, style = "") {
  const { country, server, mean, people } = result;
  const title = server || (country ? say("reveal.server-in", { country }) : say("souvenir.ours"));
  const size = Math.max(34, Math.min(76, Math.floor(column / (wideLetter * lettersOf(title)))));
  const some = people.slice(0, named);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Archivo, system-ui, sans-serif">${style && `<style>${style}</style>`}
<title>${escaped(result.isPlace ? say("souvenir.host-in", { place: title }) : say("souvenir.title", { server: title }))}</title>
<rect width="${width}" height="${height}" fill="${colours.ground}"/>
${result.map ? around(some, result.map) : dial(some)}
${text(72, 84, 26, colours.gold, `Muster · ${result.game}`, 34, 650)}
${text(72, 152, 30, colours.quiet, country && server ? say(result.isPlace ? "souvenir.host-in" : "souvenir.server-in", result.isPlace ? { place: country } : { country }) : say("souvenir.met-on"), 34, 450)}
${text(72, 164 + size, size, colours.text, title, Math.floor(column / (wideLetter * size)), 820)}
${text(72, 224 + size, 32, colours.gold, say("ping.on-average", { ms: rounded(mean) }), 34, 650)}
${list(some, 290 + size, people.length - some.length)}
</svg>`;
}

/** Everybody on the land around the server. A player from an unknown country has no spoke. @param {Someone[]} people @param {Map} map */
function around(people, { land, home, at }) {
  const { x, y } = middle;
  const seats = people.map((person, i) => ({ person, x: x + at[i].x, y: y + at[i].y, isLost: at[i].isLost }));
  const ways = seats.filter(({ isLost }) => !isLost).map((seat) => wayTo(seat));
  const shapes = `<g transform="translate(${x - mapHalf} ${y - mapHalf})"><path d="${land}" fill="${colours.land}"/><path d="${home}" fill="${colours.gold}" fill-opacity=".45"/></g>`;
  const lost = seats.filter(({ isLost }) => isLost);
  const word = lost.length > 0 ? text(x, lost[0].y - signSize(people.length) / 2 - 10, 17, colours.quiet, say("map.somewhere"), 10, 450, "middle") : "";
  return [shapes, ...ways, star, word, ...seats.map((seat) => signAt(seat.person, seat.x, seat.y, signSize(people.length)))].join("\n");
}

/** A player's way to the server; it is dashed if no ping was measured. @param {{person: Someone, x: number, y: number}} seat */
const wayTo = ({ person, x, y }) => `<path d="M${middle.x} ${middle.y}L${x.toFixed(1)} ${y.toFixed(1)}" stroke="${colourOf(person)}" stroke-width="4" stroke-linecap="round"${person.estimated ? ' stroke-dasharray="3 11"' : ""}/>`;

/** The server. */
const star = `<path transform="translate(${middle.x} ${middle.y})" fill="${colours.gold}" stroke="${colours.ground}" stroke-width="4" d="M0-40 11-13 40-12 17 6 25 34 0 18-25 34-17 6-40-12-11-13Z"/>`;

/** Everybody around the server, at the distance of their ping, if no places are known. @param {Someone[]} people */
export function dial(people) {
  const { x, y } = middle;
  const far = 265;
  const longest = Math.min(rim, Math.max(60, ...people.map(({ ms }) => ms)) * 1.04);
  const size = signSize(people.length);
  const near = size + people.length * 3;
  const radius = (/** @type {number} */ ms) => near + (far - near) * Math.min(1, ms / longest);
  const step = longest > 400 ? 200 : longest > 160 ? 100 : 50;
  const circles = [];
  for (let ms = step; ms <= longest; ms += step) {
    const r = radius(ms);
    circles.push(`<circle cx="${x}" cy="${y}" r="${r.toFixed(1)}" fill="none" stroke="${colours.line}" stroke-width="2" stroke-dasharray="2 9"/>`, text(x, y - r - 6, 17, colours.quiet, rounded(ms), 9, 450, "middle"));
  }
  const seats = people.map((person, i) => {
    const angle = (2 * Math.PI * (i + 0.5)) / people.length - Math.PI / 2;
    const r = radius(person.ms);
    return { person, x: x + r * Math.cos(angle), y: y + r * Math.sin(angle) };
  });
  return [...circles, ...seats.map(wayTo), star, ...seats.map((seat) => signAt(seat.person, seat.x, seat.y, size))].join("\n");
}

/** Names and pings, in two columns if needed. @param {Someone[]} people @param {number} top @param {number} others who are not named */
function list(people, top, others) {
  const columns = people.length > 5 ? 2 : 1;
  const rows = Math.ceil((people.length + (others > 0 ? 1 : 0)) / columns);
  const line = Math.max(26, Math.min(52, Math.floor((height - 30 - top) / Math.max(1, rows))));
  const size = Math.min(26, line - 6);
  const wide = columns === 1 ? 480 : 246;
  const at = (/** @type {number} */ i) => ({ x: 72 + Math.floor(i / rows) * (wide + 20), y: top + (i % rows) * line });
  const rowsOf = people.map((person, i) => {
    const { x, y } = at(i);
    const letters = Math.floor((wide - size * 1.6 - 96) / (size * wideLetter));
    return [signAt(person, x + size / 2, y - size * 0.36, size), text(x + size * 1.5, y, size, colours.text, person.name, letters, 450), text(x + wide, y, size, colours.text, person.estimated ? say("unit.guess", { ms: rounded(person.ms) }) : rounded(person.ms), 12, 650, "end")].join("");
  });
  if (others > 0) rowsOf.push(text(at(people.length).x, at(people.length).y, size, colours.quiet, say("souvenir.more", { n: others }), 20, 450));
  return rowsOf.join("\n");
}

/** @param {Someone} person @param {number} x @param {number} y of the middle @param {number} size @param {{dashed?: boolean, nameless?: boolean}} [how] */
export function signAt(person, x, y, size, { dashed = false, nameless = false } = {}) {
  const { d, y: middle = 51, letter = 46 } = signs[person.arrival % signs.length];
  const scale = size / 100;
  const shape = dashed ? `fill="${colours.ground}" stroke="${colourOf(person)}" stroke-width="7" stroke-dasharray="13 8"` : `fill="${colourOf(person)}" stroke="${colours.ground}" stroke-width="5"`;
  const word = nameless ? "" : `<text x="50" y="${middle}" font-size="${letter}" font-weight="820" text-anchor="middle" dominant-baseline="central" fill="${dashed ? colourOf(person) : colours.ink}">${escaped(initial(person.name))}</text>`;
  return `<g transform="translate(${(x - size / 2).toFixed(1)} ${(y - size / 2).toFixed(1)}) scale(${scale.toFixed(3)})"><path d="${d}" ${shape}/>${word}</g>`;
}

/** @param {Someone} person */
export const colourOf = (person) => players[person.arrival % players.length];

/** @param {number} ms */
export const rounded = (ms) => say("unit.ms", { n: Math.round(ms) });

/** A line of text, cut if it would be too long; wide letters count twice. @param {number} x @param {number} y @param {number} size @param {string} fill @param {string} words @param {number} letters @param {number} weight @param {string} [anchor] */
export function text(x, y, size, fill, words, letters, weight, anchor = "start") {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}" unicode-bidi="isolate">${escaped(cut(words, letters))}</text>`;
}

/** @param {string} letter */
const room = (letter) => (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\p{Extended_Pictographic}]/u.test(letter) ? 2 : 1);

/** The length of a text in letters, at least one. @param {string} words */
const lettersOf = (words) => [...new Intl.Segmenter().segment(words)].reduce((sum, { segment }) => sum + room(segment), 1);

/** @param {string} words @param {number} letters */
function cut(words, letters) {
  let left = letters;
  const kept = [];
  for (const { segment } of new Intl.Segmenter().segment(words)) {
    left -= room(segment);
    if (left < 0) return `${kept.slice(0, -1).join("")}…`;
    kept.push([...segment].slice(0, 8).join("")); // more marks on one letter are no writing
  }
  return kept.join("");
}

/** Escapes text for XML, and drops characters that XML forbids. @param {string} words */
export function escaped(words) {
  const allowed = words.replaceAll(/\p{Cs}/gu, "�").replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, "");
  return allowed.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}
