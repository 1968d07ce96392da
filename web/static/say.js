// What the page says, in its reader's language. The sentences lie in internal/catalogue, a file a
// language; catalogue/pattern.go has their grammar, and testdata/cases.json there holds this module
// and say.go to the same results.

import { h } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./types.js").Sentence} Sentence */
/** What a tag makes of what it holds. @typedef {(...held: Child[]) => Node} Tag */
/** An argument: a node stands in the sentence as it is. @typedef {string | number | Node | Sentence | Tag | (string | Node | Sentence)[]} Argument */
/** @typedef {Record<string, Argument>} Args */

/** @typedef {{text: string} | {name: string, kind: string, cases: Map<string, Part[]>}} Part */

/** Languages for tests alone, which no Intl knows: accented, and from right to left. */
const invented = ["en-XA", "ar-XB"];
const kept = "muster language";

/** The tags of the languages that the host has. */
export const languages = (document.documentElement.dataset.languages ?? "en").split(" ");

/** Whether the reader has chosen the language on this page or by its link. */
const asked = [new URLSearchParams(location.search).get("lang"), remembered()].filter((tag) => tag !== null);

/** The page's language. */
export const language = suited([...asked, ...navigator.languages]);

/** The one in which numbers, dates and countries are written. */
export const locale = invented.includes(language) ? "en" : language;

/** How often the sentences are asked for: where the network changes, browsers drop what they load. */
const tries = 3;

/** @type {Record<string, string>} */
const sentences = await load("");
document.documentElement.lang = language;
document.documentElement.dir = language === "ar-XB" ? "rtl" : "ltr";

function remembered() {
  try {
    return localStorage.getItem(kept);
  } catch {
    return null; // a private window
  }
}

/** Reads the page in another language, now and the next time. @param {string} tag */
export function speak(tag) {
  try {
    localStorage.setItem(kept, tag);
  } catch {
    // this page alone, by its address
  }
  const address = new URL(location.href);
  address.searchParams.set("lang", tag);
  history.replaceState(null, "", address);
  location.reload();
}

/** The first of some tags that the host has, or else another one of the same language. @param {string[]} wanted */
export function suited(wanted) {
  for (const tag of wanted) {
    if (languages.includes(tag) || invented.includes(tag)) return tag;
    const [base] = tag.split("-");
    const near = languages.find((known) => known.split("-")[0] === base);
    if (near) return near;
  }
  return "en";
}

/** @param {string} folder */
async function load(folder) {
  for (let i = 0; i < tries; i++) {
    try {
      const reply = await fetch(new URL(`words/${folder}${language}.json`, import.meta.url));
      if (reply.ok) return reply.json();
    } catch {
      // once more
    }
  }
  document.querySelector("script[type=module]")?.dispatchEvent(new Event("error")); // again.js loads the page again
  throw new Error("the page's words do not arrive");
}

/** The patterns that were read, by key. @type {Map<string, Part[]>} */
const read = new Map();

/** Learns sentences that few pages say. @param {string} folder where they lie, beside the others */
export async function learn(folder) {
  Object.assign(sentences, await load(folder));
  read.clear();
}

/** A sentence as text, for titles and labels. @param {string} key @param {Args} [args] */
export function say(key, args = {}) {
  return text(parts(patternOf(key), args, "", false));
}

/**
 * A sentence as children of an element: nodes stand in it as they are, a tag's function makes one,
 * and strangers' text keeps its direction to itself.
 * @param {string} key @param {Args} [args] @returns {Child[]}
 */
export function said(key, args = {}) {
  return parts(patternOf(key), args, "", true);
}

/** What the host tells, as text. @param {Sentence | undefined} sentence */
export function told(sentence) {
  return sentence?.key ? say(sentence.key, sentence.with) : "";
}

/** What the host tells, as children of an element. @param {Sentence | undefined} sentence */
export function tell(sentence) {
  return sentence?.key ? said(sentence.key, sentence.with) : [];
}

/** @param {string} key */
function patternOf(key) {
  let pattern = read.get(key);
  if (!pattern) {
    pattern = key in sentences ? parse(sentences[key]) : [{ text: key }];
    read.set(key, pattern);
  }
  return pattern;
}

