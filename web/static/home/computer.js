// This computer: whether it is ready, its games, the settings, and what Muster is.

import { button, h, show } from "../dom.js";
import { locale, said, say } from "../say.js";
import { ask, get, sentences } from "./api.js";
import { art } from "./art.js";
import { small } from "./forms.js";
import { section, settings } from "./settings.js";

/** @typedef {{name: string, state: "ok" | "warn", detail: string, hint?: string}} Check */

/** The names of the checks on the screen. @type {Record<string, string>} */
const names = {
  udp: say("computer.udp"),
  ipv4: say("computer.ipv4"),
  ipv6: say("computer.ipv6"),
  nat: say("computer.nat"),
  names: say("computer.names"),
  lists: say("computer.lists"),
  cards: say("computer.cards"),
  mdns: say("computer.mdns"),
  buffer: say("computer.buffer"),
  clock: say("computer.clock"),
  files: say("computer.files"),
  geo: say("computer.geo"),
  program: say("computer.program"),
};

/** @type {import("./forms.js").Home | undefined} */
let home;

/** @param {HTMLElement} main @param {import("./forms.js").Home} from */
export function open(main, from) {
  home = from;
  main.replaceChildren(
    h("div", { class: "state-of" }, art("computer"), h("div", {}, h("h1", { tabindex: -1 }, say("home.computer")), h("p", { id: "ready", class: "lead", role: "status" }, say("computer.looking")), checks())),
    h("div", { class: "rows" }, found(from.games), h("div", { id: "settings" }), beacon(), about(from.state.version)),
  );
  changed(from.state);
  from.attempt("", look);
  again = async () => {
    await settings(from.state.kept);
    drawReach();
  };
  from.attempt("", again);
  from.attempt("", async () => drawKey(await get("steam-key")));
}

/** What was checked, folded: it is for people who look for a reason. */
function checks() {
  return h("details", { class: "own" }, h("summary", {}, say("computer.works")), h("ul", { id: "checks" }), h("p", { class: "buttons" }, button("look-again", say("computer.look-again"))));
}

/** The games here. @param {import("./types.js").Game[]} games */
function found(games) {
  const here = games.filter((game) => game.here).sort((a, b) => a.name.localeCompare(b.name, locale));
  return section(
    "found",
    say("computer.found", { n: here.length }),
    here.length > 0 && h("ul", { class: "found" }, here.map((game) => h("li", {}, h("strong", {}, game.name)))),
    h("p", { class: "quiet" }, say(here.length > 0 ? "computer.one-missing" : "computer.none-found")),
    h("details", { class: "own" }, h("summary", {}, say("computer.where-they-are")), h("dl", { class: "paths" }, here.flatMap((game) => [h("dt", {}, h("bdi", {}, game.name)), h("dd", { class: "quiet" }, where(game))])), h("p", { class: "quiet" }, say("computer.games-file"))),
    h("details", { class: "own", id: "steam-key" }, h("summary", {}, say("computer.key")), h("div", { id: "key" })),
  );
}

/** @param {string} version */
function about(version) {
  return section(
    "about",
    say("computer.about"),
    h("p", {}, said("computer.version", { version })),
    h("p", { class: "quiet" }, say("computer.updates")),
    h("p", { class: "quiet" }, said("front.tables", { dbip: h("a", { href: "https://db-ip.com/", rel: "noreferrer", target: "_blank" }, "IP Geolocation by DB-IP") })),
  );
}

/** Where a game is, and what has installed it. @param {import("./types.js").Game} game */
function where(game) {
  const path = h("code", {}, h("bdi", {}, game.where ?? ""));
  return game.by_whom ? said("list.more", { first: game.by_whom, next: path }) : path;
}

/** A form that makes this computer answer measurements, as a place for a server of the group's own. */
function beacon() {
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { id: "beacon-form" },
      h("div", { class: "pairs" }, h("div", { class: "field" }, h("label", { for: "beacon-name" }, say("computer.beacon-name")), h("input", { id: "beacon-name", name: "beacon-name", maxlength: 48, placeholder: say("computer.our-beacon"), autocomplete: "off" }))),
      h("details", { class: "own" }, h("summary", {}, say("computer.port")), h("div", { class: "field" }, h("label", { for: "beacon-port", class: "unseen" }, say("computer.port")), h("input", { id: "beacon-port", name: "beacon-port", type: "number", min: 1, max: 65535, inputmode: "numeric", placeholder: "7787" }), h("small", {}, say("computer.port-how"))), h("label", { class: "check" }, h("input", { type: "checkbox", id: "beacon-map", name: "beacon-map" }), h("span", {}, said("computer.ask-router", { small })))),
      h("p", { class: "buttons" }, h("button", {}, say("computer.answer"))),
    )
  );
  form.addEventListener("submit", () => {
    const data = new FormData(form);
    home?.attempt("", () => ask("beacon", { name: String(data.get("beacon-name")).trim(), port: Number(data.get("beacon-port") || 0), port_map: data.has("beacon-map") }));
  });
  return section("beacon", say("computer.beacon"), h("p", { class: "quiet" }, say("computer.beacon-how")), h("div", { id: "beacon-now" }), form);
}

