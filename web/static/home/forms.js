// Join a room, or open one.

import { button, dotted, foreign, h, show } from "../dom.js";
import { capital, language, said, say, suited } from "../say.js";
import { ruleOf, rules, saidOf } from "../rules.js";
import { alarm } from "./alarm.js";
import { art } from "./art.js";
import { ask } from "./api.js";
import { noList, picker } from "./games.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {{state: State, games: Game[], toast: (text: string, bad?: boolean) => void, attempt: (what: string, act: () => unknown) => unknown}} Home */

/** Default limit, ms: most games are still good at this ping. */
const usualLimit = 150;

/** @type {State | undefined} */
let state;
/** @type {Home | undefined} */
let home;
/** The choices so far. */
const chosen = { game: "" };

/** @param {State} next */
export function changed(next) {
  state = next;
  drawRooms();
}

/** A value stored in this browser. @param {string} key */
export function remembered(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} key @param {string} value */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // a private window
  }
}

/** Fields for the player's name, and for who starts the game. @param {State} s */
function player(s) {
  return [
    field("player-name", say("home.your-name"), h("input", { id: "player-name", name: "name", value: remembered("name") || s.name, maxlength: 32, required: true, autocomplete: "nickname" })),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "auto", checked: (remembered("auto") || (s.launch === "auto" ? "yes" : "")) === "yes" }), say("home.auto")),
    mayHost(),
  ];
}

/** Whether this computer may host, as last chosen. A change is saved at once, because a new drawing would lose it. */
export function mayHost() {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", name: "can-host", checked: remembered("can-host") === "yes" }));
  box.addEventListener("change", () => remember("can-host", box.checked ? "yes" : "no"));
  return h("label", { class: "check" }, box, h("span", {}, said("home.may-host", { small })));
}

/** Small print in a sentence. @param {...import("../dom.js").Child} held */
export function small(...held) {
  return h("small", { class: "quiet" }, held);
}

/** @param {string} id @param {string} label @param {HTMLElement} input @param {string} [hint] */
function field(id, label, input, hint) {
  return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("small", {}, hint));
}

/** What a form has, some of which this browser keeps. @param {HTMLFormElement} form */
function filledIn(form) {
  const data = new FormData(form);
  remember("name", String(data.get("name") ?? ""));
  remember("auto", data.has("auto") ? "yes" : "no");
  remember("can-host", data.has("can-host") ? "yes" : "no");
  return data;
}

/** Opens a tab for the room that we enter next, while the click still allows that. */
export function tab() {
  open(roomPage(state?.room.id ?? 0), "muster-room");
}

/** The page of the room after another one, in this page's language if that was chosen. @param {number} [after] */
export function roomPage(after = 0) {
  const lang = language === suited([...navigator.languages]) ? "" : `&lang=${language}`;
  return `/room?after=${after}${lang}`;
}

/** @param {HTMLElement} main @param {Home} from */
export function join(main, from) {
  home = from;
  state = from.state;
  const form = h(
    "form",
    { id: "join-form", class: "card" },
    field("link", say("home.link"), h("input", { id: "link", name: "link", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "http://192.0.2.1:7777/#TABOMI…" })),
    player(from.state),
    h("p", { class: "buttons" }, h("button", { class: "primary" }, say("home.join-now"))),
  );
  form.addEventListener("submit", () => {
    const data = filledIn(/** @type {HTMLFormElement} */ (form));
    alarm.allow();
    tab();
    from.attempt("join", () => ask("join", { link: String(data.get("link")).trim(), name: data.get("name"), auto: data.has("auto"), can_host: data.has("can-host") }));
  });
  main.replaceChildren(
    h("h1", { tabindex: -1 }, say("home.join-title")),
    h("p", { class: "lead" }, say("home.join-lead")),
    h("div", { class: "halves" }, form, h("section", { class: "card", "aria-labelledby": "near" }, h("h2", { id: "near" }, say("home.near")), h("ul", { id: "rooms" }))),
  );
  drawRooms();
}

/** A list of the rooms on the network, if there are any. @param {Home} from */
export function near(from) {
  home = from;
  state = from.state;
  return h("section", { class: "card", id: "rooms-first", "aria-labelledby": "near", hidden: true }, h("h2", { id: "near" }, say("home.near-opened")), h("ul", { id: "rooms" }));
}

