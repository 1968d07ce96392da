// This computer: what works, which games were found, the settings.

import { button, count, h, show } from "../dom.js";
import { ask, get } from "./api.js";

/** @typedef {{name: string, state: "ok" | "warn", detail: string, hint?: string}} Check */

/** The names of the checks on the screen. @type {Record<string, string>} */
const names = {
  udp: "Asking servers",
  ipv4: "Internet (IPv4)",
  ipv6: "Internet (IPv6)",
  nat: "Friends reaching you",
  cards: "Network cards",
  mdns: "Rooms on your network",
  buffer: "Room for answers",
  clock: "Exact pings",
  files: "Open connections",
  geo: "Where servers are",
  program: "This Muster",
};

/** @type {{games: import("./types.js").Game[], say: (text: string, bad?: boolean) => void, attempt: (what: string, act: () => unknown) => unknown} | undefined} */
let home;

/** @param {HTMLElement} main @param {{state: import("./types.js").State, games: import("./types.js").Game[], say: (text: string, bad?: boolean) => void, attempt: (what: string, act: () => unknown) => unknown}} from */
export function open(main, from) {
  home = from;
  const here = from.games.filter((game) => game.here).sort((a, b) => a.name.localeCompare(b.name, "en"));
  main.replaceChildren(
    h("h1", { tabindex: -1 }, "This computer"),
    h(
      "div",
      { class: "halves" },
      h(
        "div",
        { class: "column" },
        h("section", { class: "card", "aria-labelledby": "checks-title" }, h("h2", { id: "checks-title" }, "What works here"), h("ul", { id: "checks" }, h("li", { class: "quiet" }, "Looking …")), h("p", { class: "buttons" }, button("look-again", "Look again"))),
        beacon(),
        h("section", { class: "card" }, h("h2", {}, "Muster"), h("p", { class: "quiet" }, h("bdi", {}, `This is Muster ${from.state.version}. It sends nothing about you anywhere; it ends when you press Quit, or when no page of it has been open for two minutes.`)), h("p", { class: "quiet" }, "Where servers are, it looks up in tables by IPFire, RouteViews, NRO and ", h("a", { href: "https://db-ip.com/", rel: "noreferrer", target: "_blank" }, "IP Geolocation by DB-IP"), ".")),
      ),
      h(
        "div",
        { class: "column" },
        h(
          "section",
          { class: "card", "aria-labelledby": "found-title" },
          h("h2", { id: "found-title" }, here.length > 0 ? `${count(here.length, "game")} found here` : "No game found here"),
          here.length > 0 && h("ul", { class: "found", tabindex: 0, "aria-labelledby": "found-title" }, here.map((game) => h("li", {}, h("strong", {}, game.name), h("p", { class: "quiet" }, game.by_whom && `${game.by_whom}, `, h("code", {}, h("bdi", {}, game.where ?? "")))))),
          h("p", { class: "quiet" }, here.length > 0 ? "One is missing? Muster finds its servers all the same, and shows the address to type. " : "Muster finds servers all the same, and shows the address to type. ", "Where its program is, games.toml beside config.toml can say."),
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

/** A form that makes this computer answer measurements, as a place for a server of the group's own. */
function beacon() {
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { id: "beacon-form" },
      h("p", { class: "quiet" }, "For a place where your group could have a server of its own: friends put one line into their room’s list of places, and hear what their ping here would be. It says the name below, and nothing else."),
      h("div", { class: "field" }, h("label", { for: "beacon-name" }, "Call it"), h("input", { id: "beacon-name", name: "beacon-name", maxlength: 48, placeholder: "Our beacon", autocomplete: "off" })),
      h("div", { class: "field" }, h("label", { for: "beacon-port" }, "UDP port"), h("input", { id: "beacon-port", name: "beacon-port", type: "number", min: 1, max: 65535, inputmode: "numeric", placeholder: "7787" }), h("small", {}, "for friends elsewhere your router has to pass it on to this computer")),
      h("label", { class: "check" }, h("input", { type: "checkbox", id: "beacon-map", name: "beacon-map" }), h("span", {}, "Ask my router to pass it on ", h("small", { class: "quiet" }, "while this computer answers; it starts as “Your router” on this page has it"))),
      h("p", { class: "buttons" }, h("button", {}, "Answer measurements here")),
    )
  );
  form.addEventListener("submit", () => {
    const data = new FormData(form);
    home?.attempt("", () => ask("beacon", { name: String(data.get("beacon-name")).trim(), port: Number(data.get("beacon-port") || 0), port_map: data.has("beacon-map") }));
  });
  return h("section", { class: "card", id: "beacon", "aria-labelledby": "beacon-title" }, h("h2", { id: "beacon-title" }, "A place to measure"), h("div", { id: "beacon-now" }), form);
}

/** Shows what this computer answers at the moment. @param {import("./types.js").State} state */
export function changed(state) {
  const place = document.getElementById("beacon-now");
  const form = document.getElementById("beacon-form");
  if (!place || !form) return;
  const { running, line, answered, lines, error } = state.beacon;
  form.hidden = running;
  const answers = `${count(answered, "question")} answered`;
  show(
    place,
    ...(error ? [h("p", { class: "hint" }, h("bdi", {}, error.map((text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".")).join(" ")))] : []),
    ...(running && line ? [h("p", {}, "Friends put this into their list of places:"), h("p", { class: "beacon-line", "aria-label": "The line for a list of places" }, h("code", {}, h("bdi", {}, line)))] : []),
    ...(running ? lines.slice(1).slice(-2).map((text) => h("p", { class: "quiet" }, h("bdi", {}, text))) : []), // how others get here, and what the router said
    ...(running ? [h("p", { role: "status" }, line ? answers : "Opening the port …"), h("p", { class: "buttons" }, button("end-beacon", "End it"))] : []),
    ...(!running && line && !error ? [h("p", { class: "quiet", role: "status" }, `It has ended: ${answers}.`)] : []),
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
        h("span", { class: "mark", role: "img", "aria-label": check.state === "ok" ? "works" : "could be better" }, check.state === "ok" ? "✓" : "!"),
        h("div", {}, h("strong", {}, names[check.name] ?? check.name), h("p", { class: "quiet" }, h("bdi", {}, check.detail)), check.hint && h("p", { class: "hint" }, h("bdi", {}, `What helps: ${check.hint}`))),
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
    return place.replaceChildren(h("h2", {}, "What Muster takes for granted"), h("p", { class: "hint" }, h("bdi", {}, `${/** @type {Error} */ (error).message}.`)), h("p", { class: "buttons" }, button("settings-again", "Look again")));
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
      h("h2", {}, "What Muster takes for granted"),
      line("name", "Your name", input("name", { maxlength: 32, placeholder: "as this computer calls you" }), "in rooms"),
      line("rate", "Servers a second", input("rate", { type: "number", min: 1, max: 5000, placeholder: "140" }), "asked at most; fewer if your router stumbles"),
      line("at", "Public host", input("at", { placeholder: "https://muster.example" }), "for rooms that stay when you close Muster"),
      line(
        "lan",
        "Local network",
        h("select", { id: "set-lan", name: "lan" }, [["", "look around"], ["on", "always look around"], ["off", "never"]].map(([value, name]) => h("option", { value, selected: (now.lan ?? "") === value }, name))),
        "for rooms and servers; from Muster's next start",
      ),
      line(
        "launch",
        "When the server is chosen",
        h("select", { id: "set-launch", name: "launch" }, [["", "ask me, then start my game"], ["auto", "start my game by itself"], ["never", "show me the address: I start it"]].map(([value, name]) => h("option", { value, selected: (now.launch ?? "") === value }, name))),
        "what “Play together” and “Join” say of one evening comes first",
      ),
      line(
        "port_map",
        "Your router",
        h("select", { id: "set-port_map", name: "port_map" }, [["", "ask me, once"], ["true", "may let friends in"], ["false", "is left alone"]].map(([value, name]) => h("option", { value, selected: (now.port_map ?? "") === value }, name))),
        "whether Muster asks it to let friends from the internet into a room on this computer, and measure this computer if you say that it may host",
      ),
      line("downloads", "Programs for friends", input("downloads", { placeholder: "a folder" }), "Muster for other systems than yours, as a release has it: your rooms give it to friends, also without internet"),
      h("p", { class: "buttons" }, h("button", { class: "primary" }, "Keep")),
      h("p", { class: "quiet" }, "They stand in ", h("code", {}, h("bdi", {}, kept)), "."),
    )
  );
  form.addEventListener("submit", () => {
    const said = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim()]));
    home?.attempt("", async () => {
      await ask("settings", said);
      asksRouter(said.port_map);
      home?.say("Kept.");
    });
  });
  place.replaceChildren(form);
}