/** Puts arguments into a pattern. @param {string} pattern @param {Args} args */
export function filled(pattern, args) {
  return text(parts(parse(pattern), args, "", false));
}

/** @param {Child[]} children */
function text(children) {
  return children.map((child) => (child instanceof Node ? child.textContent : child)).join("");
}

/** @param {Part[]} pattern @param {Args} args @param {string} count the number that the plural around it is about @param {boolean} inNodes @returns {Child[]} */
function parts(pattern, args, count, inNodes) {
  return pattern.flatMap((part) => {
    if ("text" in part) return part.text;
    const { name, kind, cases } = part;
    const value = args[name];
    switch (kind) {
      case "#":
        return count;
      case "plural":
        return parts(caseOf(cases, category(cases, Number(value))), args, number(Number(value)), inNodes);
      case "tag": {
        const held = parts(caseOf(cases, "other"), args, count, inNodes);
        return typeof value === "function" && inNodes ? [value(...held)] : held;
      }
      case "select":
        return parts(caseOf(cases, String(value)), args, count, inNodes);
      case "list":
        return Array.isArray(value) ? row(value.map((item) => argument(item, inNodes))) : [];
      case "number":
        return decimal(Number(value));
      case "date":
      case "time": {
        const at = new Date(String(value));
        return Number.isNaN(at.getTime()) ? argument(value, inNodes) : kind === "time" ? time(at) : date(at);
      }
      default:
        return value === undefined ? `{${name}}` : argument(value, inNodes);
    }
  });
}

/** @param {Map<string, Part[]>} cases @param {string} name */
function caseOf(cases, name) {
  return cases.get(name) ?? cases.get("other") ?? [];
}

const plurals = new Intl.PluralRules(locale);

/** @param {Map<string, Part[]>} cases @param {number} n */
function category(cases, n) {
  return cases.has(`=${n}`) ? `=${n}` : plurals.select(Math.round(n * 10) / 10);
}

/** @param {Argument} value @param {boolean} inNodes @returns {Child[]} */
function argument(value, inNodes) {
  if (typeof value === "number") return [number(value)];
  if (typeof value === "function") return []; // a tag is no argument
  if (value instanceof Node) return [value];
  if (Array.isArray(value)) return list(value.map((item) => argument(item, inNodes)));
  if (typeof value === "object") return parts(patternOf(value.key ?? ""), value.with ?? {}, "", inNodes);
  const clean = cleaned(value);
  return [inNodes ? h("bdi", { dir: "auto" }, clean) : isolated(clean)];
}

/** The longest text of a stranger that stands in a sentence. */
const longest = 256;

/** Without control characters and marks that turn the direction of text. @param {string} value */
function cleaned(value) {
  const clean = value.replace(/\s+/gu, " ").replace(/[\p{Cc}\p{Cf}]+/gu, "").trim();
  return clean.length > longest ? `${clean.slice(0, longest)}…` : clean;
}

/** @param {string} value */
function isolated(value) {
  return language === "ar-XB" || /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(value) ? `\u2068${value}\u2069` : value;
}

/** Figures with commas between them. @param {Child[][]} items @returns {Child[]} */
function row(items) {
  return items.reduce((all, item, i) => (i === 0 ? item : joined("list.more", all, item)), []);
}

/** Items as people say them: “ann, ben and eve”. @param {Child[][]} items @returns {Child[]} */
function list(items) {
  return items.reduce((all, item, i) => {
    if (i === 0) return item;
    return joined(i < items.length - 1 ? "list.more" : items.length === 2 ? "list.two" : "list.last", all, item);
  }, []);
}

/** @param {string} key @param {Child[]} first @param {Child[]} next @returns {Child[]} */
function joined(key, first, next) {
  return patternOf(key).flatMap((part) => ("text" in part ? part.text : part.name === "first" ? first : next));
}

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const decimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const dates = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" });
const times = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const clocks = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const countries = new Intl.DisplayNames(locale, { type: "region" });

