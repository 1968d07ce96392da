// Play together: one field for the game and the gold button. The rest is folded.

import { foreign, h, show } from "../dom.js";
import { gameField } from "../gamefield.js";
import { inZone } from "../gather.js";
import { matchFields, matchOf } from "../matchfields.js";
import { chooseRule, describe, fewGames, fitLimit, lastTime, limitOf, more, playersOf, rememberOpening, way, ways } from "../opening.js";
import { capital, say, told } from "../say.js";
import { together } from "../together.js";
import { alarm } from "./alarm.js";
import { ask } from "./api.js";
import { field, filledIn, mayClose, pastedIn, player, regions, regionsHow, self, tab } from "./forms.js";
import { aside, noList } from "./games.js";

/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./forms.js").Home} Home */
/** @typedef {import("../opening.js").Last} Last */

/** The most players that a room starts with. */
const mostPlayers = 64;

/** The game of this visit. */
const chosen = { game: "" };

/** @param {HTMLElement} main @param {Home} from */
export function open(main, from) {
  const last = lastTime();
  const known = (last.games ?? []).flatMap((id) => from.games.filter((game) => game.id === id));
  const now = from.games.find((game) => game.id === chosen.game) ?? known[0];
  chosen.game = now?.id ?? "";
  const first = h("div", { id: "first-list" });
  const picked = (/** @type {Game | undefined} */ game) => {
    chosen.game = game?.id ?? "";
    if (game) chooseRule(form, game.by || "mean");
    follow(form, first, game);
  };
  const choice = gameField("play-game", from.games, now, aside, picked);
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { id: "play-form" },
      h("div", { class: "one-field" }, choice.field, h("button", { class: "primary large" }, say("front.open-room"))),
      few(from, known),
      first,
      h("div", { id: "play-regions" }),
      more(...rest(from, last, now)),
    )
  );
  form.addEventListener("change", (event) => follow(form, first, gameOf(from), event.target instanceof Element ? event.target : undefined));
  form.addEventListener("click", (event) => {
    const chip = event.target instanceof Element ? event.target.closest(".last-games [data-game]") : null;
    if (chip instanceof HTMLElement) choice.take(from.games.find((game) => game.id === chip.dataset.game));
  });
  form.addEventListener("submit", () => submit(form, from, choice.input));
  main.replaceChildren(h("div", { class: "playing" }, h("div", { class: "ask" }, h("h1", { tabindex: -1 }, say("home.play")), h("p", { class: "lead" }, say("home.play-lead")), form), together([from.state.name])));
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

/** What is folded. @param {Home} from @param {Last} last @param {Game | undefined} game */
function rest({ state }, last, game) {
  const isThere = last.where ? last.where === "there" : !!state.at;
  return [
    h("div", { class: "pair" }, player(state)),
    h("fieldset", { class: "ways" }, h("legend", {}, say("home.where")), way("where", "here", say("home.where-here"), say("home.where-here-how"), !isThere), way("where", "there", say("home.where-there"), say("home.where-there-how"), isThere)),
    h("div", { id: "at-field" }, field("at", say("home.host-address"), h("input", { id: "at", name: "at", value: state.at ?? "", placeholder: "https://muster.example", autocomplete: "off", spellcheck: "false" }))),
    h("label", { class: "check", id: "open-field" }, h("input", { type: "checkbox", name: "open", checked: last.open === "on" }), say("home.without-code")),
    ways(last.by || game?.by || "mean"),
    matchFields(),
    h(
      "div",
      { class: "pairs" },
      field("limit", say("front.limit"), limitOf(last)),
      field("players", say("setting.players.label"), playersOf(last, mostPlayers)),
      field("agree", say("setting.agree.label"), options("agree", last.agree, [["", say("setting.agree.unset")], ["true", say("setting.agree.set")], ["false", say("setting.agree.declined")]])),
      field("wait", say("home.where-full"), options("wait", last.wait, [["", say("setting.wait_ms.unset")], ["30", say("home.wait-half")], ["60", say("home.wait-hour")]])),
      field("map", say("setting.map.label"), h("input", { id: "map", name: "map", placeholder: say("setting.map.unset") })),
      field("mode", say("setting.mode.label"), h("input", { id: "mode", name: "mode", placeholder: say("setting.mode.unset") })),
      field("title", say("home.room-name"), h("input", { id: "title", name: "title", placeholder: say("home.its-code"), maxlength: 64 })),
      field("every", say("setting.every.label"), h("input", { id: "every", name: "every", placeholder: "fri 20:00", maxlength: 100 })),
    ),
    h("details", { class: "own", id: "own" }, h("summary", {}, say("home.own-servers")), h("label", { for: "room-servers", class: "quiet" }, say("home.own-servers-how")), h("textarea", { id: "room-servers", name: "servers", rows: 4, spellcheck: "false", placeholder: "192.0.2.1:27960\n[2001:db8::1]:27960" })),
    h("details", { class: "own" }, h("summary", {}, say("setting.places.label")), h("label", { for: "places", class: "quiet" }, say("home.places-how")), h("textarea", { id: "places", name: "places", rows: 3, spellcheck: "false", placeholder: "Frankfurt, 192.0.2.1\nLondon, 192.0.2.8:443, tcp" })),
  ];
}

