// Join a room, or open one.

import { button, count, h, show } from "../dom.js";
import { ruleOf, rules, saidOf } from "../rules.js";
import { alarm } from "./alarm.js";
import { art } from "./art.js";
import { ask } from "./api.js";
import { noList, picker } from "./games.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {{state: State, games: Game[], say: (text: string, bad?: boolean) => void, attempt: (what: string, act: () => unknown) => unknown}} Home */

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
    field("player-name", "Your name", h("input", { id: "player-name", name: "name", value: remembered("name") || s.name, maxlength: 32, required: true, autocomplete: "nickname" })),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "auto", checked: (remembered("auto") || (s.launch === "auto" ? "yes" : "")) === "yes" }), "Start my game by itself when the server is chosen, all evening"),
    mayHost(),
  ];
}

/** Whether this computer may host, as last chosen. A change is saved at once, because a new drawing would lose it. */
export function mayHost() {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", name: "can-host", checked: remembered("can-host") === "yes" }));
  box.addEventListener("change", () => remember("can-host", box.checked ? "yes" : "no"));
  return h("label", { class: "check" }, box, h("span", {}, "My computer may host ", h("small", { class: "quiet" }, "games without servers: once all say so, your programs measure each other’s computers, and are told the addresses for that")));
}

/** @param {string} id @param {string} label @param {HTMLElement} input @param {string} [hint] */
function field(id, label, input, hint) {
  return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("small", {}, hint));
}

/** @param {HTMLFormElement} form */
function said(form) {
  const data = new FormData(form);
  remember("name", String(data.get("name") ?? ""));
  remember("auto", data.has("auto") ? "yes" : "no");
  remember("can-host", data.has("can-host") ? "yes" : "no");
  return data;
}

/** Opens a tab for the room that we enter next, while the click still allows that. */
export function tab() {
  open(`/room?after=${state?.room.id ?? 0}`, "muster-room");
}

/** @param {HTMLElement} main @param {Home} from */
export function join(main, from) {
  home = from;
  state = from.state;
  const form = h(
    "form",
    { id: "join-form", class: "card" },
    field("link", "The link or code that you were sent", h("input", { id: "link", name: "link", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "http://192.0.2.1:7777/#TABOMI…" })),
    player(from.state),
    h("p", { class: "buttons" }, h("button", { class: "primary" }, "Join")),
  );
  form.addEventListener("submit", () => {
    const data = said(/** @type {HTMLFormElement} */ (form));
    alarm.allow();
    tab();
    from.attempt("join", () => ask("join", { link: String(data.get("link")).trim(), name: data.get("name"), auto: data.has("auto"), can_host: data.has("can-host") }));
  });
  main.replaceChildren(
    h("h1", { tabindex: -1 }, "Join your friends"),
    h("p", { class: "lead" }, "This computer measures the servers from where you sit, and takes you to the one that is best for all of you."),
    h("div", { class: "halves" }, form, h("section", { class: "card", "aria-labelledby": "near" }, h("h2", { id: "near" }, "On your network"), h("ul", { id: "rooms" }))),
  );
  drawRooms();
}

/** A list of the rooms on the network, if there are any. @param {Home} from */
export function near(from) {
  home = from;
  state = from.state;
  return h("section", { class: "card", id: "rooms-first", "aria-labelledby": "near", hidden: true }, h("h2", { id: "near" }, "Somebody near you has opened a room"), h("ul", { id: "rooms" }));
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
        h("p", {}, h("strong", {}, h("bdi", { dir: "auto" }, room.name || "(no name)")), " ", h("span", { class: "quiet" }, [home?.games.find((g) => g.id === room.game)?.name ?? room.game, room.organiser && `by ${room.organiser}`, room.seats ? `${room.players} of ${room.seats} players` : count(room.players, "player")].filter(Boolean).join(" · "))),
        h("p", { class: "buttons" }, !room.open && h("input", { id: `code-${room.id}`, placeholder: "its code", "aria-label": `The code of ${room.name}`, autocomplete: "off", spellcheck: "false" }), button("join-near", "Join", { class: "primary", "data-room": room.id, "aria-label": `Join ${room.name || "it"}` })),
      ),
    ),
    rooms.length === 0 && h("li", { class: "quiet none", "data-key": "none" }, art("join"), "No room is announced here just now. Muster keeps listening."),
  );
}

