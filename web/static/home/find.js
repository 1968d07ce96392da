// Find a server: the game, the table that fills, the selected server.

import { button, dotted, foreign, h, show } from "../dom.js";
import { millis, number, said, say, told } from "../say.js";
import { alarm } from "./alarm.js";
import { ask, sentences } from "./api.js";
import { noList, picker } from "./games.js";
import { Grid } from "./grid.js";
import { Table, free, noFilter, people } from "./table.js";
import { clearTimer, setTimer } from "../time.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Game} Game */

export const table = new Table();

/** What the page shows. */
const look = {
  game: "",
  find: 0,
  /** @type {Row | undefined} */
  row: undefined,
  /** @type {{addr: string, text?: string, players?: {name: string, score: number, ping_ms?: number}[]}} */
  roster: { addr: "" },
  servers: "",
};

/** @type {Grid<Row> | undefined} */
let grid;
/** @type {State | undefined} */
let state;
/** @type {Game[]} */
let games = [];
let toast = (/** @type {string} */ _text, _bad = false) => {};
/** @type {(what: string, act: () => unknown) => unknown} */
let go = (_what, act) => act();

/** The columns, with what sorts by each. */
const titles = [
  ["ping", say("find.ping"), say("find.sort-ping")],
  ["players", say("find.players"), say("find.sort-players")],
  ["name", say("find.name"), say("find.sort-name")],
  ["map", say("find.map"), say("find.sort-map")],
  ["mode", say("find.mode"), say("find.sort-mode")],
  ["country", say("find.country"), say("find.sort-country")],
];

/** Adds what the program found. @param {number} find @param {Row[]} rows */
export function found(find, rows) {
  if (find !== look.find) return;
  table.add(rows);
  if (look.row) look.row = table.rows.get(look.row.addr) ?? look.row;
  grid?.show(table.shown);
}

/** @param {State} next */
export function changed(next) {
  state = next;
  if (next.find.id !== look.find) {
    look.find = next.find.id;
    look.row = undefined;
    table.clear();
    grid?.show([]);
  }
  if (next.find.game && next.find.running) look.game = next.find.game;
  const before = table.favourites.size + table.hidden.size;
  table.favourites = addrs(next.servers.favourites);
  table.hidden = addrs(next.servers.hidden);
  if (before !== table.favourites.size + table.hidden.size) arrange();
  if (grid) draw();
}

/** @param {import("./types.js").Kept[] | null} list */
function addrs(list) {
  return new Set((list ?? []).filter((server) => server.game === look.game).map((server) => server.addr));
}

function arrange() {
  table.arrange();
  grid?.show(table.shown);
  if (grid) draw();
}

/**
 * Draws the page.
 * @param {HTMLElement} main @param {{state: State, games: Game[], toast: typeof toast, attempt: typeof go}} home
 */
export function open(main, home) {
  ({ state, games, toast } = home);
  go = home.attempt;
  if (!look.game && state.find.game) look.game = state.find.game;
  if (!look.game) return choose(main);
  const server = /** @type {HTMLElement} */ (h("aside", { id: "server", class: "card", "aria-label": say("find.server"), tabindex: -1, hidden: true }));
  const list = h("div", { id: "list", role: "grid", tabindex: 0, "aria-label": say("table.servers"), "aria-multiselectable": "false" });
  main.replaceChildren(
    h("div", { class: "title" }, h("div", {}, h("h1", { tabindex: -1 }, gameName()), h("p", { id: "find-state", class: "quiet" })), h("p", { id: "find-tools", class: "buttons" })),
    filters(),
    h("div", { class: "browser" }, h("div", { class: "table" }, h("div", { id: "heads", class: "heads", role: "group", "aria-label": say("find.sort-by") }), list, h("p", { id: "empty", class: "quiet", hidden: true })), server),
    inAndOut(),
  );
  grid = new Grid(list, { key: (row) => row.addr, row: newRow, fill, choose: chooseRow });
  grid.chosen = look.row?.addr ?? "";
  list.addEventListener("keydown", keys);
  list.addEventListener("dblclick", () => look.row && connect(look.row));
  addrs(null);
  table.favourites = addrs(state.servers.favourites);
  table.hidden = addrs(state.servers.hidden);
  arrange();
}

