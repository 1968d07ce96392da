// The form: what people may set in a room, as the host tells it (GET /api/form), its inputs and its
// terms. Every page that sets something draws it from here, and leaves out what it does not know.

import { h } from "./dom.js";
import { saidOf } from "./rules.js";
import { said, say } from "./say.js";

/** @typedef {import("./types.js").Field} Field */
/** @typedef {import("./types.js").Sentence} Sentence */
/** What the settings are now, and what a page knows beside them. @typedef {{room: Record<string, any>, games?: {id: string, name: string}[] | null}} Now */

/** How often the form is asked for: where the network changes, browsers drop what they load. */
const tries = 3;

/** @type {Field[]} */
const form = await load();

async function load() {
  for (let i = 0; i < tries; i++) {
    const reply = await fetch("/api/form").catch(() => null);
    if (reply?.ok) return (await reply.json()).settings;
  }
  return []; // all else on the page works without
}

/** The settings that people set on an occasion. @param {"opening" | "page" | "whatif"} occasion */
export function settable(occasion) {
  return form.filter(({ words, set }) => words && set.includes(occasion));
}

/** The name of a setting. @param {Field} field */
export function label({ words, unit, type }) {
  const name = say(`${words}.label`);
  return unit && type === "time" ? say("settings.in-unit", { name, unit: say(`unit.only.${unit}`) }) : name;
}

/** What a setting is that nobody has set. @param {Field} field */
function unset({ words }) {
  return say(`${words}.unset`);
}

/** The milliseconds in a field's unit. @param {Field} field */
function perUnit({ unit }) {
  return unit === "min" ? 60_000 : unit === "s" ? 1000 : 1;
}

/** The values of a decision: undecided, yes or no. @param {Field} field */
function decisions({ words }) {
  return [["", say(`${words}.unset`)], ["true", say(`${words}.set`)], ["false", say(`${words}.declined`)]];
}

/** A game's name, or its id where nobody knows a name. @param {Now} now @param {string} id */
export const nameOfGame = ({ games }, id) => games?.find((game) => game.id === id)?.name ?? (id || say("pick-game.unsaid"));

/** A setting's value in words. @param {Now} now @param {Field} field @returns {import("./dom.js").Child | import("./dom.js").Child[]} */
export function term(now, field) {
  const value = now.room[field.key];
  if (field.type === "decision") return decisions(field)[value === undefined || value === null ? 0 : value ? 1 : 2][1];
  if (field.type === "switch" && value) return said(`${field.words}.set`);
  if (!isSet(now, field) && field.type !== "game") return unset(field);
  switch (field.type) {
    case "game":
      return nameOfGame(now, value);
    case "rule":
      return saidOf(value, "name");
    case "limits":
      return limits(value);
    case "choice":
      return said(`${field.words}.${value}`);
    case "law":
      return lawName(value);
    case "places":
      return said("list.of", { items: now.room.candidates });
    case "time":
      return say(`unit.${field.unit}`, { n: value / perUnit(field) });
  }
  return String(value);
}

/** What stands for a law of the room's own among the known ones, which have names of small letters. */
const ownLaw = "*";

/** What people call a law: its name, or the league of one that came as a file. @param {string | {league: string}} law */
const lawName = (law) => (typeof law === "string" ? law : law.league);

/** Whether somebody has set a setting. None of these counts is one. @param {Now} now @param {Field} field */
export function isSet({ room }, { key, type }) {
  const value = room[type === "places" ? "candidates" : key];
  if (type === "limits") return value?.length > 0;
  return ["count", "decision"].includes(type) ? value !== undefined && value !== null : Boolean(value);
}

/** Limits that are tried one after the other. @param {number[]} all */
function limits(all) {
  const [first, ...others] = all.map((n) => say("unit.ms", { n }));
  return say("settings.limits", { n: all.length, first, others });
}

