// Play together: one field for the game and the gold button. The rest is folded.

import { foreign, h, show } from "../dom.js";
import { gameField } from "../gamefield.js";
import { settingsIn } from "../form.js";
import { chooseRule, describe, fewGames, fit, lastTime, more, ofOpening, ofPlaces, rememberOpening, settingFields, way } from "../opening.js";
import { capital, say, told } from "../say.js";
import { together } from "../together.js";
import { alarm } from "./alarm.js";
import { ask } from "./api.js";
import { field, mayClose, player, regions, regionsHow, self, tab } from "./forms.js";
import { aside, noList } from "./games.js";

/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./forms.js").Home} Home */
/** @typedef {import("../opening.js").Last} Last */

/** The game of this visit. */
const chosen = { game: "" };

/** @param {HTMLElement} main @param {Home} from @param {boolean} [isPlace] the room looks for a place */
export function open(main, from, isPlace = false) {
  const last = lastTime();
  const known = (last.games ?? []).flatMap((id) => from.games.filter((game) => game.id === id));
  const now = from.games.find((game) => game.id === chosen.game) ?? (isPlace ? undefined : known[0]);
  chosen.game = now?.id ?? "";
  const first = h("div", { id: "first-list" });
  const picked = (/** @type {Game | undefined} */ game) => {
    chosen.game = game?.id ?? "";
    if (game) chooseRule(form, game.by || "mean");
    follow(form, first, game);
  };
  const choice = gameField("play-game", from.games, now, isPlace ? () => "" : aside, picked);
  if (isPlace) choice.input.placeholder = say("front.any-game");
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { id: "play-form", "data-seeks": isPlace ? "place" : undefined },
      h("div", { class: "one-field" }, choice.field, h("button", { class: "primary large" }, say("front.open-room"))),
      few(from, known),
      first,
      h("div", { id: "play-regions" }),
      more(...rest(from, last, now, isPlace)),
    )
  );
  form.addEventListener("change", (event) => follow(form, first, gameOf(from), event.target instanceof Element ? event.target : undefined));
  form.addEventListener("click", (event) => {
    const chip = event.target instanceof Element ? event.target.closest(".last-games [data-game]") : null;
    if (chip instanceof HTMLElement) choice.take(from.games.find((game) => game.id === chip.dataset.game));
  });
  form.addEventListener("submit", () => submit(form, from, choice.input));
  main.replaceChildren(h("div", { class: "playing" }, h("div", { class: "ask" }, h("h1", { tabindex: -1 }, say(isPlace ? "front.where-title" : "home.play")), h("p", { class: "lead" }, say(isPlace ? "front.where-how" : "home.play-lead")), form), together([from.state.name])));
  follow(form, first, now);
}

/** @param {Home} from */
function gameOf(from) {
  return from.games.find((game) => game.id === chosen.game);
}

/** The last games, or the first time those on this computer. @param {Home} from @param {Game[]} known */
function few(from, known) {
  if (known.length > 1) return fewGames(say("front.last-time"), known.slice(1));
  return fewGames(say("home.where-here"), from.games.filter((game) => game.here && game.listed && game !== known[0]));
}

/** What is folded. @param {Home} from @param {Last} last @param {Game | undefined} game @param {boolean} isPlace */
function rest({ state }, last, game, isPlace) {
  const isThere = last.where ? last.where === "there" : !!state.at;
  return [
    h("div", { class: "pair" }, player(state)),
    h("fieldset", { class: "ways" }, h("legend", {}, say("home.where")), way("where", "here", say("home.where-here"), say("home.where-here-how"), !isThere), way("where", "there", say("home.where-there"), say("home.where-there-how"), isThere)),
    h("div", { id: "at-field" }, field("at", say("home.host-address"), h("input", { id: "at", name: "at", value: state.at ?? "", placeholder: "https://muster.example", autocomplete: "off", spellcheck: "false" }))),
    h("label", { class: "check", id: "open-field" }, h("input", { type: "checkbox", name: "open", checked: last.open }), say("home.without-code")),
    ...settingFields(last, game?.by || "mean", isPlace ? ofPlaces() : ofOpening(),
      !isPlace && h("details", { class: "own", id: "own" }, h("summary", {}, say("home.own-servers")), h("label", { for: "room-servers", class: "quiet" }, say("home.own-servers-how")), h("textarea", { id: "room-servers", name: "servers", rows: 4, spellcheck: "false", placeholder: "192.0.2.1:27960\n[2001:db8::1]:27960" }))),
  ];
}