/** Import and export of favourites. */
function inAndOut() {
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { id: "list-text", rows: 4, spellcheck: "false", placeholder: `192.0.2.1:27960 ${say("favourites.our-server")}` }));
  const file = /** @type {HTMLInputElement} */ (h("input", { id: "list-file", type: "file" }));
  file.addEventListener("change", async () => {
    const [chosen] = file.files ?? [];
    if (chosen) text.value = await chosen.text();
  });
  const option = (/** @type {string} */ value, /** @type {string} */ label) => h("option", { value }, label);
  return h(
    "details",
    { class: "own card", id: "in-and-out" },
    h("summary", {}, say("favourites.title")),
    h("p", {}, h("label", { for: "list-text" }, say("favourites.list"))),
    text,
    h("p", {}, h("label", { for: "list-file" }, say("favourites.file")), " ", file),
    h("p", { class: "buttons" }, button("import", say("favourites.add"), {}), button("import", say("favourites.hide"), { "data-hidden": "yes" })),
    h("p", { class: "buttons" }, h("label", { for: "list-format" }, say("favourites.write")), h("select", { id: "list-format" }, option("text", say("favourites.as-text")), option("qstat", say("favourites.as-qstat")), option("steam", say("favourites.as-steam")), option("muster", say("favourites.as-muster"))), button("export", say("favourites.save"), {}), button("export", say("favourites.save-hidden"), { "data-hidden": "yes" })),
  );
}

/** @param {string} id */
const valueOf = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id)).value;

/** Leaves the page. */
export function close() {
  grid = undefined;
}

function gameName(id = look.game) {
  return games.find((game) => game.id === id)?.name ?? id;
}

/** @param {HTMLElement} main */
function choose(main) {
  grid = undefined;
  const own = /** @type {HTMLTextAreaElement} */ (h("textarea", { id: "own-servers", rows: 4, spellcheck: "false", placeholder: "192.0.2.1:27960\n[2001:db8::1]:27960" }));
  own.value = look.servers;
  main.replaceChildren(
    h("h1", { tabindex: -1 }, say("home.find")),
    h("p", { class: "lead" }, say("find.lead")),
    h(
      "section",
      { class: "card" },
      picker("find-game", games, "", (game) => {
        look.servers = own.value;
        if (game.silent) toast(told(game.silent), true);
        if (!game.listed && own.value.trim() === "") {
          const details = own.closest("details");
          if (details) details.open = true;
          own.focus();
          return toast(noList(game), true);
        }
        go("find", () => find(game.id, false));
      }),
      h("details", { class: "own" }, h("summary", {}, say("find.own-servers")), h("label", { for: "own-servers", class: "quiet" }, say("home.own-servers-how")), own),
    ),
  );
}