/** @param {number} n */
export const number = (n) => (Number.isFinite(n) ? numbers.format(n) : "–");
/** With one decimal, even if it is 0. @param {number} n */
const decimal = (n) => (Number.isFinite(n) ? decimals.format(n) : "–");
/** “Friday 27 November”. @param {Date} at */
export const date = (at) => dates.format(at);
/** “20:15”. @param {Date} at */
export const time = (at) => times.format(at);
/** “20:15:07”. @param {Date} at */
export const clock = (at) => clocks.format(at);

/** A country's name. @param {string | undefined} code */
export function country(code) {
  return code && /^[A-Z]{2}$/.test(code) ? (countries.of(code) ?? code) : (code ?? "");
}

/** A ping: small ones have a decimal. @param {number} ms */
export function millis(ms) {
  return say("unit.ms", { n: ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms) });
}

/** A text that begins with a capital, if the language has capitals, and ends like a sentence. @param {string} value */
export function capital(value) {
  const begun = value.charAt(0).toLocaleUpperCase(locale) + value.slice(1);
  return begun === "" || /[.?!…。？！]$/.test(begun) ? begun : begun + say("list.stop");
}

/** Reads a pattern; one that is no pattern is text. @param {string} source @returns {Part[]} */
export function parse(source) {
  let at = 0;
  /** @param {string} special @returns {Part[]} */
  function pattern(special) {
    /** @type {Part[]} */
    const found = [];
    while (at < source.length && source[at] !== "}" && !source.startsWith("</", at)) {
      let end = at;
      while (end < source.length && !special.includes(source[end])) end++;
      if (end > at) found.push({ text: source.slice(at, end) });
      at = end;
      if (source.startsWith("</", at)) break;
      if (source[at] === "#") {
        found.push({ name: "#", kind: "#", cases: new Map() });
        at++;
      } else if (source[at] === "{") found.push(argument(special));
      else if (source[at] === "<") found.push(tag(special));
    }
    return found;
  }
  /** @param {string} special @returns {Part} */
  function tag(special) {
    const [begin, name] = /^<([a-z]+)>/.exec(source.slice(at)) ?? [];
    if (!begin) throw new SyntaxError(`no pattern: ${source}`);
    at += begin.length;
    const held = pattern(special);
    if (!source.startsWith(`</${name}>`, at)) throw new SyntaxError(`no pattern: ${source}`);
    at += begin.length + 1;
    return { name, kind: "tag", cases: new Map([["other", held]]) };
  }
  /** @param {string} special @returns {Part} */
  function argument(special) {
    const [, name, , kind = "", ends] = /^\{\s*([^\s,{}#]+)\s*(,\s*(date|time|list|number\s*,\s*::\.0|plural|select)\s*)?([,}])/.exec(source.slice(at)) ?? [];
    if (!name) throw new SyntaxError(`no pattern: ${source}`);
    at = source.indexOf(kind === "" || ends === "}" ? "}" : ",", kind ? source.indexOf(kind, at) : at) + 1;
    const cases = new Map();
    if (ends === "}") return { name, kind: kind.split(/\W/)[0], cases };
    for (;;) {
      const open = source.indexOf("{", at);
      const close = source.indexOf("}", at);
      if (close < 0) throw new SyntaxError(`no pattern: ${source}`);
      if (open < 0 || close < open) {
        at = close + 1;
        return { name, kind, cases };
      }
      const which = source.slice(at, open).trim();
      at = open + 1;
      cases.set(which, pattern(kind === "plural" ? "{}<#" : special));
      if (source[at++] !== "}") throw new SyntaxError(`no pattern: ${source}`);
    }
  }
  try {
    const whole = pattern("{}<");
    if (at < source.length) throw new SyntaxError(`no pattern: ${source}`);
    return whole;
  } catch {
    return [{ text: source }]; // a test reads all that lie in the catalogue
  }
}

/** Writes what stands in the page's own markup: data-words names a text, data-label a label. @param {ParentNode} root */
export function fill(root) {
  for (const place of root.querySelectorAll("[data-words]")) place.textContent = say(place.getAttribute("data-words") ?? "");
  for (const place of root.querySelectorAll("[data-label]")) place.setAttribute("aria-label", say(place.getAttribute("data-label") ?? ""));
}
