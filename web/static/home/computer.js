// This computer: what works, which games were found, the settings.

import { button, h, show } from "../dom.js";
import { locale, said, say } from "../say.js";
import { ask, get, sentences } from "./api.js";
import { small } from "./forms.js";

/** @typedef {{name: string, state: "ok" | "warn", detail: string, hint?: string}} Check */

/** The names of the checks on the screen. @type {Record<string, string>} */
const names = {
  udp: say("computer.udp"),
  ipv4: say("computer.ipv4"),
  ipv6: say("computer.ipv6"),
  nat: say("computer.nat"),
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
  const here = from.games.filter((game) => game.here).sort((a, b) => a.name.localeCompare(b.name, locale));
  main.replaceChildren(
    h("h1", { tabindex: -1 }, say("home.computer")),
    h(
      "div",
      { class: "halves" },
      h(
        "div",
        { class: "column" },
        h("section", { class: "card", "aria-labelledby": "checks-title" }, h("h2", { id: "checks-title" }, say("computer.works")), h("ul", { id: "checks" }, h("li", { class: "quiet" }, say("computer.looking"))), h("p", { class: "buttons" }, button("look-again", say("computer.look-again")))),
        beacon(),
        h("section", { class: "card" }, h("h2", {}, "Muster"), h("p", { class: "quiet" }, said("computer.version", { version: from.state.version })), h("p", { class: "quiet" }, said("front.tables", { dbip: h("a", { href: "https://db-ip.com/", rel: "noreferrer", target: "_blank" }, "IP Geolocation by DB-IP") }))),
      ),
      h(
        "div",
        { class: "column" },
        h(
          "section",
          { class: "card", "aria-labelledby": "found-title" },
          h("h2", { id: "found-title" }, say("computer.found", { n: here.length })),
          here.length > 0 && h("ul", { class: "found", tabindex: 0, "aria-labelledby": "found-title" }, here.map((game) => h("li", {}, h("strong", {}, game.name), h("p", { class: "quiet" }, where(game))))),
          h("p", { class: "quiet" }, say(here.length > 0 ? "computer.one-missing" : "computer.none-found"), " ", say("computer.games-file")),
        ),
        h("section", { class: "card", id: "settings" }),
        h("section", { class: "card", id: "steam-key", "aria-labelledby": "steam-key-title" }),
      ),
    ),
  );
  changed(from.state);
  from.attempt("", look);
  again = () => settings(from.state.kept);
  from.attempt("", again);
  from.attempt("", async () => drawKey(await get("steam-key")));
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
      h("p", { class: "quiet" }, say("computer.beacon-how")),
      h("div", { class: "field" }, h("label", { for: "beacon-name" }, say("computer.beacon-name")), h("input", { id: "beacon-name", name: "beacon-name", maxlength: 48, placeholder: say("computer.our-beacon"), autocomplete: "off" })),
      h("div", { class: "field" }, h("label", { for: "beacon-port" }, say("computer.port")), h("input", { id: "beacon-port", name: "beacon-port", type: "number", min: 1, max: 65535, inputmode: "numeric", placeholder: "7787" }), h("small", {}, say("computer.port-how"))),
      h("label", { class: "check" }, h("input", { type: "checkbox", id: "beacon-map", name: "beacon-map" }), h("span", {}, said("computer.ask-router", { small }))),
      h("p", { class: "buttons" }, h("button", {}, say("computer.answer"))),
    )
  );
  form.addEventListener("submit", () => {
    const data = new FormData(form);
    home?.attempt("", () => ask("beacon", { name: String(data.get("beacon-name")).trim(), port: Number(data.get("beacon-port") || 0), port_map: data.has("beacon-map") }));
  });
  return h("section", { class: "card", id: "beacon", "aria-labelledby": "beacon-title" }, h("h2", { id: "beacon-title" }, say("computer.beacon")), h("div", { id: "beacon-now" }), form);
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

async function look() {
  /** @type {Check[]} */
  const checks = (await get("computer")).filter((/** @type {Check} */ check) => check.name !== "games"); // they have a card of their own
  const list = document.getElementById("checks");
  if (!list) return;
  const order = [...checks.filter((check) => check.state === "warn"), ...checks.filter((check) => check.state !== "warn")];
  show(
    list,
    order.map((check) =>
      h(
        "li",
        { class: `check-${check.state}`, "data-key": check.name },
        h("span", { class: "mark", role: "img", "aria-label": say(check.state === "ok" ? "computer.ok" : "computer.warn") }, check.state === "ok" ? "✓" : "!"),
        h("div", {}, h("strong", {}, names[check.name] ?? check.name), h("p", { class: "quiet" }, h("bdi", {}, check.detail)), check.hint && h("p", { class: "hint" }, said("computer.helps", { hint: check.hint }))),
      ),
    ),
  );
}