/** @param {string} id @param {string | undefined} now @param {string[][]} all values and names */
function options(id, now, all) {
  return h("select", { id, name: id }, all.map(([value, name]) => h("option", { value, selected: value === (now ?? "") }, name)));
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
  fitLimit(form, changed);
  const isBrought = game?.listed === false;
  show(first, game?.silent ? h("p", { class: "hint" }, capital(told(game.silent))) : isBrought && h("p", { class: "hint" }, noList(game)));
  const place = form.querySelector("#play-regions");
  if (place) show(place, regions("room-regions", game));
  if (isBrought && !changed) for (const fold of form.querySelectorAll("#more, #own")) if (fold instanceof HTMLDetailsElement) fold.open = true;
  const typed = (/** @type {string} */ name) => foreign(String(data.get(name)).trim());
  describe(form, typed("title"), typed("map"), typed("mode"), say(isThere ? "home.where-there" : "home.where-here"), typed("name"));
}

/** @param {HTMLFormElement} form @param {Home} from @param {HTMLInputElement} input */
function submit(form, from, input) {
  const data = filledIn(form);
  const isThere = data.get("where") === "there";
  const missing = whatIsMissing(data, isThere, gameOf(from));
  if (missing) {
    if (!chosen.game) input.focus();
    else if (missing === lacksRegions(data, gameOf(from))) unfold(form);
    return from.toast(missing, true);
  }
  if (!mayClose(from)) return;
  rememberOpening(chosen.game, data);
  alarm.allow();
  tab();
  from.attempt("host", () => ask("host", { ...self(data), at: isThere ? String(data.get("at")).trim() : "", room: wanted(data, isThere) }));
}

/** The room's settings, as a host takes them. @param {FormData} data @param {boolean} isThere */
function wanted(data, isThere) {
  const text = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
  const number = (/** @type {string} */ name) => Number(data.get(name) || 0);
  /** @type {Record<string, unknown>} */
  const room = { game: chosen.game, by: text("by"), players: number("players"), wait_ms: number("wait") * 60_000, ...matchOf(data) };
  for (const [key, value] of Object.entries({ map: text("map"), mode: text("mode"), name: text("title"), every: inZone(text("every")), places: text("places") })) if (value) room[key] = value;
  if (number("limit") > 0) room.limits_ms = [number("limit")];
  if (text("agree")) room.agree = text("agree") === "true";
  if (text("servers")) room.servers = text("servers").split(/\r?\n/);
  if (!isThere && data.has("open")) room.open = true;
  return room;
}

/** @param {FormData} data @param {boolean} isThere @param {Game | undefined} game */
function whatIsMissing(data, isThere, game) {
  if (!game) return capital(say("home.no-game"));
  if (isThere && !String(data.get("at")).trim()) return say("home.no-host");
  if (game.listed === false && !String(data.get("servers")).trim()) return noList(game);
  return lacksRegions(data, game);
}

/** What is missing of a game that measures its regions itself. @param {FormData} data @param {Game | undefined} game */
const lacksRegions = (data, game) => (game?.dump && !pastedIn(data).trim() ? regionsHow(game) : "");

/** Shows the field for the regions. @param {HTMLFormElement} form */
function unfold(form) {
  for (const fold of form.querySelectorAll(".regions")) if (fold instanceof HTMLDetailsElement) fold.open = true;
  /** @type {HTMLElement | null} */ (form.querySelector("#room-regions"))?.focus();
}
