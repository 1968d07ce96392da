// What the two pages that open a room share: the front page of a host for everybody, and Home's.
// Both have one field for the game with the gold button beside it, the games of the last time, and
// the rest folded under one line that says what is set.

import { dotted, h, show } from "./dom.js";
import { fitNeeds, input, isSet, label, settable, settingsIn, term } from "./form.js";
import { ruleOf, saidOf } from "./rules.js";
import { millis, say } from "./say.js";

/** Default limit, ms: most games are still good at this ping. */
const usualLimit = 150;

/** What this browser opened last: games, the newest first, the settings of the last room, and what Home adds. @typedef {{games?: string[], set?: Record<string, any>, where?: string, open?: boolean}} Last */
const kept = "muster opened";
/** How many games are offered again. */
const again = 3;

/** @returns {Last} */
export function lastTime() {
  try {
    return JSON.parse(localStorage.getItem(kept) ?? "{}") ?? {};
  } catch {
    return {}; // a private window, or it is not ours
  }
}

/** The types of settings that people want again for another game. */
const lasting = ["rule", "limits", "number", "decision", "time"];

/** Remembers a game, and what a form has set. @param {string} game @param {HTMLFormElement} form @param {Last} [more] */
export function rememberOpening(game, form, more) {
  const all = settingsIn(form);
  const set = Object.fromEntries(settable("opening").filter(({ key, type }) => lasting.includes(type) && key in all).map(({ key }) => [key, all[key]]));
  const games = [game, ...(lastTime().games ?? []).filter((id) => id !== game)].slice(0, again + 1);
  try {
    localStorage.setItem(kept, JSON.stringify({ games, set, ...more }));
  } catch {
    // a private window
  }
}

/** Buttons for a few games. @param {string} label @param {{id: string, name: string}[]} games */
export function fewGames(label, games) {
  return games.length > 0 && h("p", { class: "last-games" }, h("span", { class: "quiet" }, label), games.slice(0, again).map((game) => h("button", { type: "button", "data-game": game.id }, game.name)));
}

/** The rest of a form, folded under a line that says what is set. @param {...(import("./dom.js").Child | import("./dom.js").Child[])} rest */
export function more(...rest) {
  return h("details", { id: "more" }, h("summary", {}, h("strong", {}, say("front.more")), " ", h("span", { id: "set", class: "quiet" })), h("div", { class: "more" }, ...rest));
}

/**
 * The settings of a room to open, as this browser set them last: the rule with its hints, what most
 * people set, what else a page has, and what few need.
 * @param {Last} last @param {string} by the game's own rule @param {import("./form.js").Field[]} fields @param {...import("./dom.js").Child} others
 */
export function settingFields({ set = {} }, by, fields, ...others) {
  const now = { room: { by, ...set } };
  const rare = fields.filter((field) => field.rare);
  return [
    ...fields.filter(({ type }) => type === "rule").map(({ choices = [] }) => ways(choices, now.room.by)),
    h("div", { class: "pairs" }, fields.filter(({ type, rare }) => type !== "rule" && !rare).map((field) => input(now, field))),
    ...others,
    rare.length > 0 && h("details", { class: "own" }, h("summary", {}, say("settings.more")), h("div", { class: "pairs" }, rare.map((field) => input(now, field)))),
  ];
}

/** The settings of a form that opens a room, except the game and its list, which pages ask for in their own ways. */
export const ofOpening = () => settable("opening").filter(({ type }) => type !== "game");

/** What a room that looks for a place is asked for: a server's map, bots or mods matter later. */
const forPlaces = ["by", "limits_ms", "players", "agree", "guests_vote", "every", "name", "voice", "webhook", "webhook_no_link", "announce", "places"];

/** The settings of a form that opens a room which looks for a place. */
export const ofPlaces = () => ofOpening().filter(({ key }) => forPlaces.includes(key));

/** The choice of a rule. @param {string[]} rules @param {string} by */
function ways(rules, by) {
  return h("fieldset", { class: "ways" }, h("legend", {}, say("front.what-counts")), rules.map((id) => way("by", id, saidOf(id, "name"), saidOf(id, "hint"), id === by, "rule")));
}

/** One of several ways, with a hint. @param {string} field @param {string} value @param {string} name @param {string} hint @param {boolean} checked @param {string} [type] that of a setting */
export function way(field, value, name, hint, checked, type) {
  return h("label", { class: "way-of" }, h("input", { type: "radio", name: field, "data-type": type, value, checked }), h("span", {}, h("strong", {}, name), h("small", {}, hint)));
}

/** Chooses a game's own rule. @param {HTMLFormElement} form @param {string} by */
export function chooseRule(form, by) {
  for (const radio of form.querySelectorAll("[name=by]")) if (radio instanceof HTMLInputElement) radio.checked = radio.value === by;
}

/** Fits a form to a choice: a rule that is nothing without a limit gets the usual one, unless the person is just typing it. @param {HTMLFormElement} form @param {Element} [changed] */
export function fit(form, changed) {
  fitNeeds(form);
  const limit = form.elements.namedItem("limits_ms");
  if (!(limit instanceof HTMLInputElement)) return;
  limit.required = ruleOf(settingsIn(form).by)?.limited ?? false;
  if (limit.required && limit.value === "" && changed !== limit) limit.value = String(usualLimit);
}

/** Says what is set, in one line. @param {HTMLFormElement} form @param {...import("./dom.js").Child} others */
export function describe(form, ...others) {
  const now = { room: settingsIn(form) };
  const parts = [
    ...ofOpening().filter((field) => isSet(now, field)).map((field) => said(now, field)),
    String(new FormData(form).get("servers") ?? "").trim() !== "" && say("front.own-list"),
    ...others,
  ];
  const place = form.querySelector("#set");
  if (place) show(place, dotted(...parts));
}

/** A setting in a few words. @param {{room: Record<string, any>}} now @param {import("./form.js").Field} field @returns {import("./dom.js").Child} */
function said(now, field) {
  const value = now.room[field.key];
  switch (field.type) {
    case "rule":
      return saidOf(value, "name");
    case "limits":
      return say("front.nobody-over", { limit: millis(Math.max(...value)) });
    case "number":
      return say("people.players", { n: value });
    case "decision":
      return /** @type {string} */ (term(now, field));
    case "webhook":
    case "password":
    case "places":
      return label(field);
  }
  return `${label(field)}: ${[term(now, field)].flat().join("")}`;
}