/** Fits the form to a choice. @param {HTMLFormElement} form @param {HTMLElement} first @param {Game | undefined} game @param {Element} [changed] */
function follow(form, first, game, changed) {
  const data = new FormData(form);
  const isThere = data.get("where") === "there";
  const hide = (/** @type {string} */ id, /** @type {boolean} */ is) => {
    const part = form.querySelector(id);
    if (part instanceof HTMLElement) part.hidden = is;
  };
  hide("#at-field", !isThere);
  hide("#open-field", isThere);
  fit(form, changed);
  const isPlace = form.dataset.seeks !== undefined;
  const isBrought = game?.listed === false && !isPlace;
  show(first, game?.silent && !isPlace ? h("p", { class: "hint" }, capital(told(game.silent))) : isBrought && h("p", { class: "hint" }, noList(game)));
  const place = form.querySelector("#play-regions");
  if (place && !isPlace) show(place, regions("room-regions", game));
  if (isBrought && !changed) for (const fold of form.querySelectorAll("#more, #own")) if (fold instanceof HTMLDetailsElement) fold.open = true;
  describe(form, say(isThere ? "home.where-there" : "home.where-here"), foreign(String(data.get("player")).trim()));
}

/** @param {HTMLFormElement} form @param {Home} from @param {HTMLInputElement} input */
function submit(form, from, input) {
  const data = new FormData(form);
  const mine = self(form);
  const isThere = data.get("where") === "there";
  const isPlace = form.dataset.seeks !== undefined;
  const missing = whatIsMissing(data, isThere, gameOf(from), isPlace ? input.value : undefined);
  if (missing) {
    if (!chosen.game) input.focus();
    else if (!isPlace && missing === lacksRegions(data, gameOf(from))) unfold(form);
    return from.toast(missing, true);
  }
  if (!mayClose(from)) return;
  if (chosen.game) rememberOpening(chosen.game, form, { where: isThere ? "there" : "here", open: data.has("open") });
  alarm.allow();
  tab();
  from.attempt("host", () => ask("host", { ...mine, at: isThere ? String(data.get("at")).trim() : "", room: wanted(form, data) }));
}

/** The room's settings, as a host takes them. What is not filled in stays as config.toml has it. @param {HTMLFormElement} form @param {FormData} data */
function wanted(form, data) {
  const isFilled = (/** @type {any} */ input) => (input.type === "checkbox" ? input.checked : input.value.trim() !== "");
  /** @type {Record<string, unknown>} */
  const room = { ...(chosen.game ? { game: chosen.game } : {}), ...(form.dataset.seeks ? { seeks: form.dataset.seeks } : {}), ...Object.fromEntries(Object.entries(settingsIn(form)).filter(([key]) => isFilled(form.elements.namedItem(key)))) };
  const servers = String(data.get("servers") ?? "").trim();
  if (servers) room.servers = servers.split(/\r?\n/);
  if (data.has("open")) room.open = true;
  return room;
}

/** @param {FormData} data @param {boolean} isThere @param {Game | undefined} game @param {string} [typed] what stands for a game where the room looks for a place, and needs none */
function whatIsMissing(data, isThere, game, typed) {
  if (!game && typed !== "") return typed ? say("pick-game.no-such-game") : capital(say("pick-game.no-game"));
  if (isThere && !String(data.get("at")).trim()) return say("home.no-host");
  if (!game || typed !== undefined) return "";
  if (game.listed === false && !String(data.get("servers")).trim()) return noList(game);
  return lacksRegions(data, game);
}

/** What is missing of a game that measures its regions itself. @param {FormData} data @param {Game | undefined} game */
const lacksRegions = (data, game) => (game?.dump && !String(data.get("regions") ?? "").trim() ? regionsHow(game) : "");

/** Shows the field for the regions. @param {HTMLFormElement} form */
function unfold(form) {
  for (const fold of form.querySelectorAll(".regions")) if (fold instanceof HTMLDetailsElement) fold.open = true;
  /** @type {HTMLElement | null} */ (form.querySelector("#room-regions"))?.focus();
}