/** @param {string} kept the file */
async function settings(kept) {
  const place = document.getElementById("settings");
  if (!place) return;
  /** @type {Record<string, string>} */
  let now;
  try {
    now = await get("settings");
  } catch (error) {
    return place.replaceChildren(h("h2", {}, say("computer.settings")), h("p", { class: "hint" }, h("bdi", {}, /** @type {Error} */ (error).message)), h("p", { class: "buttons" }, button("settings-again", say("computer.look-again"))));
  }
  const asksRouter = (/** @type {string | undefined} */ kept) => {
    const box = document.getElementById("beacon-map");
    if (box instanceof HTMLInputElement) box.checked = kept === "true";
  };
  asksRouter(now.port_map);
  const line = (/** @type {string} */ key, /** @type {string} */ label, /** @type {HTMLElement} */ input, /** @type {string} */ hint) => h("div", { class: "field" }, h("label", { for: `set-${key}` }, label), input, h("small", {}, hint));
  const input = (/** @type {string} */ key, /** @type {Record<string, string | number>} */ more = {}) => h("input", { id: `set-${key}`, name: key, value: now[key] ?? "", autocomplete: "off", spellcheck: "false", ...more });
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      {},
      h("h2", {}, say("computer.settings")),
      line("name", say("home.your-name"), input("name", { maxlength: 32, placeholder: say("computer.name-none") }), say("computer.name-how")),
      line("rate", say("computer.rate"), input("rate", { type: "number", min: 1, max: 5000, placeholder: "140" }), say("computer.rate-how")),
      line("at", say("computer.at"), input("at", { placeholder: "https://muster.example" }), say("computer.at-how")),
      line(
        "lan",
        say("computer.lan"),
        h("select", { id: "set-lan", name: "lan" }, [["", say("computer.lan-auto")], ["on", say("computer.lan-on")], ["off", say("computer.lan-off")]].map(([value, name]) => h("option", { value, selected: (now.lan ?? "") === value }, name))),
        say("computer.lan-how"),
      ),
      line(
        "launch",
        say("computer.launch"),
        h("select", { id: "set-launch", name: "launch" }, [["", say("computer.launch-ask")], ["auto", say("computer.launch-auto")], ["never", say("computer.launch-never")]].map(([value, name]) => h("option", { value, selected: (now.launch ?? "") === value }, name))),
        say("computer.launch-how"),
      ),
      line(
        "port_map",
        say("computer.router"),
        h("select", { id: "set-port_map", name: "port_map" }, [["", say("computer.router-ask")], ["true", say("computer.router-on")], ["false", say("computer.router-off")]].map(([value, name]) => h("option", { value, selected: (now.port_map ?? "") === value }, name))),
        say("computer.router-how"),
      ),
      line("downloads", say("computer.downloads"), input("downloads", { placeholder: say("computer.downloads-folder") }), say("computer.downloads-how")),
      h("p", { class: "buttons" }, h("button", { class: "primary" }, say("computer.keep"))),
      h("p", { class: "quiet" }, said("computer.settings-in", { file: h("code", {}, h("bdi", {}, kept)) })),
    )
  );
  form.addEventListener("submit", () => {
    const wanted = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim()]));
    home?.attempt("", async () => {
      await ask("settings", wanted);
      asksRouter(wanted.port_map);
      home?.toast(say("computer.kept"));
    });
  });
  place.replaceChildren(form);
}

/** Shows whether there is a key to Steam's Web API. The key itself never reaches the page. @param {{kept: "" | "file" | "environment", trouble?: string}} key */
function drawKey(key) {
  const place = document.getElementById("steam-key");
  if (!place) return;
  const now = { "": say("computer.key-none"), file: say("computer.key-file"), environment: say("computer.key-environment", { variable: "MUSTER_STEAM_KEY" }) }[key.kept];
  const input = /** @type {HTMLInputElement} */ (h("input", { id: "set-steam-key", type: "password", autocomplete: "off", spellcheck: "false", required: true, placeholder: say("computer.key-form") }));
  const form = h(
    "form",
    {},
    h("div", { class: "field" }, h("label", { for: "set-steam-key" }, say(key.kept ? "computer.key-another" : "computer.key-yours")), input, h("small", {}, said("computer.key-how", { address: h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, "steamcommunity.com/dev/apikey") }))),
    h("p", { class: "buttons" }, h("button", { class: "primary" }, say(key.kept ? "computer.key-replace" : "computer.keep")), key.kept === "file" && button("forget-steam-key", say("computer.key-forget"))),
  );
  form.addEventListener("submit", () => {
    const typed = input.value;
    input.value = "";
    home?.attempt("", () => takeKey({ key: typed }, say("computer.kept")));
  });
  place.replaceChildren(
    h("h2", { id: "steam-key-title" }, say("computer.key")),
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
