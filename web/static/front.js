// The front page of a public host: open a room, or enter one by its code.

import { byId, h, show, svg } from "./dom.js";
import { gameField } from "./gamefield.js";
import { settingsIn } from "./form.js";
import { copyable } from "./gather.js";
import { chooseRule, describe, fewGames, fit, lastTime, more, ofOpening, rememberOpening, settingFields } from "./opening.js";
import { capital, locale, said, say, tell, told } from "./say.js";
import { together } from "./together.js";

/** @typedef {{id: string, name: string, aliases?: string[], by: string, listed: boolean, steam?: boolean, silence?: import("./types.js").Sentence}} Game */
/** @typedef {{version: string, date?: string, games: Game[], max_players: number, max_servers: number, places?: number}} Service */

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
  document.title = say("front.page-title");
  show(main, welcome(), opening(service), (service.places ?? 0) > 0 && placeDoor(service), together([..."ABCDE"]), entrance(true), footer(service));
  main.hidden = false;
  main.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLElement)) return;
    changed(service, event.target);
    if (event.target instanceof HTMLInputElement && event.target.type === "file") takeFile(event.target);
  });
  changed(service, byId(lastTime().set ? "more" : "game"));
}

function welcome() {
  return h("section", { id: "pitch" }, h("h1", { class: "headline" }, say("front.title")), h("p", { class: "next" }, say("front.pitch")));
}

/** One field with the gold button; the rest is folded under one line that says what is set. @param {Service} service */
function opening(service) {
  const games = [...service.games].sort((a, b) => a.name.localeCompare(b.name, locale));
  const last = lastTime();
  const known = (last.games ?? []).flatMap((id) => games.filter((game) => game.id === id));
  const chosen = /** @type {HTMLInputElement} */ (h("input", { type: "hidden", name: "chosen", value: known[0]?.id ?? "" }));
  const choice = gameField("game", games, known[0], (game) => (game.listed ? "" : say(game.steam ? "pick-game.bring-list-steam" : "pick-game.bring-list")), (game) => {
    chosen.value = game?.id ?? "";
    changed(service, choice.input);
  });
  const form = h(
    "form",
    { "data-submit": "open", class: "settings" },
    chosen,
    h("div", { class: "one-field" }, choice.field, h("button", { class: "primary large" }, say("front.open-room"))),
    fewGames(say("front.last-time"), known.slice(1)),
    h("p", { id: "open-error", class: "trouble", role: "alert", hidden: true }),
    more(settingFields(last, "mean", ofOpening(), ownList(service))),
  );
  form.addEventListener("click", (event) => {
    const chip = event.target instanceof Element ? event.target.closest(".last-games [data-game]") : null;
    if (chip instanceof HTMLElement) choice.take(games.find((game) => game.id === chip.dataset.game));
  });
  return h("section", { id: "open", "aria-labelledby": "open-title" }, h("h2", { id: "open-title", class: "unseen" }, say("front.open")), form);
}

/** The second door, for a group without a server: it asks for the game, or none. @param {Service} service */
function placeDoor(service) {
  const chosen = h("input", { type: "hidden", name: "chosen", value: "" });
  const games = [...service.games].sort((a, b) => a.name.localeCompare(b.name, locale));
  const choice = gameField("place-game", games, undefined, () => "", (game) => chosen.setAttribute("value", game?.id ?? ""));
  choice.input.placeholder = say("front.any-game");
  return h(
    "details",
    { id: "where", class: "card" },
    h("summary", {}, ring(), h("strong", {}, say("front.where")), h("span", {}, h("b", {}, say("front.where-see")), " ", say("front.where-how"))),
    h(
      "form",
      { "data-submit": "where", class: "settings" },
      chosen,
      h("div", { class: "one-field" }, choice.field, h("button", { class: "primary large" }, say("front.open-room"))),
      h("p", { class: "trouble", role: "alert", hidden: true }),
    ),
  );
}

/** Four friends, the places between them, and a ring round the one that suits all. */
function ring() {
  const place = (/** @type {number[]} */ [cx, cy]) => svg("circle", { class: "spot-of", cx, cy, r: 4 });
  const [x, y] = [84, 62];
  const friends = [[22, 40, "p1"], [66, 16, "p0"], [126, 22, "p3"], [140, 78, "p2"]];
  return svg(
    "svg",
    { class: "ring-art", viewBox: "0 0 160 110", "aria-hidden": "true" },
    [[12, 86], [48, 98], [112, 100], [150, 44]].map(place),
    friends.map(([fx, fy, colour]) => svg("path", { class: `ray ${colour}`, d: `M${fx} ${fy} ${x} ${y}` })),
    friends.map(([cx, cy, colour]) => svg("circle", { class: `end ${colour}`, cx, cy, r: 10 })),
    svg("circle", { class: "dashes", cx: x, cy: y, r: 21 }),
    svg("circle", { class: "hollow", cx: x, cy: y, r: 8 }),
  );
}

/** The organiser's own list of servers. @param {Service} service */
function ownList(service) {
  return h(
    "details",
    { id: "own", class: "own" },
    h("summary", {}, say("front.own-list")),
    h("div", { id: "first-list" }),
    h("label", { for: "servers", class: "quiet" }, say("front.own-list-how", { most: service.max_servers })),
    h("textarea", { id: "servers", name: "servers", rows: 5, spellcheck: "false", autocomplete: "off", placeholder: say("front.own-list-example") }),
    h("label", { class: "file" }, said("front.from-file", { file: h("input", { id: "file", type: "file", accept: ".txt,.csv,text/plain,text/csv" }) })),
  );
}