/** Draws the rooms on the network, on every page that has them. */
export function drawRooms() {
  const list = document.getElementById("rooms");
  if (!list || !state) return;
  const { rooms } = state;
  const section = list.closest("#rooms-first");
  if (section instanceof HTMLElement) section.hidden = rooms.length === 0;
  show(
    list,
    rooms.map((room) =>
      h(
        "li",
        { "data-key": room.id },
        h("p", {}, h("strong", {}, h("bdi", { dir: "auto" }, room.name || say("home.nameless"))), " ", h("span", { class: "quiet" }, dotted(foreign(home?.games.find((g) => g.id === room.game)?.name ?? room.game), room.organiser && said("home.by", { player: room.organiser }), room.seats ? say("home.players-of", { n: room.players, seats: room.seats }) : say("people.players", { n: room.players })))),
        h("p", { class: "buttons" }, !room.open && h("input", { id: `code-${room.id}`, placeholder: say("home.its-code"), "aria-label": say("home.code-of", { room: room.name }), autocomplete: "off", spellcheck: "false" }), button("join-near", say("home.join-now"), { class: "primary", "data-room": room.id, "aria-label": room.name ? say("home.join-room", { room: room.name }) : say("home.join-it") })),
      ),
    ),
    rooms.length === 0 && h("li", { class: "quiet none", "data-key": "none" }, art("join"), say("home.no-room")),
  );
}