/** Shows what this computer answers at the moment. @param {import("./types.js").State} state */
export function changed(state) {
  const place = document.getElementById("beacon-now");
  const form = document.getElementById("beacon-form");
  if (!place || !form) return;
  const { running, line, answered, lines, error } = state.beacon;
  form.hidden = running;
  show(
    place,
    ...(error ? [h("p", { class: "hint" }, h("bdi", {}, sentences(error)))] : []),
    ...(running && line ? [h("p", {}, say("computer.beacon-line")), h("p", { class: "beacon-line", "aria-label": say("computer.beacon-line-label") }, h("code", {}, h("bdi", {}, line)))] : []),
    ...(running ? lines.slice(1).slice(-2).map((text) => h("p", { class: "quiet" }, h("bdi", {}, text))) : []), // how others get here, and what the router said
    ...(running ? [h("p", { role: "status" }, line ? say("computer.answered", { n: answered }) : say("computer.opening-port")), h("p", { class: "buttons" }, button("end-beacon", say("computer.end-beacon")))] : []),
    ...(!running && line && !error ? [h("p", { class: "quiet", role: "status" }, say("computer.beacon-ended", { n: answered }))] : []),
  );
}

let again = () => Promise.resolve();

/** What was found at the last look. @type {Check[]} */
let known = [];

async function look() {
  known = (await get("computer")).filter((/** @type {Check} */ check) => check.name !== "games"); // they have a section of their own
  const list = document.getElementById("checks");
  const ready = document.getElementById("ready");
  if (!list || !ready) return;
  const warns = known.filter((check) => check.state === "warn");
  const fails = (/** @type {string} */ name) => warns.some((check) => check.name === name);
  const isReady = !fails("udp") && !(fails("ipv4") && fails("ipv6")) && !fails("lists");
  ready.closest(".state-of")?.classList.toggle("ready", isReady);
  show(ready, h("strong", {}, say(isReady ? "computer.ready" : "computer.not-ready")), warns.length > 0 && [" ", say("computer.better", { what: warns.map((check) => nameOf(check)).join(", ") })]);
  drawReach();
  show(
    list,
    [...warns, ...known.filter((check) => check.state !== "warn")].map((check) =>
      h("li", { class: `check-${check.state}`, "data-key": check.name }, mark(check), h("div", {}, h("strong", {}, nameOf(check)), h("p", { class: "quiet" }, h("bdi", {}, check.detail)), check.hint && h("p", { class: "hint" }, said("computer.helps", { hint: check.hint })))),
    ),
  );
}

/** @param {Check} check */
function nameOf(check) {
  return names[check.name] ?? check.name;
}

/** @param {Check} check */
function mark(check) {
  return h("span", { class: "mark", role: "img", "aria-label": say(check.state === "ok" ? "computer.ok" : "computer.warn") }, check.state === "ok" ? "✓" : "!");
}

/** Whether friends can get here, beside the settings that decide it. */
function drawReach() {
  const place = document.getElementById("reach");
  const reached = known.filter((check) => check.name === "nat" || check.name === "mdns");
  if (place) show(place, ...reached.map((check) => h("span", { class: `check-${check.state}` }, mark(check), nameOf(check))));
}

/** Shows whether there is a key to Steam's Web API. The key itself never reaches the page. @param {{kept: "" | "file" | "environment", trouble?: string}} key */
function drawKey(key) {
  const place = document.getElementById("key");
  if (!place) return;
  const now = { "": say("computer.key-none"), file: say("computer.key-file"), environment: say("computer.key-environment", { variable: "MUSTER_STEAM_KEY" }) }[key.kept];
  const input = /** @type {HTMLInputElement} */ (h("input", { id: "set-steam-key", type: "password", autocomplete: "off", spellcheck: "false", required: true, placeholder: say("computer.key-form") }));
  const form = h(
    "form",
    {},
    h("div", { class: "field" }, h("label", { for: "set-steam-key" }, say(key.kept ? "computer.key-another" : "computer.key-yours")), input, h("small", {}, said("computer.key-how", { address: h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, "steamcommunity.com/dev/apikey") }))),
    h("p", { class: "buttons" }, h("button", {}, say(key.kept ? "computer.key-replace" : "computer.keep")), key.kept === "file" && button("forget-steam-key", say("computer.key-forget"))),
  );
  form.addEventListener("submit", () => {
    const typed = input.value;
    input.value = "";
    home?.attempt("", () => takeKey({ key: typed }, say("computer.kept")));
  });
  place.replaceChildren(
    h("p", { class: "quiet" }, say("computer.key-what"), " ", now),
    ...(key.trouble ? [h("p", { class: "hint" }, said("computer.key-trouble", { why: key.trouble }))] : []),
    ...(key.kept === "environment" ? [] : [form]),
  );
}

/** @param {{key?: string, forget?: boolean}} wish @param {string} done */
async function takeKey(wish, done) {
  drawKey(await ask("steam-key", wish));
  home?.games.splice(0, Infinity, ...(await get("games"))); // some games may have gained or lost their list
  home?.toast(done);
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = { "look-again": look, "settings-again": () => again(), "end-beacon": () => ask("stop", "beacon"), "forget-steam-key": () => takeKey({ forget: true }, say("computer.key-forgotten")) };
