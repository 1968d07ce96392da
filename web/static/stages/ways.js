// The steps from the download to the room, by system: pictures of what to press. Warnings of the
// system are quoted in the reader's language, as far as the catalogue has the texts.

import { h, svg } from "../dom.js";
import { language, say } from "../say.js";
import { sign } from "../sign.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {"windows" | "macos" | "linux"} Family */
/** @typedef {"chromium" | "edge" | "firefox" | "safari"} Browser */

/** The family of a system as the host names it. @param {string} system @returns {Family} */
function familyOf(system) {
  return system.startsWith("windows") ? "windows" : system.startsWith("darwin") ? "macos" : "linux";
}

/** @returns {Browser} */
function browserOf() {
  const agent = navigator.userAgent;
  if (agent.includes("Edg/")) return "edge";
  if (agent.includes("Firefox/")) return "firefox";
  return agent.includes("Chrome/") ? "chromium" : "safari";
}

/**
 * The clicks after “Play”, as docs/players.md counts them: those in the
 * browser, and those that the system asks for.
 * @type {{[family in Family]: number}}
 */
const inSystem = { windows: 2, macos: 6, linux: 2 };
/** @type {{[browser in Browser]: number}} */
const inBrowser = { chromium: 1, safari: 1, firefox: 1, edge: 5 };

/** How many clicks lead from the door into the room. @param {string} system */
export function clicksOf(system) {
  const family = familyOf(system);
  const browser = browserOf();
  const opens = family === "windows" && browser === "firefox" ? 2 : family === "windows" ? inBrowser[browser] : 1; // Firefox asks before it opens a program
  const keeps = isSecureContext || browser === "firefox" ? 0 : 1;
  return 1 + opens + keeps + inSystem[family];
}

/** How many minutes that takes, about. @param {string} system */
export function minutesOf(system) {
  return familyOf(system) === "macos" ? 2 : 1;
}

/**
 * The three steps.
 * @param {string} system @param {string} ending of the file @param {number} size bytes, 0 if unknown
 * @param {State} state @param {Person} newcomer
 * @returns {HTMLElement[]}
 */
export function steps(system, ending, size, state, newcomer) {
  const family = familyOf(system);
  const n = Math.ceil(size / 1e6);
  const keep = isSecureContext ? "" : ` ${say("get.insecure")}`;
  const open = { windows: "door.open-windows", macos: "door.open-macos", linux: "door.open-linux" }[family];
  const pictures = { windows: [saved(ending), protectedPc()], macos: [saved(ending), notOpened()], linux: [saved(ending), folder()] }[family];
  const [title, why] = { windows: ["door.windows", "door.windows-why"], macos: ["door.macos", "door.macos-why"], linux: ["door.linux", "door.linux-why"] }[family];
  return [
    h(
      "ol",
      { class: "pictured", "data-key": "steps" },
      step(pictures[0], say("door.open"), (n > 0 ? say("door.size", { n }) + " " : "") + say(open) + keep),
      step(pictures[1], say(title), say(why)),
      step(lobby(state, newcomer), say("door.in"), say("door.in-how")),
    ),
    h("p", { class: "drawn", "data-key": "drawn" }, say("door.drawn")),
  ];
}

/** The last step alone: what waits behind the door. @param {State} state @param {Person} newcomer */
export function lobbyAlone(state, newcomer) {
  return h("ol", { class: "pictured", "data-key": "steps" }, step(lobby(state, newcomer), say("door.in"), say("door.in-how")));
}

/** @param {HTMLElement} picture @param {string} title @param {string} text */
function step(picture, title, text) {
  return h("li", {}, h("div", { class: "picture", "aria-hidden": "true" }, picture), h("div", { class: "words" }, h("h3", {}, title), h("p", {}, text)));
}

/** The arrow that shows where to press. */
function pointer() {
  return svg("svg", { class: "d-pointer", viewBox: "0 0 24 30" }, svg("path", { d: "M3 2v21l5.4-4.8 3.8 8.6 4-1.8-3.8-8.4 7.4-.6Z" }));
}

/** A number in a circle. @param {number} n */
function nth(n) {
  return h("i", { class: "d-nth" }, String(n));
}

/** The browser's list of downloads. @param {string} ending */
function saved(ending) {
  return h(
    "div",
    { class: "drawing browser" },
    h("div", { class: "d-bar" }, svg("svg", { viewBox: "0 0 20 20" }, svg("circle", { cx: 10, cy: 10, r: 8.4 }), svg("path", { d: "M10 5.4v8M6.6 10.2l3.4 3.4 3.4-3.4" }))),
    h("div", { class: "d-bubble" }, h("span", { class: "d-icon" }, sun()), h("span", { class: "d-filename" }, h("b", {}, ending ? `muster-join_${ending}` : "muster_…"), h("u", {}, say("door.quote-open-file")), pointer())),
  );
}

/** Muster's sun. */
function sun() {
  return svg("svg", { viewBox: "0 0 24 24" }, svg("circle", { cx: 12, cy: 12, r: 3.2 }), svg("path", { d: "M12 2v4M12 18v4M2 12h4M18 12h4M5 5l2.8 2.8M16.2 16.2 19 19M19 5l-2.8 2.8M7.8 16.2 5 19" }));
}

/** Windows' question. */
function protectedPc() {
  return h(
    "div",
    { class: "drawing windows" },
    h("b", {}, say("door.quote-windows")),
    h("span", {}, h("u", {}, say("door.quote-more-info")), nth(1)),
    h("span", { class: "d-row" }, h("em", {}, say("door.quote-run-anyway"), pointer()), nth(2)),
  );
}

/** What macOS says, and where it is allowed after all. */
function notOpened() {
  return h(
    "div",
    { class: "drawing macos" },
    h("div", { class: "d-sheet" }, h("b", {}, say("door.quote-macos")), h("span", { class: "d-row" }, h("em", {}, say("door.quote-done")), nth(1))),
    h("div", { class: "d-sheet" }, h("b", {}, say("door.quote-privacy")), h("span", { class: "d-row" }, h("em", {}, say("door.quote-open-anyway"), pointer()), nth(2))),
  );
}

/** The unpacked program in a folder. */
function folder() {
  return h(
    "div",
    { class: "drawing linux" },
    h("div", { class: "d-title" }, h("i"), h("i"), h("i")),
    h("div", { class: "d-files" }, h("span", { class: "d-entry" }, h("span", { class: "d-icon" }, sun()), h("b", {}, "muster-join_…"), pointer())),
  );
}

/** The lobby with the newcomer in it. @param {State} state @param {Person} newcomer */
function lobby(state, newcomer) {
  const people = state.people.filter((person) => person.peer && person !== newcomer).slice(0, 3);
  const me = { ...newcomer, peer: true, connected: true, able: false };
  return h(
    "div",
    { class: "drawing inside", lang: language },
    h("b", {}, say("lobby.who")),
    h("span", { class: "d-row" }, people.map((person) => h("span", {}, sign({ ...person, able: false }, 36))), h("span", { class: "d-me" }, sign(me, 40))),
  );
}