const codeExample = "BAKO-DITA-LUME";

/** @param {boolean} isPublic the host holds rooms for everybody */
function entrance(isPublic) {
  return h(
    "section",
    { id: "enter", class: "card", "aria-labelledby": "enter-title" },
    h(isPublic ? "h2" : "h1", { id: "enter-title", class: isPublic ? undefined : "headline" }, say("front.come-in")),
    h(
      "form",
      { "data-submit": "code", class: "welcome" },
      h("label", { for: "code" }, say("front.code")),
      h("input", { id: "code", name: "code", required: true, autocomplete: "off", autocapitalize: "characters", spellcheck: "false", placeholder: codeExample }),
      h("button", {}, say("lobby.come-in")),
    ),
    h("p", { class: "quiet" }, say(isPublic ? "front.link-or-code" : "front.who-knows")),
  );
}

/** @param {Service} service */
function footer(service) {
  return h(
    "section",
    { id: "about", class: "card" },
    h("h2", {}, say("front.play-along")),
    h("p", {}, said("front.get", { get: (...held) => h("a", { href: "/get/" }, ...held) })),
    h("p", { class: "quiet" }, said(service.date ? "front.no-account-dated" : "front.no-account", { version: service.version, date: service.date?.slice(0, 10) ?? "" })),
    h("p", { class: "quiet" }, said("front.tables", { dbip: h("a", { href: "https://db-ip.com/", rel: "noreferrer", target: "_blank" }, "IP Geolocation by DB-IP") })),
  );
}

/** Updates the form after a choice. @param {Service} service @param {Element} element */
function changed(service, element) {
  const form = element.closest("form");
  if (!form || form.dataset.submit !== "open") return;
  const game = service.games.find((g) => g.id === inputOf(form, "chosen").value);
  if (element.id === "game" && game) chooseRule(form, game.by);
  const own = byId("own");
  show(byId("first-list"), game && (game.silence ? h("p", {}, tell(game.silence)) : !game.listed && firstList(game)));
  if (game && !game.listed && own instanceof HTMLDetailsElement) own.open = true;
  inputOf(form, "servers").required = game?.listed === false;
  fit(form, element);
  if (game && !game.listed) /** @type {HTMLDetailsElement} */ (byId("more")).open = true;
  describe(form);
  trouble("");
}

/** How to get servers that the host has no list of. @param {Game} game */
function firstList(game) {
  const line = `muster host --game ${game.id} --at ${location.origin}`;
  return [
    h("p", {}, said(game.steam ? "front.steam-list" : "front.no-list", { game: game.name })),
    h(
      "ol",
      { class: "steps" },
      h("li", {}, say(game.steam ? "front.paste-steam" : "front.paste")),
      h("li", {}, say(game.steam ? "front.from-computer-steam" : "front.from-computer"), copyable("host-line", line, say("share.copy-line"))),
      game.steam && h("li", {}, said("front.steam-key", { key: (...held) => h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, ...held), command: h("code", {}, "muster games --steam-key") })),
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
  if (file.size > longestFile) return trouble(say("front.file-too-long"));
  inputOf(/** @type {HTMLFormElement} */ (input.form), "servers").value = await file.text();
}

/** @param {SubmitEvent} event */
function submitted(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  event.preventDefault();
  if (form.dataset.submit === "code") return comeIn(inputOf(form, "code").value.trim());
  open(form).catch(() => trouble(say("front.no-answer"), form));
}

/** Goes to the room of a typed or pasted text. @param {string} typed */
function comeIn(typed) {
  const [where, key] = typed.split("#", 2);
  if (/^https?:\/\//.test(where) && key) location.href = typed;
  else location.hash = (key ?? typed).replaceAll(/[\s-]/g, "");
}

/** The room that the form asks for. @param {HTMLFormElement} form */
function wanted(form) {
  /** @type {Record<string, unknown>} */
  const room = { game: inputOf(form, "chosen").value, ...settingsIn(form) };
  if (form.dataset.submit === "where") {
    if (!room.game) delete room.game;
    return { ...room, seeks: "place" };
  }
  const servers = inputOf(form, "servers").value.split(/\r?\n/);
  if (servers.some((line) => line.trim() !== "")) room.servers = servers;
  return room;
}

/** @param {HTMLFormElement} form */
async function open(form) {
  const isPlace = form.dataset.submit === "where";
  const typed = isPlace ? /** @type {HTMLInputElement} */ (byId("place-game")).value.trim() : "";
  if (!inputOf(form, "chosen").value && typed) return trouble(say("pick-game.no-such-game"), form);
  if (!inputOf(form, "chosen").value && !isPlace) {
    trouble(capital(say("pick-game.no-game")));
    return byId("game").focus();
  }
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button.primary"));
  button.disabled = true;
  trouble("", form);
  try {
    const reply = await fetch("/api/rooms", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wanted(form)) });
    const room = await reply.json();
    if (reply.ok) {
      if (inputOf(form, "chosen").value) rememberOpening(inputOf(form, "chosen").value, form);
      location.href = room.organiser_link;
    }
    else trouble([told(room.says) || room.message, told(room.advises) || room.hint].filter(Boolean).map(capital).join(" "), form);
  } finally {
    button.disabled = false;
  }
}

/** @param {string} text @param {HTMLFormElement} [form] */
function trouble(text, form) {
  const place = /** @type {HTMLElement} */ (form?.querySelector(".trouble") ?? byId("open-error"));
  place.textContent = text;
  place.hidden = text === "";
  if (text) place.scrollIntoView({ block: "nearest" });
}
