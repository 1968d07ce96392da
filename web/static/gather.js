// Before the start: how to get in, and what the organiser wants.

import { button, h } from "./dom.js";
import { lastName } from "./api.js";

/** @typedef {import("./types.js").State} State */

export const rules = /** @type {const} */ ([
  ["mean", "Lowest average", "the best for the group as a whole"],
  ["threshold", "Average under a limit", "nobody over the limit, then the lowest average"],
  ["fairness", "Fairest", "everyone has about the same ping"],
  ["fair-threshold", "Fairest under a limit", "nobody over the limit, then the fairest"],
  ["minimax", "Kindest to the worst off", "the highest ping is as low as can be"],
]);

/** @param {string} by */
export function ruleName(by) {
  return rules.find(([id]) => id === by)?.[1] ?? by;
}

/** Choosing a nickname. The organiser's program has one already. @param {State} state */
export function welcome(state) {
  const mine = state.you.organiser ? state.people.find((person) => person.organiser)?.name : undefined;
  return h(
    "form",
    { "data-submit": "enter", class: "welcome" },
    h("label", { for: "nickname" }, "Your nickname"),
    h("input", { id: "nickname", name: "name", value: lastName() || mine, maxlength: 32, required: true, autocomplete: "nickname", placeholder: "ann" }),
    h("button", { class: "primary" }, "Come in"),
    h("p", { class: "quiet" }, "Use the name you play under. Without one you can watch."),
  );
}

/** How the next person gets in. @param {State} state @returns {HTMLElement[]} */
export function invitation(state) {
  const [title, ...rest] = invite(state);
  return state.room.stage === "gathering" ? [title, ...rest] : folded(title, rest);
}

/** Once the round goes on, what was for its start makes room. @param {HTMLElement} title @param {HTMLElement[]} rest */
function folded(title, rest) {
  return [h("details", { class: "fold", "data-key": "fold" }, h("summary", {}, title.textContent), ...rest)];
}

/** @param {State} state @returns {HTMLElement[]} */
function invite(state) {
  const mine = playsHere(state);
  const name = state.you.name ? ` --name ${quoted(state.you.name)}` : "";
  const line = `muster join ${state.you.link}${mine ? "" : name}`;
  return [
    h("h2", {}, mine ? "Invite the next one" : "Play along"),
    h("p", { class: "quiet" }, mine ? "One line for a friend's terminal:" : "Paste this in a terminal on the computer you play on:"),
    copyable("join-line", line, "Copy the line"),
    h("p", { class: "quiet" }, "In a browser, to watch and to vote:"),
    copyable("room-link", state.you.link, "Copy the link"),
    h(
      "details",
      { class: "qr", open: true },
      h("summary", {}, "For a phone"),
      h("img", { src: `/api/rooms/${encodeURIComponent(state.room.code)}/qr.svg`, alt: `QR code of ${state.you.link}`, width: 180, height: 180 }),
    ),
  ];
}

/** Tells whether who looks at the page plays: under their nickname, or as the organiser whose program it is. @param {State} state */
export function playsHere(state) {
  const { name, organiser } = state.you;
  return state.people.some((person) => person.peer && (name ? person.name === name : organiser && person.organiser));
}

/** A name as one word of a shell. @param {string} name */
function quoted(name) {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

/** A text with a button that copies it. @param {string} id @param {string} text @param {string} label */
export function copyable(id, text, label) {
  return h("div", { class: "copyable" }, h("code", { id, tabindex: 0 }, text), button("copy", "Copy", { "data-copy": id, "aria-label": label }));
}

/** What the organiser has set, for the organiser to change. @param {State} state */
export function settings(state) {
  const [title, ...rest] = state.you.organiser ? form(state) : terms(state);
  const matters = state.room.stage === "gathering" || state.room.stage === "failed";
  return matters ? [title, ...rest] : folded(title, rest);
}

/** @param {State} state @returns {HTMLElement[]} */
function terms(state) {
  const { room } = state;
  const facts = [
    ["Game", gameName(state)],
    ["Rule", ruleName(room.by)],
    ["Limit", limitText(room.limits_ms)],
    ["Map", room.map || "any"],
    ["Mode", room.mode || "any"],
    ["Players", room.players > 0 ? String(room.players) : "whoever is here"],
    ["Before the launch", room.agree ? "vote, veto, ready check" : "straight there"],
  ];
  return [h("h2", {}, "What we look for"), h("dl", { class: "terms" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("bdi", {}, value)))))];
}

/** @param {State} state */
export function gameName(state) {
  return state.room.games?.find((game) => game.id === state.room.game)?.name ?? state.room.game;
}

/** @param {number[]} limits */
function limitText(limits) {
  return limits.length === 0 ? "none" : limits.map((ms) => `${ms} ms`).join(", then ");
}

/** @param {State} state @returns {HTMLElement[]} */
function form(state) {
  const { room } = state;
  return [
    h("h2", {}, "What we look for"),
    h(
      "form",
      { "data-change": "settings", class: "settings" },
      (room.games ?? []).length > 1 && field("Game", "game", select("game", (room.games ?? []).map((game) => [game.id, game.name]), room.game)),
      field("Rule", "by", select("by", rules.map(([id, name]) => [id, name]), room.by)),
      field("Limit, ms", "limits_ms", h("input", { id: "limits_ms", name: "limits_ms", value: room.limits_ms.join(", "), placeholder: "none", inputmode: "numeric", pattern: "[0-9., ]*" })),
      field("Map", "map", h("input", { id: "map", name: "map", value: room.map, placeholder: "any", maxlength: 64 })),
      field("Mode", "mode", h("input", { id: "mode", name: "mode", value: room.mode, placeholder: "any", maxlength: 64 })),
      field("Start with", "players", h("input", { id: "players", name: "players", type: "number", min: 0, max: 64, value: room.players || "", placeholder: "who is here" })),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "agree", checked: room.agree }), "Vote and ready check before the launch"),
    ),
  ];
}

/** @param {string} label @param {string} id @param {HTMLElement} input */
function field(label, id, input) {
  return h("div", { class: "field" }, h("label", { for: id }, label), input);
}

/** @param {string} id @param {(readonly [string, string])[] | string[][]} options @param {string} chosen */
function select(id, options, chosen) {
  return h("select", { id, name: id }, options.map(([value, name]) => h("option", { value, selected: value === chosen }, name)));
}

/** The settings that a form says. @param {HTMLFormElement} form */
export function settingsOf(form) {
  const data = new FormData(form);
  const text = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
  return {
    game: data.has("game") ? text("game") : undefined,
    by: text("by"),
    limits_ms: text("limits_ms").split(/[\s,]+/).filter(Boolean).map(Number),
    map: text("map"),
    mode: text("mode"),
    players: Number(text("players") || 0),
    agree: data.has("agree"),
  };
}
