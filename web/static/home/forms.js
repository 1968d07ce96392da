// How a person joins a room, and what the forms of Home share.

import { button, dotted, foreign, h, show } from "../dom.js";
import { language, said, say, suited, tell } from "../say.js";
import { alarm } from "./alarm.js";
import { art } from "./art.js";
import { ask } from "./api.js";
import { press } from "../sure.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {{state: State, games: Game[], toast: (text: string, bad?: boolean) => void, attempt: (what: string, act: () => unknown) => unknown}} Home */

/** @type {State | undefined} */
let state;
/** @type {Home | undefined} */
let home;

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
export function player(s) {
  return [
    field("player-name", say("home.your-name"), h("input", { id: "player-name", name: "player", value: remembered("name") || s.name, maxlength: 32, required: true, autocomplete: "nickname" })),
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
export function field(id, label, input, hint) {
  return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("small", {}, hint));
}

/** What was pasted last. Another room needs the same. */
const pasted = { regions: "" };

/** A folded field for what a game prints about its regions, if it measures them itself. @param {string} id @param {Game | undefined} game */
export function regions(id, game) {
  if (!game?.dump) return false;
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { id, name: "regions", rows: 4, spellcheck: "false", autocomplete: "off", placeholder: "fra: 24ms, status 1" }));
  text.defaultValue = pasted.regions;
  return h("details", { class: "own regions", "data-key": "regions" }, h("summary", {}, say("home.regions")), h("label", { for: id, class: "quiet" }, regionsHow(game)), text);
}

/** How players get it. @param {Game} game */
export const regionsHow = (game) => say("home.regions-how", { game: game.name, command: game.dump ?? "" });

/**
 * What this computer adds to a room. The browser keeps it for the next one. Without a choice of who
 * starts the game, the settings of this computer say it.
 * @param {HTMLFormElement} form
 */
export function self(form) {
  const data = new FormData(form);
  const isYes = (/** @type {string} */ name) => {
    if (form.elements.namedItem(name)) remember(name, data.has(name) ? "yes" : "no");
    return data.has(name);
  };
  const name = String(data.get("player") ?? "").trim();
  remember("name", name);
  pasted.regions = String(data.get("regions") ?? "");
  return { name, auto: form.elements.namedItem("auto") ? isYes("auto") : undefined, can_host: isYes("can-host"), regions: pasted.regions };
}

/**
 * Whether a room that this computer hosts may close for another one. The first press says that it
 * would, and the second is a yes.
 * @param {Pick<Home, "toast">} from
 */
export function mayClose({ toast }) {
  const isSure = !(state?.room.running && state.room.what === "host") || press("close-first", () => {});
  if (!isSure) toast(`${say("invited.closes")} ${say("home.press-again")}`);
  return isSure;
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
    regions("join-regions", from.games.find((game) => game.dump)),
    h("p", { class: "buttons" }, h("button", { class: "primary" }, say("home.join-now"))),
  );
  form.addEventListener("submit", () => {
    if (!mayClose(from)) return;
    const mine = self(/** @type {HTMLFormElement} */ (form));
    alarm.allow();
    tab();
    from.attempt("join", () => ask("join", { link: /** @type {HTMLInputElement} */ (document.getElementById("link")).value, ...mine }));
  });
  main.replaceChildren(
    h("h1", { tabindex: -1 }, say("home.join-title")),
    h("p", { class: "lead" }, say("home.join-lead")),
    h("div", { class: "halves" }, form, h("section", { class: "card", "aria-labelledby": "near" }, h("h2", { id: "near" }, say("home.near")), h("ul", { id: "rooms" }))),
  );
  drawRooms();
}

/** Join, in one field, on the first page. @param {Home} from */
export function quick(from) {
  const input = /** @type {HTMLInputElement} */ (h("input", { id: "quick-link", name: "link", "aria-label": say("home.link"), required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "TABOMI" }));
  const form = h("form", { class: "door quick", id: "quick-join" }, h("a", { href: "#join" }, h("strong", {}, say("home.join"))), h("p", {}, input, h("button", {}, say("lobby.come-in"))));
  form.addEventListener("submit", () => {
    if (!mayClose(from)) return;
    alarm.allow();
    tab();
    from.attempt("join", () => ask("join", { link: input.value, auto: false, name: remembered("name") || from.state.name }));
  });
  return form;
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
        room.via && h("p", { class: "quiet" }, ...tell(room.via)),
        room.unknown && h("p", { class: "quiet" }, ...said("found.unknown", { room: room.name || say("home.nameless") })),
        h("p", { class: "buttons" }, !room.open && h("input", { id: `code-${room.id}`, "data-keep": true, placeholder: say("home.its-code"), "aria-label": say("home.code-of", { room: room.name }), autocomplete: "off", spellcheck: "false" }), button("join-near", say("home.join-now"), { class: "primary", "data-room": room.id, "aria-label": room.name ? say("home.join-room", { room: room.name }) : say("home.join-it") })),
      ),
    ),
    rooms.length === 0 && h("li", { class: "quiet none", "data-key": "none" }, art("join"), say("home.no-room")),
  );
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = {
  "join-near": ({ room }) => {
    const code = /** @type {HTMLInputElement | null} */ (document.getElementById(`code-${room}`));
    if (code && !code.value.trim()) {
      code.focus();
      return home?.toast(say("home.wants-code"), true);
    }
    if (home && !mayClose(home)) return;
    alarm.allow();
    tab();
    const form = /** @type {HTMLFormElement | null} */ (document.getElementById("join-form"));
    return ask("join", { near: room, code: code?.value ?? "", ...(form ? self(form) : { auto: false }) });
  },
};