/** @param {HTMLElement} main @param {Home} from */
export function play(main, from) {
  home = from;
  state = from.state;
  const game = () => from.games.find((g) => g.id === chosen.game);
  const own = h("textarea", { id: "room-servers", name: "servers", rows: 4, spellcheck: "false", placeholder: "192.0.2.1:27960\n[2001:db8::1]:27960" });
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "own" }, h("summary", {}, "Only servers of our own"), h("label", { for: "room-servers", class: "quiet" }, "One address or link a line. Only these are asked."), own));
  const limit = /** @type {HTMLInputElement} */ (h("input", { id: "limit", name: "limit", type: "number", min: 1, max: 1000, inputmode: "numeric", placeholder: "no limit" }));
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
        h("fieldset", { class: "ways" }, h("legend", {}, "What counts"), rules.map(({ id }) => h("label", { class: "way-of" }, h("input", { type: "radio", name: "by", value: id, checked: id === (game()?.by || "mean") }), h("span", {}, h("strong", {}, saidOf(id, "name")), h("small", {}, saidOf(id, "hint")))))),
        field("limit", "Nobody over", h("span", { class: "unit" }, limit, "ms")),
        field("players", "Start with", h("span", { class: "unit" }, h("input", { id: "players", name: "players", type: "number", min: 1, max: 64, inputmode: "numeric", placeholder: "who is here" }), "players")),
        field("vote", "Before the launch", h("select", { id: "vote", name: "vote" }, [["", "vote once two have the page open"], ["true", "vote, veto, ready check"], ["false", "straight there"]].map(([value, name]) => h("option", { value }, name)))),
        field("wait", "Where all are full", h("select", { id: "wait", name: "wait" }, [["", "ask me"], ["30", "wait for seats, half an hour"], ["60", "wait for seats, an hour"]].map(([value, name]) => h("option", { value }, name)))),
        h("details", { class: "own" }, h("summary", {}, "More settings: map, mode, name, and a room that stays"), field("map", "Map", h("input", { id: "map", name: "map", placeholder: "any" })), field("mode", "Mode", h("input", { id: "mode", name: "mode", placeholder: "any" })), field("title", "Room's name", h("input", { id: "title", name: "title", placeholder: "its code", maxlength: 64 })), field("every", "Keep the room; we meet", h("input", { id: "every", name: "every", placeholder: "fri 20:00", maxlength: 100 }))),
        h("details", { class: "own" }, h("summary", {}, "Places for a server of our own"), h("label", { for: "places", class: "quiet" }, "A line each: name, address. muster beacon answers there, or say tcp behind it. Where no server suits, the room says whether one there would."), h("textarea", { id: "places", name: "places", rows: 3, spellcheck: "false", placeholder: "Frankfurt, 192.0.2.1\nLondon, 192.0.2.8:443, tcp" })),
      ),
      h(
        "section",
        { class: "card" },
        h(
          "fieldset",
          { class: "ways" },
          h("legend", {}, "Where the room is"),
          where("here", "On this computer", "friends on your network come in at once; on the internet your router has to let them", !from.state.at),
          where("there", "On a public host", "everyone connects outwards; the room stays when you close Muster", !!from.state.at),
        ),
        h("div", { id: "at-field" }, field("at", "The host's address", h("input", { id: "at", name: "at", value: from.state.at ?? "", placeholder: "https://muster.example", autocomplete: "off", spellcheck: "false" }))),
        h("label", { class: "check", id: "open-field" }, h("input", { type: "checkbox", name: "open" }), "Everybody on the network may come in without the code"),
        player(from.state),
        h("p", { class: "buttons" }, h("button", { class: "primary" }, "Open the room")),
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
    const data = said(form);
    const there = data.get("where") === "there";
    if (!chosen.game) return from.say("Choose a game first.", true);
    if (there && !String(data.get("at")).trim()) return from.say("Say which public host, or have the room on this computer.", true);
    if (game()?.listed === false && !String(data.get("servers")).trim()) return from.say(noList(game()), true);
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
  main.replaceChildren(h("h1", { tabindex: -1 }, "Play together"), h("p", { class: "lead" }, "Open a room and send its link. Everyone’s computer measures, and Muster finds the server that suits you all."), form);
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
      return home?.say("This room wants its code: ask who opened it.", true);
    }
    alarm.allow();
    tab();
    const form = /** @type {HTMLFormElement | null} */ (document.getElementById("join-form"));
    const data = form ? said(form) : new FormData();
    return ask("join", { room, code: code?.value.trim() ?? "", name: data.get("name"), auto: data.has("auto"), can_host: data.has("can-host") });
  },
};