/**
 * The input for a setting, or nothing for one of a type that this page does not know; data-type says
 * how to read it. @param {Now} now @param {Field} field
 */
export function input(now, field) {
  const value = now.room[field.key];
  const of = { id: field.key, name: field.key, "data-type": field.type };
  const text = { ...of, value: value ?? "", placeholder: unset(field), maxlength: field.max_length || longest, autocomplete: "off" };
  const amount = { ...text, type: "number", min: 0, max: field.max || undefined };
  switch (field.type) {
    case "game": {
      const games = [...(now.games ?? [])];
      if (!games.some((game) => game.id === value)) games.unshift({ id: value, name: nameOfGame(now, value) }); // with a list of its own
      return games.length > 1 && labelled(now, field, select(of, games.map((game) => [game.id, game.name]), value));
    }
    case "rule":
      return labelled(now, field, select(of, (field.choices ?? []).map((id) => [id, saidOf(id, "name")]), value));
    case "limits":
      return labelled(now, field, h("input", { ...text, value: (value ?? []).join(", "), inputmode: "numeric", pattern: "[0-9., ]*" }));
    case "time":
      return labelled(now, field, h("input", { ...amount, max: field.max && field.max / perUnit(field), step: "any", "data-per": perUnit(field), value: value ? value / perUnit(field) : "" }));
    case "number":
      return labelled(now, field, h("input", { ...amount, value: value || "" }));
    case "count":
      return labelled(now, field, h("input", amount));
    case "switch":
      return h("label", { class: "check", ...needs(now, field) }, h("input", { ...of, type: "checkbox", checked: Boolean(value) }), say("settings.switch", { name: label(field), set: say(`${field.words}.set`) }));
    case "decision":
      return labelled(now, field, select(of, decisions(field), String(value ?? "")));
    case "choice":
      return labelled(now, field, select(of, (field.choices ?? []).map((choice) => [choice, say(`${field.words}.${choice || "unset"}`)]), value ?? ""));
    case "law": {
      const own = typeof value === "object" ? [[ownLaw, lawName(value)]] : [];
      return labelled(now, field, select(of, [...(field.choices ?? []).map((choice) => [choice, choice || unset(field)]), ...own], own.length > 0 ? ownLaw : value ?? ""));
    }
    case "text":
    case "moves":
      return labelled(now, field, h("input", { ...text, list: field.examples && `${field.key}-examples` }), field.examples && examples(field));
    case "link":
      return labelled(now, field, h("input", { ...text, placeholder: say("settings.voice-example"), inputmode: "url" }));
    case "password":
      return labelled(now, field, h("input", { ...text, type: "password", autocomplete: "new-password" }));
    case "webhook":
      return webhook(now, field, { ...text, value: "" });
    case "places":
      return places(now, field, of);
  }
  return false;
}

/** The longest text of which the form does not say how long it may be. */
const longest = 1000;

/** Values to choose from. @param {Field} field */
function examples({ key, type, examples }) {
  const words = (/** @type {string} */ text) => text.split(" ").map((move) => say(`match.word.${move}`)).join(" · ");
  return h("datalist", { id: `${key}-examples` }, (examples ?? []).map((value) => h("option", { value }, type === "moves" && words(value))));
}

/** What hides a setting that means nothing without another one. @param {Now} now @param {Field} field */
function needs(now, field) {
  return { "data-needs": field.needs, hidden: field.needs !== undefined && !now.room[field.needs] };
}

/** Shows the inputs of a form that mean something by now. @param {HTMLFormElement} form */
export function fitNeeds(form) {
  for (const part of form.querySelectorAll("[data-needs]")) {
    const other = form.elements.namedItem(/** @type {HTMLElement} */ (part).dataset.needs ?? "");
    /** @type {HTMLElement} */ (part).hidden = !(other instanceof HTMLInputElement || other instanceof HTMLSelectElement) || other.value === "";
  }
}

