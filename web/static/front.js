// The front page of a public host: open a room, or enter one by its code.

import { byId, h, sentence, show } from "./dom.js";
import { copyable } from "./gather.js";
import { ruleOf, rules, saidOf } from "./rules.js";

/** @typedef {{id: string, name: string, by: string, listed: boolean, steam?: boolean, silent?: string}} Game */
/** @typedef {{version: string, date?: string, games: Game[], max_players: number, max_servers: number}} Service */

/** Default limit, ms: most games are still good at this ping. */
const usualLimit = 150;

/** What the host offers, or null if it opens no rooms for strangers. @returns {Promise<Service | null>} */
async function offered() {
  const reply = await fetch("/api/service", { cache: "no-store" }).catch(() => null);
  return reply?.ok ? reply.json() : null;
}

/** Shows the front page to a visitor without a code or with a wrong one. A host that opens no rooms for strangers asks for the code. */
export async function front() {
  const service = await offered();
  const main = byId("front");
  main.addEventListener("submit", submitted);
  if (!service) {
    show(main, entrance(false));
    main.hidden = false;
    return;
  }
  document.title = "Muster – the best server for all of you";
  show(main, welcome(), entrance(true), opening(service), footer(service));
  main.hidden = false;
  main.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLElement)) return;
    changed(service, event.target);
    if (event.target instanceof HTMLInputElement && event.target.type === "file") takeFile(event.target);
  });
  changed(service, byId("game"));
}

function welcome() {
  return h(
    "section",
    { id: "pitch", class: "card" },
    h("p", { class: "eyebrow" }, "Game night?"),
    h("h1", { class: "headline" }, "The server that is best for all of you"),
    h("p", { class: "next" }, "Open a room and send your friends its link. Everyone's computer measures its own pings, Muster finds the server that suits the whole group, and takes you all there."),
  );
}

/** @param {Service} service */
function opening(service) {
  const games = [...service.games].sort((a, b) => a.name.localeCompare(b.name, "en"));
  const listed = games.filter((game) => game.listed);
  const others = games.filter((game) => !game.listed);
  const options = (/** @type {Game[]} */ games) => games.map((game) => h("option", { value: game.id }, game.name));
  return h(
    "section",
    { id: "open", class: "card", "aria-labelledby": "open-title" },
    h("h2", { id: "open-title" }, "Open a room"),
    h(
      "form",
      { "data-submit": "open", class: "settings" },
      field("game", "Game", h("select", { id: "game", name: "game", required: true }, h("option", { value: "" }, "Choose a game"), options(listed), others.length > 0 && h("optgroup", { label: "With your own list of servers" }, options(others)))),
      h("fieldset", { class: "ways" }, h("legend", {}, "What counts"), rules.map(({ id }) => way(id, saidOf(id, "name"), saidOf(id, "hint")))),
      field("limit", "Nobody over", h("span", { class: "unit" }, h("input", { id: "limit", name: "limit", type: "number", min: 1, max: 1000, inputmode: "numeric", placeholder: "no limit" }), "ms")),
      field("players", "Start with", h("span", { class: "unit" }, h("input", { id: "players", name: "players", type: "number", min: 1, max: service.max_players, inputmode: "numeric", placeholder: "who is here" }), "players")),
      h(
        "details",
        { id: "own", class: "own" },
        h("summary", {}, "Your own list of servers"),
        h("div", { id: "first-list" }),
        h("label", { for: "servers", class: "quiet" }, `One address a line, as you find it, at most ${service.max_servers.toLocaleString("en")}. Only these are asked.`),
        h("textarea", { id: "servers", name: "servers", rows: 5, spellcheck: "false", autocomplete: "off", placeholder: "192.0.2.1:27960\nsteam://connect/192.0.2.2:27015\n192.0.2.3:27015 my clan's" }),
        h("label", { class: "file" }, "or from a file ", h("input", { id: "file", type: "file", accept: ".txt,.csv,text/plain,text/csv" })),
      ),
      field("agree", "Before the launch", h("select", { id: "agree", name: "agree" }, [["", "vote once two have the page open"], ["true", "vote, veto, ready check"], ["false", "straight there"]].map(([value, name]) => h("option", { value }, name)))),
      h("p", { id: "open-error", class: "trouble", role: "alert", hidden: true }),
      h("p", { class: "buttons" }, h("button", { class: "primary large" }, "Open the room")),
    ),
  );
}

/** @param {boolean} isPublic the host holds rooms for everybody */
function entrance(isPublic) {
  return h(
    "section",
    { id: "enter", class: "card", "aria-labelledby": "enter-title" },
    h(isPublic ? "h2" : "h1", { id: "enter-title", class: isPublic ? undefined : "headline" }, "Come into a room"),
    h(
      "form",
      { "data-submit": "code", class: "welcome" },
      h("label", { for: "code" }, "Its code, or the whole link"),
      h("input", { id: "code", name: "code", required: true, autocomplete: "off", autocapitalize: "characters", spellcheck: "false", placeholder: "BAKO-DITA-LUME" }),
      h("button", {}, "Come in"),
    ),
    h("p", { class: "quiet" }, isPublic ? "A link always lets you in. A code works while its group is gathering." : "Who has opened the room knows it: it stands on their screen, and at the end of its link."),
  );
}