/** @param {string} game @param {boolean} all */
async function find(game, all) {
  await ask("find", { game, all, servers: look.servers });
  look.game = game;
  table.filter = { ...noFilter };
  if (location.hash !== "#find") location.hash = "#find";
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function filters() {
  const f = table.filter;
  const text = (/** @type {"text" | "map" | "mode"} */ name, /** @type {string} */ label, /** @type {string} */ hint) =>
    h("label", { class: "filter" }, h("span", {}, label), h("input", { type: "search", name, value: f[name], placeholder: hint, autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": name === "text" ? "/" : undefined }));
  const check = (/** @type {"people" | "seats" | "open" | "favourites" | "hidden"} */ name, /** @type {string} */ label) => h("label", { class: "chip" }, h("input", { type: "checkbox", name, checked: f[name] }), h("span", {}, label));
  const form = h(
    "form",
    { id: "filters", "aria-label": say("find.show-only") },
    text("text", say("find.name-or-address"), say("find.press-slash")),
    text("map", say("find.map"), say("find.any")),
    text("mode", say("find.mode"), say("find.any")),
    h("label", { class: "filter short" }, h("span", {}, say("find.country")), h("select", { name: "country" }, h("option", { value: "" }, say("find.anywhere")))),
    h("label", { class: "filter short" }, h("span", {}, say("find.most-ping")), h("input", { type: "number", name: "most", min: 1, max: 1000, value: f.most || "", placeholder: say("find.any"), inputmode: "numeric" })),
    h("label", { class: "filter short" }, h("span", {}, say("find.least-players")), h("input", { type: "number", name: "least", min: 1, max: 1000, value: f.least || "", placeholder: say("find.any"), inputmode: "numeric" })),
    h("div", { class: "chips" }, check("people", say("find.people")), check("seats", say("find.free-seat")), check("open", say("find.no-password")), check("favourites", say("find.favourites")), check("hidden", say("find.hidden-too"))),
  );
  form.addEventListener("input", () => {
    const data = new FormData(/** @type {HTMLFormElement} */ (form));
    for (const name of /** @type {const} */ (["text", "map", "mode", "country"])) table.filter[name] = String(data.get(name) ?? "").trim();
    for (const name of /** @type {const} */ (["people", "seats", "open", "favourites", "hidden"])) table.filter[name] = data.has(name);
    table.filter.most = Number(data.get("most") || 0);
    table.filter.least = Number(data.get("least") || 0);
    table.filter.text = table.filter.text.toLowerCase();
    arrange();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") document.getElementById("list")?.focus();
  });
  return form;
}

/** An empty row of the list. */
function newRow() {
  const cells = ["ping", "players", "name", "map", "mode", "country"].map((name) => h("span", { class: `c-${name}`, role: "gridcell" }));
  cells[2].append(h("bdi", {}), h("small", { class: "under" }));
  const row = h("div", { role: "row" }, cells);
  return row;
}

/** @param {HTMLElement} row @param {Row} server */
function fill(row, server) {
  const [ping, players, name, map, mode, country] = /** @type {HTMLElement[]} */ ([...row.children]);
  const star = table.favourites.has(server.addr) ? "★ " : "";
  text(ping, server.rtt_ms === undefined ? "–" : millis(server.rtt_ms));
  text(players, seats(server));
  text(/** @type {HTMLElement} */ (name.firstChild), `${star}${server.name || server.addr}`);
  text(/** @type {HTMLElement} */ (name.lastChild), [server.map, server.mode, server.country].filter(Boolean).join(" · "));
  text(map, server.map);
  text(mode, server.mode);
  text(country, server.country);
  row.classList.toggle("busy", people(server) > 0);
  row.classList.toggle("full", server.max_players > 0 && free(server) === 0);
  row.classList.toggle("locked", server.password);
  row.classList.toggle("hid", table.hidden.has(server.addr));
}

/** @param {HTMLElement} element @param {string} wanted */
function text(element, wanted) {
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** @param {Row} server */
function seats(server) {
  if (server.max_players === 0 && server.players === 0) return "–";
  return server.max_players > 0 ? `${people(server)}/${server.max_players}` : String(people(server));
}

function draw() {
  if (!state) return;
  const { find } = state;
  const mine = find.game === look.game;
  const asked = mine && find.asked > 0 && say("find.answered", { n: find.answered, asked: find.asked, listed: find.listed });
  const shown = table.shown.length < table.rows.size && say("find.shown", { n: table.shown.length });
  const place = document.getElementById("find-state");
  if (place) text(place, mine && find.error ? "" : mine && find.running && !asked ? say("find.looking") : [asked, shown].filter(Boolean).join(" · "));
  const tools = document.getElementById("find-tools");
  if (tools) {
    show(
      tools,
      find.running && mine ? button("find-stop", say("find.stop")) : button("find-again", say("find.again")),
      !(find.running && mine) && find.asked < find.listed && button("find-all", say("find.all")),
      button("find-other", say("find.other")),
    );
  }
  const heads = document.getElementById("heads");
  if (heads) {
    show(
      heads,
      titles.map(([by, title, sorts]) => {
        const is = table.order.by === by;
        return button("sort", is ? `${title} ${table.order.down ? "↓" : "↑"}` : title, { "data-by": by, "data-key": by, class: `c-${by}`, "aria-pressed": String(is), "aria-label": sorts });
      }),
    );
  }
  const empty = document.getElementById("empty");
  if (empty) {
    const trouble = mine && find.error ? sentences(find.error) : "";
    const nothing = table.rows.size > 0 ? say("find.none-passes") : find.running ? "" : trouble || say("find.none-answered");
    text(empty, table.shown.length === 0 ? nothing : trouble);
    empty.hidden = empty.textContent === "";
  }
  const country = document.querySelector("#filters [name=country]");
  if (country instanceof HTMLSelectElement && document.activeElement !== country) {
    const options = table.values("country", 100);
    if (options.length + 1 !== country.options.length || table.filter.country !== country.value) {
      country.replaceChildren(h("option", { value: "" }, say("find.anywhere")), ...options.map(([name, n]) => h("option", { value: name, selected: name === table.filter.country }, say("find.country-count", { country: name, n }))));
    }
  }
  drawServer();
}

/** The address for typing into the game. @param {Row} row */
function connectTo(row) {
  return row.game_port ? row.addr.replace(/\d+$/, String(row.game_port)) : row.addr;
}

/** Draws the selected server. */
function drawServer() {
  const place = document.getElementById("server");
  if (!place || !state) return;
  const row = look.row;
  place.hidden = !row;
  place.closest(".browser")?.classList.toggle("two", !!row);
  if (!row) return;
  const favourite = table.favourites.has(row.addr);
  const hidden = table.hidden.has(row.addr);
  const isFull = row.max_players > 0 && free(row) === 0;
  const watches = state.watch.running && state.watch.what === row.addr;
  show(
    place,
    h("button", { type: "button", class: "shut", "data-action": "shut", "aria-label": say("dialog.close") }, "✕"),
    h("h2", {}, h("bdi", { dir: "auto" }, row.name || row.addr)),
    h("p", { class: "quiet" }, dotted(foreign(row.map), foreign(row.mode), row.country && said("find.in", { country: row.country }))),
    h("p", { class: "big" }, said("find.big-ping", { ms: h("strong", {}, row.rtt_ms === undefined ? "–" : number(Math.round(row.rtt_ms))) })),
    h("p", {}, facts(row)),
    h(
      "p",
      { class: "buttons" },
      button("connect", say(state.go.running && state.go.what === row.addr ? "find.connecting" : "find.connect"), { class: isFull ? "" : "primary", "aria-keyshortcuts": "Enter" }),
      isFull && !watches && button("watch", say("find.watch"), { class: "primary" }),
      isFull && !watches && button("watch", say("find.watch-go"), { "data-goes": "yes", "aria-label": say("find.watch-go-label") }),
      watches && button("unwatch", say("find.unwatch")),
    ),
    h(
      "p",
      { class: "buttons" },
      button("favourite", say(favourite ? "find.favourite" : "find.no-favourite"), { "aria-pressed": String(favourite), "aria-keyshortcuts": "f" }),
      button("hide", say(hidden ? "find.unhide" : "find.hide"), { "aria-pressed": String(hidden) }),
      button("copy-addr", say("find.copy")),
    ),
    h("p", { class: "quiet" }, h("code", {}, connectTo(row))),
    roster(),
  );
}

/** Its seats, its bots, its password. @param {Row} row */
function facts(row) {
  const all = [row.max_players > 0 ? say("find.seats", { n: free(row), most: row.max_players }) : say("find.seats-unknown")];
  if (row.bots > 0) all.push(say("find.bots", { n: row.bots }));
  if (row.password) all.push(say("server.password"));
  return all.reduce((first, next) => say("list.more", { first, next }));
}

/** Who plays there. */
function roster() {
  const tells = games.find((game) => game.id === look.game)?.tells;
  const { players, text: why } = look.roster;
  if (!tells) return h("p", { class: "quiet" }, say("find.who-untold-game"));
  if (!players) return h("p", { class: "quiet" }, why ?? say("find.who-asking"));
  const there = look.row?.players ?? 0;
  if (players.length === 0) return h("p", { class: "quiet" }, say(there > 0 ? "find.who-untold" : "find.who-nobody"));
  // Some games tell only names.
  const scores = players.some((player) => player.score !== 0);
  const pings = players.some((player) => player.ping_ms);
  return h(
    "table",
    { class: "roster" },
    h("caption", {}, players.length < there ? say("find.players-of", { n: players.length, there }) : say("people.players", { n: players.length })),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("find.who")), scores && h("th", { scope: "col" }, say("find.score")), pings && h("th", { scope: "col" }, say("find.ping")))),
    h("tbody", {}, players.map((player, i) => h("tr", { "data-key": i }, h("td", {}, h("bdi", { dir: "auto" }, player.name || say("home.nameless"))), scores && h("td", {}, player.score), pings && h("td", {}, player.ping_ms ? millis(player.ping_ms) : "–")))),
  );
}

/** @param {Row} row */
function chooseRow(row) {
  if (look.row?.addr === row.addr && look.roster.addr === row.addr) return drawServer();
  look.row = row;
  look.roster = { addr: row.addr };
  drawServer();
  clearTimer(asking);
  if (games.find((game) => game.id === look.game)?.tells) asking = setTimer(() => who(row.addr), settle);
}

let asking = 0;
/** In ms: a person who moves through the list with the arrow keys asks only the row where they stop. */
const settle = 300;

/** @param {string} addr */
async function who(addr) {
  try {
    const players = await ask("players", { game: look.game, addr });
    if (look.roster.addr === addr) look.roster.players = players;
  } catch (error) {
    if (look.roster.addr === addr) look.roster.text = /** @type {Error} */ (error).message;
  }
  drawServer();
}

/** @param {Row} row */
function connect(row) {
  alarm.allowSound(); // the person stays here until the game asks: no second question from the browser
  return go("connect", () => ask("connect", { game: look.game, addr: row.addr, name: row.name }));
}

/** @param {"favourite" | "hidden"} kind @param {Row} row */
function keep(kind, row) {
  const is = !(kind === "favourite" ? table.favourites : table.hidden).has(row.addr);
  return go("keep", () => ask("keep", { kind, is, game: look.game, addr: row.addr, name: row.name }));
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = {
  sort: ({ by }) => {
    table.sort(by ?? "ping");
    grid?.show(table.shown);
    draw();
  },
  "find-game": ({ game }) => {
    look.servers = "";
    return find(game ?? "", false);
  },
  "find-stop": () => ask("stop", "find"),
  "find-again": () => find(look.game, false),
  "find-all": () => find(look.game, true),
  "find-other": () => {
    look.game = "";
    look.row = undefined;
    close();
    dispatchEvent(new HashChangeEvent("hashchange"));
  },
  connect: () => look.row && connect(look.row),
  favourite: () => look.row && keep("favourite", look.row),
  hide: () => look.row && keep("hidden", look.row),
  watch: async ({ goes }) => {
    if (!look.row) return;
    await alarm.allow();
    await ask("watch", { game: look.game, addr: look.row.addr, name: look.row.name, goes: goes === "yes" });
  },
  unwatch: () => ask("stop", "watch"),
  "copy-addr": async () => {
    await navigator.clipboard.writeText(look.row ? connectTo(look.row) : "");
    toast(say("page.copied"));
  },
  import: ({ hidden }) => go("import", async () => toast(await ask("import", { game: look.game, text: valueOf("list-text"), hidden: hidden === "yes" }))),
  export: ({ hidden }) =>
    go("export", async () => {
      const format = valueOf("list-format");
      const written = await ask("export", { game: look.game, format, hidden: hidden === "yes" });
      const link = /** @type {HTMLAnchorElement} */ (h("a", { href: URL.createObjectURL(new Blob([written], { type: "text/plain" })), download: format === "steam" ? "serverbrowser_hist.vdf" : `${look.game}-${hidden === "yes" ? "hidden" : "favourites"}.${format === "muster" ? "json" : "txt"}` }));
      link.click();
      URL.revokeObjectURL(link.href);
    }),
  shut: () => {
    look.row = undefined;
    drawServer();
    document.getElementById("list")?.focus();
  },
};

/** Keys in the list. @param {KeyboardEvent} event */
function keys(event) {
  if (!grid || event.ctrlKey || event.metaKey || event.altKey) return;
  /** @type {Record<string, () => unknown>} */
  const does = {
    ArrowDown: () => grid?.move(1),
    ArrowUp: () => grid?.move(-1),
    PageDown: () => grid?.move(grid.page()),
    PageUp: () => grid?.move(-grid.page()),
    Home: () => grid?.move(-grid.items.length),
    End: () => grid?.move(grid.items.length),
    Enter: () => look.row && connect(look.row),
    f: () => look.row && keep("favourite", look.row),
    Escape: () => actions.shut({}),
  };
  const act = does[event.key];
  if (!act || (event.key === "Escape" && !look.row)) return;
  event.preventDefault();
  act();
}

/** A key that works everywhere on this page. @param {KeyboardEvent} event */
export function anywhere(event) {
  const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
  if (event.key !== "/" || typing || !grid) return;
  event.preventDefault();
  /** @type {HTMLElement | null} */ (document.querySelector("#filters [name=text]"))?.focus();
}