/** What the host takes for no places at all. People write it in their own language. */
const noPlaces = "none";
const isNone = (/** @type {string} */ text) => text.toLowerCase() === say("settings.webhook-none").toLowerCase();

/** Places for a server. The page does not know their addresses; a new list replaces the old one. @param {Now} now @param {Field} field @param {Record<string, string>} of */
function places(now, field, of) {
  const known = now.room.candidates ?? [];
  const how = known.length > 0 ? said("settings.places-now", { places: known, none: say("settings.webhook-none") }) : say("settings.places-how");
  return labelled(now, field, h("textarea", { ...of, rows: 3, maxlength: 3500, spellcheck: "false", autocomplete: "off", placeholder: say("settings.places-example") }), h("p", { class: "quiet" }, how));
}

/**
 * The field for where the room announces itself. The page does not know the current URL, but
 * accepts a new one.
 * @param {Now} now @param {Field} field @param {Record<string, unknown>} of
 */
function webhook(now, field, of) {
  const { posts } = now.room;
  const none = say("settings.webhook-none");
  const where = posts?.to ?? "";
  const way = posts?.at ? said("settings.webhook-arrived", { where, at: posts.at, none }) : said("settings.webhook-to", { where, none });
  const how = !posts ? say("settings.webhook-how") : posts.trouble ? said("settings.webhook-trouble", { why: posts.trouble }) : way;
  const placeholder = posts ? say("settings.webhook-another", { where }) : say("settings.webhook-url");
  return labelled(now, field, h("input", { ...of, type: "password", placeholder, "aria-describedby": "webhook-how" }), h("p", { id: "webhook-how", class: posts?.trouble ? "bad" : "quiet" }, how));
}

/** @param {Now} now @param {Field} field @param {HTMLElement} input @param {HTMLElement | undefined} [beside] */
function labelled(now, field, input, beside) {
  return h("div", { class: "field", ...needs(now, field) }, h("label", { for: field.key }, label(field)), input, beside);
}

/** @param {Record<string, string>} of @param {string[][]} options @param {string} chosen */
function select(of, options, chosen) {
  return h("select", of, options.map(([value, name]) => h("option", { value, selected: value === chosen }, name)));
}

/** When the group meets, with the reader's time zone in case that the text names none. @param {string} text */
function inZone(text) {
  return text && `${text} (${Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"})`;
}

/** The setting in an input, or nothing if it stays as it is. @param {HTMLInputElement} input @returns {Record<string, unknown>} */
export function settingOf(input) {
  const text = input.value.trim();
  /** @param {unknown} value */
  const is = (value) => ({ [input.name]: value });
  switch (input.dataset.type) {
    case "limits":
      return is(text.split(/[\s,]+/).map(Number).filter(Boolean));
    case "time":
      return is(Number(text || 0) * Number(input.dataset.per));
    case "number":
      return is(Number(text || 0));
    case "count":
      return is(text === "" ? null : Number(text));
    case "switch":
      return is(input.checked);
    case "decision":
      return is(text === "" ? null : text === "true");
    case "places":
      return text === "" ? {} : is(isNone(text) ? noPlaces : text); // empty, it stays as it is
    case "webhook":
      return text === "" ? {} : is(isNone(text) ? "" : text);
    case "password":
      return is(input.value);
    case "law":
      return text === ownLaw ? {} : is(text);
    case "text":
    case "moves":
    case "choice":
    case "link":
    case "game":
    case "rule":
      return is(input.name === "every" ? inZone(text) : text);
  }
  return {};
}

/** All settings in a form, except those that mean nothing there. @param {HTMLFormElement} form @returns {Record<string, any>} */
export function settingsIn(form) {
  const inputs = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("[data-type]")]);
  const counts = inputs.filter((input) => !input.closest("[data-needs][hidden]") && (input.type !== "radio" || input.checked));
  return Object.assign({}, ...counts.map(settingOf));
}