/** @param {Service} service */
function footer(service) {
  return h(
    "section",
    { id: "about", class: "card" },
    h("h2", {}, "To play along"),
    h("p", {}, "You need the program on the computer that you play on: it measures, and starts your game. ", h("a", { href: "/get/" }, "Get Muster"), "."),
    h("p", { class: "quiet" }, "No account. A room is forgotten after its night, and nobody in it sees your address. ", h("bdi", {}, `This is Muster ${service.version}${service.date ? ` of ${service.date.slice(0, 10)}` : ""}.`)),
    h("p", { class: "quiet" }, "Where servers are, it looks up in tables by IPFire, RouteViews, NRO and ", h("a", { href: "https://db-ip.com/", rel: "noreferrer", target: "_blank" }, "IP Geolocation by DB-IP"), "."),
  );
}

/** @param {string} id @param {string} label @param {HTMLElement} input */
function field(id, label, input) {
  return h("div", { class: "field" }, h("label", { for: id }, label), input);
}

/** @param {string} id @param {string} name @param {string} hint */
function way(id, name, hint) {
  return h("label", { class: "way-of" }, h("input", { type: "radio", name: "by", value: id, checked: id === "mean" }), h("span", {}, h("strong", {}, name), h("small", {}, hint)));
}

/** Updates the form after a choice. @param {Service} service @param {Element} element */
function changed(service, element) {
  const form = element.closest("form");
  if (!form || form.dataset.submit !== "open") return;
  const game = service.games.find((g) => g.id === inputOf(form, "game").value);
  if (element.id === "game" && game) {
    for (const radio of form.querySelectorAll("[name=by]")) if (radio instanceof HTMLInputElement) radio.checked = radio.value === game.by;
  }
  const own = byId("own");
  show(byId("first-list"), game && (game.silent ? h("p", {}, game.silent) : !game.listed && firstList(game)));
  if (game && !game.listed && own instanceof HTMLDetailsElement) own.open = true;
  inputOf(form, "servers").required = game?.listed === false;
  const limit = inputOf(form, "limit");
  limit.required = ruleOf(String(new FormData(form).get("by")))?.limited ?? false;
  if (limit.required && limit.value === "" && element !== limit) limit.value = String(usualLimit);
  trouble("");
}

/** How to get servers that the host has no list of. @param {Game} game */
function firstList(game) {
  const line = `muster host --game ${game.id} --at ${location.origin}`;
  return [
    h("p", {}, game.steam ? `Steam lists ${game.name} only to who has a key, and this host has none. Your first list:` : `Nobody keeps a list of ${game.name}'s servers that everybody may ask. Your first list:`),
    h(
      "ol",
      { class: "steps" },
      h("li", {}, game.steam ? "Paste servers below: addresses or steam:// links, with their names or without." : "Paste the addresses of servers below, with their names or without."),
      h("li", {}, game.steam ? "Or open the room from your own computer, and Muster takes your favourites and history from Steam:" : "Or open the room from your own computer, where names such as play.example.org will do, too:", copyable("host-line", line, "Copy the line")),
      game.steam && h("li", {}, "For all that Steam lists, give ", h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, "a key, which costs nothing,"), " to ", h("code", {}, "muster games --steam-key"), " there first. It stays on your computer."),
    ),
  ];
}

/** @param {HTMLFormElement} form @param {string} name */
function inputOf(form, name) {
  return /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
}

/** The largest file that is read as a list of servers, bytes. */
const longestFile = 1 << 20;

/** @param {HTMLInputElement} input */
async function takeFile(input) {
  const file = input.files?.[0];
  if (!file) return;
  if (file.size > longestFile) return trouble("That file is too long for a list of servers.");
  inputOf(/** @type {HTMLFormElement} */ (input.form), "servers").value = await file.text();
}

/** @param {SubmitEvent} event */
function submitted(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  event.preventDefault();
  if (form.dataset.submit === "code") return comeIn(inputOf(form, "code").value.trim());
  open(form).catch(() => trouble("The host does not answer. Try again in a moment."));
}

/** Goes to the room of a typed or pasted text. @param {string} typed */
function comeIn(typed) {
  const [where, key] = typed.split("#", 2);
  if (/^https?:\/\//.test(where) && key) location.href = typed;
  else location.hash = (key ?? typed).replaceAll(/[\s-]/g, "");
}

/** The room's settings from the form. @param {HTMLFormElement} form */
function wanted(form) {
  const said = new FormData(form);
  const number = (/** @type {string} */ name) => Number(said.get(name) || 0);
  /** @type {Record<string, unknown>} */
  const room = { game: said.get("game"), by: said.get("by"), players: number("players"), agree: said.get("agree") ? said.get("agree") === "true" : null };
  if (number("limit") > 0) room.max_rtt_ms = [number("limit")];
  const servers = String(said.get("servers")).split(/\r?\n/);
  if (servers.some((line) => line.trim() !== "")) room.servers = servers;
  return room;
}

/** @param {HTMLFormElement} form */
async function open(form) {
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button.primary"));
  button.disabled = true;
  trouble("");
  try {
    const reply = await fetch("/api/rooms", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wanted(form)) });
    const room = await reply.json();
    if (reply.ok) location.href = room.organiser_link;
    else trouble(sentence(room.message) + (room.hint ? " " + sentence(room.hint) : ""));
  } finally {
    button.disabled = false;
  }
}

/** @param {string} text */
function trouble(text) {
  const place = byId("open-error");
  place.textContent = text;
  place.hidden = text === "";
  if (text) place.scrollIntoView({ block: "nearest" });
}