/** @param {HTMLElement} main @param {Home} from */
export function play(main, from) {
  home = from;
  state = from.state;
  const game = () => from.games.find((g) => g.id === chosen.game);
  const own = h("textarea", { id: "room-servers", name: "servers", rows: 4, spellcheck: "false", placeholder: "192.0.2.1:27960\n[2001:db8::1]:27960" });
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "own" }, h("summary", {}, say("home.own-servers")), h("label", { for: "room-servers", class: "quiet" }, say("home.own-servers-how")), own));
  const limit = /** @type {HTMLInputElement} */ (h("input", { id: "limit", name: "limit", type: "number", min: 1, max: 1000, inputmode: "numeric", placeholder: say("front.no-limit") }));
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { id: "play-form" },
      h(
        "section",
        { class: "card" },
        picker("play-game", from.games, chosen.game, (g) => {
          chosen.game = g.id;
          for (const radio of form.querySelectorAll("[name=by]")) if (radio instanceof HTMLInputElement) radio.checked = radio.value === (g.by || "mean");
          details.open ||= !g.listed;
          follow();
        }),
        details,
      ),
      h(
        "section",
        { class: "card" },
        h("fieldset", { class: "ways" }, h("legend", {}, say("front.what-counts")), rules.map(({ id }) => h("label", { class: "way-of" }, h("input", { type: "radio", name: "by", value: id, checked: id === (game()?.by || "mean") }), h("span", {}, h("strong", {}, saidOf(id, "name")), h("small", {}, saidOf(id, "hint")))))),
        field("limit", say("front.limit"), h("span", { class: "unit" }, limit, say("unit.only.ms"))),
        field("players", say("setting.players.label"), h("span", { class: "unit" }, h("input", { id: "players", name: "players", type: "number", min: 1, max: 64, inputmode: "numeric", placeholder: say("setting.players.unset") }), say("front.players"))),
        field("vote", say("setting.agree.label"), h("select", { id: "vote", name: "vote" }, [["", say("setting.agree.unset")], ["true", say("setting.agree.set")], ["false", say("setting.agree.declined")]].map(([value, name]) => h("option", { value }, name)))),
        field("wait", say("home.where-full"), h("select", { id: "wait", name: "wait" }, [["", say("setting.wait_ms.unset")], ["30", say("home.wait-half")], ["60", say("home.wait-hour")]].map(([value, name]) => h("option", { value }, name)))),
        h("details", { class: "own" }, h("summary", {}, say("home.more-settings")), field("map", say("setting.map.label"), h("input", { id: "map", name: "map", placeholder: say("setting.map.unset") })), field("mode", say("setting.mode.label"), h("input", { id: "mode", name: "mode", placeholder: say("setting.mode.unset") })), field("title", say("home.room-name"), h("input", { id: "title", name: "title", placeholder: say("home.its-code"), maxlength: 64 })), field("every", say("setting.every.label"), h("input", { id: "every", name: "every", placeholder: "fri 20:00", maxlength: 100 }))),
        h("details", { class: "own" }, h("summary", {}, say("setting.places.label")), h("label", { for: "places", class: "quiet" }, say("home.places-how")), h("textarea", { id: "places", name: "places", rows: 3, spellcheck: "false", placeholder: "Frankfurt, 192.0.2.1\nLondon, 192.0.2.8:443, tcp" })),
      ),
      h(
        "section",
        { class: "card" },
        h(
          "fieldset",
          { class: "ways" },
          h("legend", {}, say("home.where")),
          where("here", say("home.where-here"), say("home.where-here-how"), !from.state.at),
          where("there", say("home.where-there"), say("home.where-there-how"), !!from.state.at),
        ),
        h("div", { id: "at-field" }, field("at", say("home.host-address"), h("input", { id: "at", name: "at", value: from.state.at ?? "", placeholder: "https://muster.example", autocomplete: "off", spellcheck: "false" }))),
        h("label", { class: "check", id: "open-field" }, h("input", { type: "checkbox", name: "open" }), say("home.without-code")),
        player(from.state),
        h("p", { class: "buttons" }, h("button", { class: "primary" }, say("front.open-room"))),
      ),
    )
  );
  const follow = () => {
    const data = new FormData(form);
    const there = data.get("where") === "there";
    const at = form.querySelector("#at-field");
    const openField = form.querySelector("#open-field");
    if (at instanceof HTMLElement) at.hidden = !there;
    if (openField instanceof HTMLElement) openField.hidden = there;
    limit.required = ruleOf(String(data.get("by")))?.limited ?? false;
    if (limit.required && limit.value === "") limit.value = String(usualLimit);
  };
  form.addEventListener("change", follow);
  form.addEventListener("submit", () => {
    const data = filledIn(form);
    const there = data.get("where") === "there";
    if (!chosen.game) return from.toast(capital(say("home.no-game")), true);
    if (there && !String(data.get("at")).trim()) return from.toast(say("home.no-host"), true);
    if (game()?.listed === false && !String(data.get("servers")).trim()) return from.toast(noList(game()), true);
    alarm.allow();
    tab();
    from.attempt("host", () =>
      ask("host", {
        game: chosen.game,
        by: data.get("by"),
        limits_ms: Number(data.get("limit")) > 0 ? [Number(data.get("limit"))] : [],
        players: Number(data.get("players") || 0),
        map: data.get("map"),
        mode: data.get("mode"),
        title: data.get("title"),
        every: data.get("every"),
        name: data.get("name"),
        servers: data.get("servers"),
        places: data.get("places"),
        at: there ? String(data.get("at")).trim() : "",
        wait: Number(data.get("wait") || 0),
        vote: data.get("vote") ? data.get("vote") === "true" : null,
        open: !there && data.has("open"),
        auto: data.has("auto"),
        can_host: data.has("can-host"),
      }),
    );
  });
  main.replaceChildren(h("h1", { tabindex: -1 }, say("home.play")), h("p", { class: "lead" }, say("home.play-lead")), form);
  follow();
}

/** @param {string} value @param {string} name @param {string} hint @param {boolean} checked */
function where(value, name, hint, checked) {
  return h("label", { class: "way-of" }, h("input", { type: "radio", name: "where", value, checked }), h("span", {}, h("strong", {}, name), h("small", {}, hint)));
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = {
  "join-near": ({ room }) => {
    const code = /** @type {HTMLInputElement | null} */ (document.getElementById(`code-${room}`));
    if (code && !code.value.trim()) {
      code.focus();
      return home?.toast(say("home.wants-code"), true);
    }
    alarm.allow();
    tab();
    const form = /** @type {HTMLFormElement | null} */ (document.getElementById("join-form"));
    const data = form ? filledIn(form) : new FormData();
    return ask("join", { room, code: code?.value.trim() ?? "", name: data.get("name"), auto: data.has("auto"), can_host: data.has("can-host") });
  },
};
