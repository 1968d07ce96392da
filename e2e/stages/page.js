// The page of a room in Node: app.js with all its modules, on a document without a layout. A test
// shows it one of the states that the host's own test wrote (host/page, TestStages) as one of the
// room's people sees it, presses buttons, and reads what the page draws, says and sends.

import { readFileSync, readdirSync } from "node:fs";
import { Window } from "happy-dom";
import * as clock from "./clock.js";

export { passes, settles } from "./clock.js";

const root = new URL("../../", import.meta.url);
const statics = new URL("web/static/", root);
const states = new URL("states/", import.meta.url);

process.env.TZ = "UTC"; // where the reader lives

/** The page's language: that of the test's file. */
const language = process.env.PAGE_LANGUAGE ?? "en";

/** The names of all states in the table. */
export const names = readdirSync(states).map((file) => file.replace(/\.json$/, ""));

/** A state of the table: its time, the room, and what each reader is sent besides. @param {string} name @returns {{now: number, state: any, readers: Record<string, {you: any, own?: any}>}} */
export const tableOf = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, states), "utf8"));

const markup = readFileSync(new URL("index.html", statics), "utf8").replace("<html", `<html data-languages="en de es fr ja ko pl pt-BR ru tr zh-Hans"`).replaceAll(/<(link|script)[^>]*>(<\/script>)?/g, "");
const window = new Window({ url: `http://192.0.2.99:8080/?lang=${language}#BAKODI_thekeyofthelink`, width: 1440, height: 900 });
Object.assign(window.happyDOM.settings, { disableCSSFileLoading: true, handleDisabledFileLoadingAsSuccess: true });
window.document.write(markup);
for (const other of window.document.querySelectorAll("noscript, #front")) other.remove(); // no style sheet hides them

/** The form of a host that is newer than the page: it has a setting of a type that the page does not know. */
const form = JSON.parse(readFileSync(new URL("form.json", import.meta.url), "utf8"));
form.settings.push({ key: "dial", type: "sundial", words: "setting.map", set: ["opening", "page", "whatif"] });

/** The catalogue of a language. That of the accented one has English in brackets. @param {string} file */
function wordsOf(file) {
  const words = (of) => readFileSync(new URL(`internal/catalogue/${of === "en.json" ? of : `languages/${of}`}`, root), "utf8");
  if (file !== "en-XA.json") return words(file);
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(words("en.json"))).map(([key, pattern]) => [key, `[${pattern}]`])));
}

/** What the page asked the room for, since it was last shown: the action and its JSON. @type {string[]} */
export const asked = [];

/** The files that the page fetched, since it was last shown. @type {string[]} */
export const fetched = [];

/** What the room answers, if not with nothing. isGone means that nothing answers any more. @type {{to?: (what: string, body?: string) => Response | undefined, isGone?: boolean}} */
export const answers = {};

/** What the page needs of a browser that Node has not. */
const given = {
  async fetch(to, options = {}) {
    const url = new URL(to, window.location.href);
    if (url.protocol === "file:") {
      fetched.push(url.href);
      if (answers.isGone) throw new TypeError("Failed to fetch");
      return new Response(url.href.includes("/words/") ? wordsOf(url.pathname.split("/").at(-1)) : readFileSync(url));
    }
    const what = url.pathname.split("/").at(-1) + url.search;
    if (what === "form") return new Response(JSON.stringify(form));
    if (options.method === "POST") asked.push(what + options.body);
    return answers.to?.(what, options.body) ?? new Response(null, { status: options.method === "POST" ? 204 : 404 });
  },
  WebSocket: class {
    send() {}
    close() {}
  },
  ResizeObserver: class {
    observe() {}
    disconnect() {}
  },
  reportError(error) {
    throw error;
  },
};

