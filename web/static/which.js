// Which game? People type what they call it. This ranks games as internal/game/search.go does: both
// pass the same table of texts (internal/game/testdata/which.json).

import { svg } from "./dom.js";

/** @typedef {{id: string, name: string, aliases?: string[]}} Named a game, with what else people call it */
/** @typedef {{words: string[], whole: string}} Folded */

/** Texts longer than this name no game. */
const longest = 64;

/** Words that people leave out. */
const fillers = ["and", "the", "of"];

/** Roman numbers in names. A single letter is rarely a number. */
const romans = new Map([["ii", "2"], ["iii", "3"], ["iv", "4"], ["vi", "6"], ["vii", "7"], ["viii", "8"], ["ix", "9"]]);

/** The words of a text in small letters, without accents and signs. @param {string} text */
function wordsOf(text) {
  const plain = text.normalize("NFKD").replaceAll(/[\p{Mn}'’`]/gu, "").toLowerCase();
  const words = plain.match(/\p{Nd}+|\p{L}+/gu) ?? [];
  const kept = words.filter((word) => !fillers.includes(word));
  return kept.length > 0 ? kept : words;
}

/** @param {string[]} words @returns {Folded} */
function folded(words) {
  return { words, whole: words.join("") };
}

/** A text in two forms: as it stands, and with digits for Roman numbers. @param {string} text @returns {Folded[]} */
function fold(text) {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  return [folded(words), folded(words.map((word, i) => romans.get(word) ?? (word === "v" && i > 0 ? "5" : word)))];
}

/** The parts of a name that people know a game by: after a colon, in brackets and before them. @param {string} name */
function partsOf(name) {
  const [before, inside] = name.split(/\((.*)/s, 2);
  const parts = inside === undefined ? [] : [before, ...inside.replace(/\)$/, "").split(",")];
  const colon = before.indexOf(": ");
  return colon < 0 ? parts : [...parts, before.slice(colon + 2)];
}

/** What a game is called, folded once. @type {WeakMap<Named, {id: Folded[], name: Folded[], initials: Folded[], aliases: Folded[][], parts: Folded[][]}>} */
const called = new WeakMap();

/** @param {Named} game */
function callsOf(game) {
  let calls = called.get(game);
  if (!calls) {
    const name = fold(game.name);
    const letters = name[1]?.words.length > 1 ? name[1].words.map((word) => (/^\p{Nd}/u.test(word) ? word : [...word][0])).join("") : "";
    calls = { id: fold(game.id), name, initials: fold(letters), aliases: (game.aliases ?? []).map(fold), parts: partsOf(game.name).map(fold) };
    called.set(game, calls);
  }
  return calls;
}

/** @param {Folded[]} a @param {Folded[]} b @param {(a: Folded, b: Folded) => boolean} match */
function anyPair(a, b, match) {
  return a.some((form, i) => b[i] !== undefined && match(form, b[i]));
}

/** Whether each asked word begins a word of its own in the name. @param {string[]} asked @param {string[]} name @param {(name: string, word: string) => boolean} begins */
function eachBegins(asked, name, begins) {
  const left = [...name];
  return asked.every((word) => {
    const at = left.findIndex((other) => begins(other, word));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** How a text names a game: 0 its id, 1 another name, 2 its name, 3 a beginning, 4 initials, 5 words, 6 a part, 7 not at all. @param {Folded[]} asked @param {Named} game */
function nearness(asked, game) {
  const { id, name, initials, aliases, parts } = callsOf(game);
  const all = [id, name, ...aliases];
  const is = (/** @type {Folded[]} */ of) => anyPair(asked, of, (a, b) => a.whole === b.whole);
  const begins = (/** @type {Folded[]} */ of) => anyPair(asked, of, (a, b) => b.whole.startsWith(a.whole));
  if (is(id)) return 0;
  if (aliases.some(is)) return 1;
  if (is(name)) return 2;
  if ([...all, ...parts].some(begins)) return 3;
  if (is(initials)) return 4;
  if (anyPair(asked, name, (a, b) => eachBegins(a.words, b.words, (other, word) => other.startsWith(word)))) return 5;
  if (all.some((of) => anyPair(asked, of, (a, b) => a.whole.length > 2 && b.whole.includes(a.whole)))) return 6;
  return none;
}
const none = 7;

/** Kinds of matches that mean a game equally well. @param {number} near */
function classOf(near) {
  return near === 0 ? 0 : near <= 2 ? 1 : 2;
}

/** How many letters of a word may be wrong. @param {string} word */
function allowed(word) {
  return word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
}

/** How many letters are missing, extra, wrong or swapped, compared with b and with its nearest beginning. @param {string} a @param {string} b */
function distance(a, b) {
  const to = b.slice(0, a.length + 3);
  /** @type {number[]} */
  let before = [];
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      next[j + 1] = Math.min(row[j] + (a[i] === to[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1);
      if (i > 0 && j > 0 && a[i] === to[j - 1] && a[i - 1] === to[j]) next[j + 1] = Math.min(next[j + 1], before[j - 1] + 1);
    }
    before = row;
    row = next;
  }
  return { whole: to.length < b.length ? Infinity : row[to.length], beginning: Math.min(...row) };
}

/** How many letters are wrong, or Infinity for too many. @param {Folded[]} asked @param {Named} game */
function slips(asked, game) {
  const { id, name, aliases, parts } = callsOf(game);
  let fewest = Infinity;
  for (const of of [id, name, ...aliases, ...parts]) {
    for (const [i, form] of asked.entries()) {
      if (of[i] === undefined) continue;
      const { beginning } = distance(form.whole, of[i].whole);
      if (beginning <= allowed(form.whole)) fewest = Math.min(fewest, beginning);
    }
  }
  if (fewest < Infinity) return fewest;
  const near = (/** @type {string} */ other, /** @type {string} */ word) => (allowed(word) === 0 ? other.startsWith(word) : distance(word, other).beginning <= allowed(word));
  return anyPair(asked, name, (a, b) => eachBegins(a.words, b.words, near)) ? asked[0].words.length : Infinity;
}

/**
 * The matches of a text, the nearest first. Among equally near matches, the games that were played
 * last come first.
 * @template {Named} G @param {G[]} games @param {string} text @param {string[]} last IDs
 */
function ranked(games, text, last) {
  const asked = [...text].length > longest ? [] : fold(text);
  if (asked.length === 0) return [];
  const since = (/** @type {Named} */ game) => (last.includes(game.id) ? last.indexOf(game.id) : last.length);
  let found = games.map((game) => ({ game, near: nearness(asked, game), slips: 0 })).filter(({ near }) => near < none);
  if (found.length === 0) found = games.map((game) => ({ game, near: none, slips: slips(asked, game) })).filter((match) => match.slips < Infinity);
  const byID = (/** @type {Named} */ a, /** @type {Named} */ b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  return found.sort((a, b) => classOf(a.near) - classOf(b.near) || a.slips - b.slips || since(a.game) - since(b.game) || a.near - b.near || [...a.game.name].length - [...b.game.name].length || byID(a.game, b.game));
}

/** The games that a text may mean, the nearest first. @template {Named} G @param {G[]} games @param {string} text @param {string[]} [last] the last played, by ID @returns {G[]} */
export function meant(games, text, last = []) {
  return ranked(games, text, last).map(({ game }) => game);
}

/** The numbers in a text, Roman ones among them. @param {Folded[]} text */
function numbersOf(text) {
  return (text.at(-1)?.words ?? []).filter((word) => /^\p{Nd}/u.test(word));
}

/** Whether something that a game is called begins with the numbers of a text: Chivalry 2 is no Chivalry. @param {Named} game @param {string} text */
function hasNumbers(game, text) {
  const { id, name, aliases, parts } = callsOf(game);
  const numbers = numbersOf(fold(text));
  return [id, name, ...aliases, ...parts].map(numbersOf).some((own) => numbers.every((number, i) => number === own[i]) || numbers.join("") === own.join(""));
}

/** The game that a text means without a doubt and without a slip. @template {Named} G @param {G[]} games @param {string} text @returns {G | undefined} */
export function clearly(games, text) {
  const [best, next] = ranked(games, text, []);
  return !best || best.near === none || (best.near > 2 && !hasNumbers(best.game, text)) || (next && classOf(next.near) === classOf(best.near)) ? undefined : best.game;
}

/** The outlines of games' signs, in a box of 40 × 40: cards, unlike the shapes of players. */
const outlines = ["M6 3h28a4 4 0 0 1 4 4v26a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4Z", "M8 2h18l12 12v20a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4V6a4 4 0 0 1 4-4Z", "M10 3h20l8 8v18l-8 8H10l-8-8V11Z", "M5 4h30v8a6 6 0 0 0 0 16v8H5v-8a6 6 0 0 0 0-16Z", "M20 2a18 18 0 0 1 18 18v18H20A18 18 0 0 1 20 2Z", "M4 3h32v24L20 38 4 27Z"];

/** How many hues signs have. */
const hues = 24;

/** A number that an id always has, of many. @param {string} id */
function hash(id) {
  let n = 2166136261; // FNV-1a
  for (const letter of id) n = Math.imul(n ^ /** @type {number} */ (letter.codePointAt(0)), 16777619) >>> 0;
  return n;
}

/** Up to three letters for a game: its id if that is short, or the initials of its name. @param {Named} game */
function lettersOf(game) {
  if (game.id.length <= 3) return game.id.toUpperCase();
  const words = fold(game.name)[1]?.words ?? [game.id];
  const letters = words.length > 1 ? words.map((word) => (/^\p{Nd}/u.test(word) ? word : [...word][0])).join("") : words[0];
  return [...letters].slice(0, words.length > 1 ? 3 : 2).join("").toUpperCase();
}

/** A game's sign: an outline, a hue and letters by its id. It is no trademark of anybody. @param {Named} game @param {number} [size] CSS px */
export function gameSign(game, size = 32) {
  const n = hash(game.id);
  const letters = lettersOf(game);
  return svg(
    "svg",
    { class: "game-sign", viewBox: "0 0 40 40", width: size, height: size, "aria-hidden": "true", "--hue": `${((n >>> 8) % hues) * (360 / hues)}deg` },
    svg("path", { d: outlines[n % outlines.length] }),
    svg("text", { x: 20, y: 20.5, "font-size": [...letters].length > 2 ? 13 : 17, "text-anchor": "middle", "dominant-baseline": "central" }, letters),
  );
}
