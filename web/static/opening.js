// What the two pages that open a room share: the front page of a host for everybody, and Home's.
// Both have one field for the game with the gold button beside it, the games of the last time, and
// the rest folded under one line that says what is set.

import { dotted, h, show } from "./dom.js";
import { matchIn } from "./matchfields.js";
import { ruleOf, rules, saidOf } from "./rules.js";
import { millis, say } from "./say.js";

/** Default limit, ms: most games are still good at this ping. */
const usualLimit = 150;

/** What this browser opened last: games, the newest first, and the settings of the last room. @typedef {{games?: string[], by?: string, limit?: string, players?: string, agree?: string, where?: string, open?: string}} Last */
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

/** Remembers a game, and what a form has set. @param {string} game @param {FormData} given */
export function rememberOpening(game, given) {
  const text = (/** @type {string} */ name) => String(given.get(name) ?? "");
  const games = [game, ...(lastTime().games ?? []).filter((id) => id !== game)].slice(0, again + 1);
  try {
    localStorage.setItem(kept, JSON.stringify({ games, by: text("by"), limit: text("limit"), players: text("players"), agree: text("agree"), where: text("where"), open: text("open") }));
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

/** The choice of a rule. @param {string} by */
export function ways(by) {
  return h("fieldset", { class: "ways" }, h("legend", {}, say("front.what-counts")), rules.map(({ id }) => way("by", id, saidOf(id, "name"), saidOf(id, "hint"), id === by)));
}

/** One of several ways, with a hint. @param {string} field @param {string} value @param {string} name @param {string} hint @param {boolean} checked */
export function way(field, value, name, hint, checked) {
  return h("label", { class: "way-of" }, h("input", { type: "radio", name: field, value, checked }), h("span", {}, h("strong", {}, name), h("small", {}, hint)));
}

/** The field for the highest ping. @param {Last} last */
export function limitOf(last) {
  return h("span", { class: "unit" }, h("input", { id: "limit", name: "limit", type: "number", min: 1, max: 1000, inputmode: "numeric", placeholder: say("front.no-limit"), value: last.limit ?? "" }), say("unit.only.ms"));
}

/** The field for the number of players that start by themselves. @param {Last} last @param {number} most */
export function playersOf(last, most) {
  return h("span", { class: "unit" }, h("input", { id: "players", name: "players", type: "number", min: 1, max: most, inputmode: "numeric", placeholder: say("setting.players.unset"), value: last.players ?? "" }), say("front.players"));
}

/** Chooses a game's own rule. @param {HTMLFormElement} form @param {string} by */
export function chooseRule(form, by) {
  for (const radio of form.querySelectorAll("[name=by]")) if (radio instanceof HTMLInputElement) radio.checked = radio.value === by;
}

/** A rule that is nothing without a limit gets the usual one, unless the person is just typing it. @param {HTMLFormElement} form @param {Element} [changed] */
export function fitLimit(form, changed) {
  const limit = /** @type {HTMLInputElement} */ (form.elements.namedItem("limit"));
  limit.required = ruleOf(String(new FormData(form).get("by")))?.limited ?? false;
  if (limit.required && limit.value === "" && changed !== limit) limit.value = String(usualLimit);
}

/** Says what is set, in one line. @param {HTMLFormElement} form @param {...import("./dom.js").Child} others */
export function describe(form, ...others) {
  const given = new FormData(form);
  const agree = form.elements.namedItem("agree");
  const limit = Number(given.get("limit") || 0);
  const players = Number(given.get("players") || 0);
  const parts = [
    saidOf(String(given.get("by")), "name"),
    limit > 0 && say("front.nobody-over", { limit: millis(limit) }),
    players > 0 && say("people.players", { n: players }),
    agree instanceof HTMLSelectElement && agree.value !== "" && agree.selectedOptions[0].text,
    matchIn(given),
    String(given.get("servers")).trim() !== "" && say("front.own-list"),
    ...others,
  ];
  const place = form.querySelector("#set");
  if (place) show(place, dotted(...parts));
}