const { HTMLElement, Element, HTMLCanvasElement } = window;
/** A canvas that draws nothing. */
const context = new Proxy({}, { get: (_, name) => (name === "measureText" ? () => ({ width: 10 }) : name === "getImageData" ? () => ({ data: [] }) : () => context), set: () => true });
HTMLCanvasElement.prototype.getContext = () => context;
Element.prototype.animate = () => ({ finish() {}, cancel() {} });
Element.prototype.scrollIntoView = () => {};
window.document.fonts = { ready: Promise.resolve(), status: "loaded", load: async () => [] };
HTMLElement.prototype.showPopover = function () {
  this.setAttribute("data-popover", "open");
};
const { matches } = Element.prototype;
Element.prototype.matches = function (of) {
  return of === ":popover-open" ? this.hasAttribute("data-popover") : matches.call(this, of);
};

for (const name of ["document", "location", "history", "navigator", "localStorage", "sessionStorage", "Node", "Element", "HTMLElement", "SVGElement", "FormData", "Event", "MouseEvent", "KeyboardEvent", "Image", "Text", "Document", "DocumentFragment", "DOMException", "XMLSerializer", "OffscreenCanvas", ...Object.getOwnPropertyNames(window).filter((name) => /^(HTML|SVG)\w+Element$/.test(name))]) {
  if (name in window) Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
}
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent", "matchMedia", "getComputedStyle", "scrollTo"]) Object.defineProperty(globalThis, name, { value: window[name].bind(window), configurable: true, writable: true });
for (const name of ["innerWidth", "innerHeight", "devicePixelRatio"]) Object.defineProperty(globalThis, name, { get: () => window[name], configurable: true });
Object.assign(globalThis, given, { window: globalThis, isSecureContext: false, CSS: { escape: (text) => text } });

localStorage.setItem("muster BAKODI", JSON.stringify({ token: "the token of whoever looks", name: "" }));
for (const module of ["later", "tour", "stages/camplobby", "map/map", "map/table", "map/behind", "map/flat", "map/globe", "map/square", "places/seek"]) await import(new URL(`${module}.js`, statics).href); // so that what the page loads while it is drawn is there at once
const opened = musterTime.now();
await import(new URL("app.js", statics).href);
await clock.passes(2000); // the first frame
const { live, view } = /** @type {any} */ (globalThis).muster;
live.connect = live.watch = () => {};
live.shown = "";
musterTime.clearTimeout(live.watchdog);
const fresh = { ...view };
view.door = "past";
live.receive(JSON.stringify({ type: "state", ...tableOf("listing").state, you: {} }));
while (!view.stage) await clock.settles(); // what comes after the lobby is loaded
const before = view.stage;
live.receive(JSON.stringify({ type: "state", ...tableOf("place-gathering").state, you: {} }));
while (view.stage === before) await clock.settles(); // and what a room needs that looks for a place

export { live, view };
export const stage = document.getElementById("stage");

/**
 * @typedef {object} Look
 * @property {boolean} [tv] a wall, where nobody is anybody
 * @property {boolean} [phone]
 * @property {boolean} [still] the person prefers no motion
 * @property {"" | "past" | "play" | "in" | "watch"} [door] the door that a stranger has opened
 * @property {boolean} [saw] the page has shown the round's search, and so it plays the reveal
 * @property {any} [offer] the programs that the host gives
 * @property {(state: any) => any} [change] changes the state
 */

/** Shows the page, as if it had just been opened, a state of the table as a reader sees it. @param {string} name @param {string} reader @param {Look} [how] */
export async function shows(name, reader, how = {}) {
  const { now, state, readers } = tableOf(name);
  if (!readers[reader]) throw new Error(`${reader} does not look at ${name}, but ${Object.keys(readers)}`);
  live.state = null;
  musterTime.pass(60_000 - ((musterTime.now() - opened) % 1000)); // in which nobody looks: what was still to come has come
  window.happyDOM.setViewport(how.tv ? { width: 1920, height: 1080 } : how.phone ? { width: 390, height: 700 } : { width: 1440, height: 900 });
  window.happyDOM.settings.device.prefersReducedMotion = how.still ? "reduce" : "no-preference";
  Object.assign(view, fresh, { met: new Map(), outside: new Set(), said: [], unsaid: [], order: { by: "rank", down: false }, firstState: 1, tv: how.tv ?? false, door: how.door ?? "past", searched: how.saw ? state.room.round : 0, offer: how.offer ?? null });
  document.documentElement.classList.toggle("tv", view.tv);
  stage.replaceChildren();
  for (const id of ["status", "toast"]) document.getElementById(id).textContent = "";
  for (const details of document.querySelectorAll("details")) details.open = false;
  for (const content of document.querySelectorAll("#details > details > div:last-child")) content.replaceChildren();
  document.activeElement?.blur?.();
  live.connection = "connecting";
  live.clouds.clear();
  const all = { ...state, ...readers[reader], now, whole: true };
  await tells(how.change?.(all) ?? all);
  await clock.settles(); // what it loads
  asked.length = fetched.length = 0;
  return stage;
}