/** Shows whether there is a key to Steam's Web API. The key itself never reaches the page. @param {{kept: "" | "file" | "environment", trouble?: string}} key */
function drawKey(key) {
  const place = document.getElementById("steam-key");
  if (!place) return;
  const now = { "": "None is kept.", file: "One is kept on this computer, for you alone.", environment: "MUSTER_STEAM_KEY of the environment gives one." }[key.kept];
  const input = /** @type {HTMLInputElement} */ (h("input", { id: "set-steam-key", type: "password", autocomplete: "off", spellcheck: "false", required: true, placeholder: "32 digits from 0 to F" }));
  const form = h(
    "form",
    {},
    h("div", { class: "field" }, h("label", { for: "set-steam-key" }, key.kept ? "Another key" : "Your key"), input, h("small", {}, "free at ", h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, "steamcommunity.com/dev/apikey"), "; it goes to Steam alone")),
    h("p", { class: "buttons" }, h("button", { class: "primary" }, key.kept ? "Replace" : "Keep"), key.kept === "file" && button("forget-steam-key", "Forget it")),
  );
  form.addEventListener("submit", () => {
    const said = input.value;
    input.value = "";
    home?.attempt("", () => takeKey({ key: said }, "Kept."));
  });
  place.replaceChildren(
    h("h2", { id: "steam-key-title" }, "Key to Steam's lists"),
    h("p", { class: "quiet" }, `With it, Muster gets all servers that Steam lists. ${now}`),
    ...(key.trouble ? [h("p", { class: "hint" }, h("bdi", {}, `It cannot be used: ${key.trouble}`))] : []),
    ...(key.kept === "environment" ? [] : [form]),
  );
}

/** @param {{key?: string, forget?: boolean}} wish @param {string} done */
async function takeKey(wish, done) {
  drawKey(await ask("steam-key", wish));
  home?.games.splice(0, Infinity, ...(await get("games"))); // some games may have gained or lost their list
  home?.say(done);
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = { "look-again": look, "settings-again": () => again(), "end-beacon": () => ask("stop", "beacon"), "forget-steam-key": () => takeKey({ forget: true }, "Forgotten.") };