/** Unfolds all details, where the page has some: not at the doors, and not on a wall. */
export async function unfolds() {
  if (view.stage === "door" || view.tv) return;
  for (const details of all("#details, #details > details, #settings")) details.open = true;
  view.changed();
  await clock.settles();
}

/** Waits for what the page loads or computes meanwhile. @param {() => unknown} is */
export async function until(is) {
  for (let tries = 0; tries < 10_000 && !is(); tries++) await clock.settles();
  if (!is()) throw new Error(`never: ${is}; the stage says: ${textOf(stage)}`);
}

/** Sends the page news, as the host does. @param {any} news */
export async function tells(news) {
  live.receive(JSON.stringify({ type: "state", ...news }));
  await clock.settles();
}

/** @param {string | Element} of @returns {Element} */
export function one(of) {
  if (typeof of !== "string") return of;
  const found = document.querySelector(of);
  if (!found) throw new Error(`nothing is ${of}; the stage says: ${textOf(stage)}`);
  return found;
}

export const all = (of) => [...document.querySelectorAll(of)];

const inLine = new Set(["SPAN", "B", "STRONG", "SMALL", "BDI", "CODE", "I", "S", "A", "TIME", "#text"]);

/** The text of an element as people read it, with a blank between blocks. @param {string | Element} of @returns {string} */
export function textOf(of) {
  const words = (node) => (node.nodeName === "#text" ? node.nodeValue : inLine.has(node.nodeName) ? [...node.childNodes].map(words).join("") : ` ${[...node.childNodes].map(words).join("")} `);
  return words(one(of)).replaceAll(/\s+/g, " ").trim();
}

/** Presses a button, as a click or Enter does. @param {string | Element} of */
export async function press(of) {
  const button = one(of);
  if (button.disabled) throw new Error(`nobody can press ${button.outerHTML.slice(0, 200)}`);
  button.click();
  await clock.settles();
  await clock.settles(); // what its answer changes
}

/** Changes a field as a person does. @param {string} of @param {string | boolean} value */
export async function sets(of, value) {
  const field = one(of);
  if (typeof value === "boolean") field.checked = value;
  else field.value = value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  await clock.settles();
}

/** Sends a form, with a value in its field. @param {string} of the field @param {string} value */
export async function sends(of, value) {
  const field = one(of);
  field.value = value;
  field.closest("form").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await clock.settles();
}

/** What a screen reader was told last. */
export const heard = () => document.getElementById("status").textContent;

/** Whether people can see an element: not what is folded away. @param {Element} of */
export function isSeen(of) {
  if (of.closest("[hidden]")) return false;
  for (let details = of.closest("details:not([open])"); details; details = details.parentElement?.closest("details:not([open])")) if (!of.closest("summary") || of.closest("summary").parentElement !== details) return false;
  return true;
}

/** The accessible name of a control, as far as the page gives one. @param {Element} of @returns {string} */
export function nameOf(of) {
  const labelled = of.getAttribute("aria-labelledby");
  if (labelled) return labelled.split(" ").map((id) => textOf(`#${id}`)).join(" ");
  if (of.getAttribute("aria-label")) return of.getAttribute("aria-label");
  if (of.id && document.querySelector(`label[for="${of.id}"]`)) return textOf(`label[for="${of.id}"]`);
  if (of.closest("label")) return textOf(of.closest("label"));
  return of.getAttribute("alt") || textOf(of) || of.getAttribute("title") || "";
}

/** The buttons and links of the stage, by their names. */
export const buttons = () => all("#stage :is(button, a[href], input, select, summary)").filter(isSeen).map(nameOf);
