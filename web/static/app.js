// The page of one room: takes the newest state, draws it in one animation
// frame, and passes on what people do.

import { ask, claim, credential, enter, forget, leave, linkKey, onOtherTab, qrCode, renew, roomCode } from "./api.js";
import { reasons, showLimit, targetOf, whatIf, wishOf } from "./choice.js";
import { colourOf, css } from "./colours.js";
import { culled, openCulled } from "./culled.js";
import { byId, show } from "./dom.js";
import { front } from "./front.js";
import { download, offered, openInMuster } from "./get.js";
import { invitation, mine, settings, settingsOf, welcome } from "./gather.js";
import { Live } from "./live.js";
import { clock, evening, log } from "./notes.js";
import { people } from "./people.js";
import { Picture, canPlot } from "./picture.js";
import { ranking } from "./ranking.js";
import { Spread } from "./spread.js";
import { hero, sentence, way } from "./stage.js";

/** @typedef {import("./types.js").State} State */

const live = new Live(roomCode, linkKey, credential, schedule);

/** What is only on this page. */
const view = {
  /** @type {import("./ranking.js").Order} */
  order: { by: "rank", down: false },
  pending: false,
  /** @type {Picture | null} */
  picture: null,
  /** @type {Spread | null} */
  spread: null,
  drawn: "",
  spreadDrawn: "",
  firstState: 0,
  longest: 0,
  qr: "",
  /** What the host gives to who has no Muster, and what of it is on its way. @type {import("./get.js").Offer | null} */
  offer: null,
  /** @type {import("./get.js").Getting | null} */
  getting: null,
  /** What came of opening the room in Muster. @type {import("./get.js").Opening} */
  opening: "",
  /** Whether the host has a front page, for who finds no room. @type {"unknown" | "asked" | "shown"} */
  front: "unknown",
};

/** Draws in the next frame, once for all that comes before it. */
function schedule() {
  if (document.hidden) drawTitle(); // no frames come, but the tab is seen
  if (view.pending) return;
  view.pending = true;
  requestAnimationFrame(() => {
    view.pending = false;
    const began = performance.now();
    draw();
    view.longest = Math.max(view.longest, performance.now() - began);
  });
}

function draw() {
  drawConnection();
  if (!live.state?.room) return;
  view.firstState ||= performance.now();
  const state = live.state;
  dropDeadToken(state);
  document.body.dataset.stage = state.room.stage;
  drawTitle();
  byId("room-name").textContent = state.room.name || "Game night";
  byId("room-code").textContent = state.room.code;
  byId("main").hidden = false;
  for (const [id, children] of sections(state)) fill(id, children);
  if (document.activeElement instanceof HTMLInputElement && document.activeElement.id === "whatif-limit") showLimit(document.activeElement);
  drawPicture(state);
  drawSpread(state);
}

/** What is new comes first: a tab has room for a few words. */
function drawTitle() {
  const room = live.state?.room;
  if (live.state && room) document.title = `${sentence(live.state)} – ${room.name || room.code} – Muster`;
}

/** What stands where. @returns {[string, any][]} */
function sections(/** @type {State} */ state) {
  const chosen = state.choice !== null;
  const gathering = state.room.stage === "gathering";
  return [
    ["steps", way(state)],
    ["status", [sentence(state)]],
    ["hero", hero(live)],
    ["welcome", state.you.name ? [] : [welcome(state)]],
    ["people", people(live)],
    ["me", state.you.name ? mine(state, credential()) : []],
    ["invite", gathering ? invitation(state, view.qr, view.offer, view.getting, view.opening) : []],
    ["invitation", gathering ? [] : invitation(state, view.qr, view.offer, view.getting, view.opening)],
    ["settings", gathering || state.you.organiser || !chosen ? settings(state) : []],
    ["reasons", state.choice && state.room.stage !== "failed" ? reasons(state.choice) : []],
    ["whatif", whatIf(state)],
    ["ranking", ranking(state, view.order)],
    ["culled", culled(state)],
    ["evening", evening(state)],
    ["log", log(state)],
    ["steer", steer(state)],
  ];
}

/** @param {string} id @param {any[]} children */
function fill(id, children) {
  const place = byId(id);
  place.hidden = children.length === 0;
  show(place, children);
}

/** The organiser's switch for newcomers. @param {State} state */
function steer(state) {
  if (!state.you.organiser) return state.room.locked ? ["The room is locked."] : [];
  const lock = document.createElement("button");
  lock.type = "button";
  lock.dataset.action = "lock";
  lock.setAttribute("aria-pressed", String(state.room.locked));
  lock.textContent = state.room.locked ? "Locked: nobody new comes in" : "Lock the room";
  const fresh = document.createElement("button");
  fresh.type = "button";
  fresh.dataset.action = "renew";
  fresh.textContent = "New organiser's link";
  return [lock, fresh];
}

/** A nickname that the room does not know is none: it was removed, or is long ago. Nor is half a secret one. */
function dropDeadToken(/** @type {State} */ state) {
  if (state.you.name || state.you.organiser || credential() === "" || live.answered !== credential()) return;
  const lost = forget();
  say(lost === "token" ? "You are not in this room any more. Choose a nickname to come back." : "The personal part of this link is cut off, or an old one: you can take part, but as a guest.", true);
  if (credential() !== "") live.connect();
}

function drawConnection() {
  const { state } = live;
  const connection = live.shownAs();
  if (!roomCode && view.front === "shown") return; // there is nothing to be connected to
  if (connection === "gone" && !state && view.front === "unknown") {
    view.front = "asked";
    attempt(async () => {
      if (await front()) view.front = "shown";
      schedule();
    });
  }
  document.body.classList.toggle("stale", connection !== "live");
  const banner = byId("banner");
  const text = bannerText(connection, state);
  banner.hidden = text === "";
  if (banner.textContent !== text) banner.textContent = text; // or it would be read out again
}

/** @param {import("./live.js").Connection} connection @param {State | null} state */
function bannerText(connection, state) {
  if (connection === "live") return "";
  if (!roomCode) return "This link has no room code in it. Ask the organiser for the whole link.";
  if (connection === "gone" && view.front === "shown") return live.why;
  if (connection === "gone") return `There is no room ${roomCode} here, or it is over. Ask the organiser for a new link.`;
  if (connection === "limited") return "Many wrong codes were tried from here: trying again in 5 s. The room's whole link, or its QR code, lets you in at once.";
  if (connection === "connecting") return live.why || "Looking for the room …";
  const from = state ? ` What you see is from ${clock(new Date(state.heard).toISOString())}.` : "";
  return `The connection to the host is lost; trying again by itself.${from}`;
}

/** @param {State} state */
function drawPicture(state) {
  const players = state.people.filter((person) => person.peer);
  const any = players.some((person) => live.clouds.of(person.name).length > 0);
  byId("picture").hidden = !any;
  const version = `${live.clouds.edition} ${players.length} ${state.room.limits_ms} ${look()}`;
  if (!any || view.drawn === version || !canPlot()) return;
  view.drawn = version;
  view.picture ??= new Picture(byId("picture-plot"));
  const painted = players.map((person) => ({ colour: css(colourOf(state.people, person.name)), cloud: live.clouds.of(person.name) }));
  view.picture.draw(painted, state.room.limits_ms.at(-1) ?? 0, state.room.strategy !== "conventional");
  fill("picture-key", key(state, players.map((person) => person.name)));
}

/** @param {State} state */
function drawSpread(state) {
  const { choice } = state;
  const players = choice?.selection.players ?? [];
  const some = players.some((player) => live.clouds.of(player).length > 0);
  byId("spread").hidden = !choice || !some;
  if (!choice || !some) return;
  const target = targetOf(choice);
  const version = `${live.clouds.edition} ${target?.addr} ${look()}`;
  if (view.spreadDrawn === version || !canPlot()) return;
  view.spreadDrawn = version;
  view.spread ??= new Spread(byId("spread-plot"));
  view.spread.draw(players.map((player) => ({ name: player, colour: css(colourOf(state.people, player)), rtts: live.clouds.of(player).sorted(), chosen: target?.rtt_ms[player] })));
  fill("spread-key", key(state, players));
}

/** What canvases are drawn for: colours and resolution. */
function look() {
  return `${css("card")} ${devicePixelRatio}`;
}

/** Which colour is whose. @param {State} state @param {string[]} names */
function key(state, names) {
  return names.map((name) => {
    const item = document.createElement("li");
    item.className = colourOf(state.people, name);
    const dot = document.createElement("span");
    dot.className = "dot";
    const text = document.createElement("bdi");
    text.textContent = name;
    item.append(dot, text);
    return item;
  });
}

/** @type {Record<string, (data: DOMStringMap, element: HTMLElement) => unknown>} */
const actions = {
  skip: () => byId("hero").focus(),
  go: ({ stage }) => ask("go", { stage }),
  apply: () => ask("apply"),
  "forget-whatif": () => ask("whatif"),
  lock: () => ask("lock", { locked: !live.state?.room.locked }),
  handon: ({ name }) => ask("handon", { name }),
  renew: () => confirm("Make the organiser's link a new one? The old one, and whoever came by it, will steer no more.") && renewed(),
  leave: () => confirm("Leave the room? Your place is free then.") && left(),
  remove: ({ name }) => confirm(`Remove ${name} from the room?`) && ask("remove", { name }),
  trust: ({ name }) => ask("trust", { name }),
  vote: ({ addr }) => ask("vote", { addr }),
  veto: ({ addr, map }) => confirm(`Veto ${map ?? "this server"}? You have one veto a round.`) && ask("veto", map ? { map } : { addr }),
  ready: ({ ready }) => ask("ready", { ready: ready === "true" }),
  arrived: () => ask("arrived"),
  sort: ({ by }) => sortBy(by ?? "rank"),
  open: () => open(),
  get: ({ system, name }) => get(system ?? "", name ?? ""),
  signature: ({ file }) => signature(file ?? ""),
  culled: ({ cause }) => openCulled(/** @type {HTMLDialogElement} */ (byId("dialog")), cause ?? ""),
  copy: ({ copy, copyText }, element) => copyText_(copyText ?? byId(copy ?? "").textContent ?? "", element),
};

async function renewed() {
  await renew();
  live.connect();
  say("The organiser's link is new: you find it under “You”, and where muster host runs.");
}

/** @param {string} version */
async function has(version) {
  await ask("has", { version });
  say(version ? `Noted: you have ${version}.` : "Noted: nobody knows which version you have.");
}

async function left() {
  await leave(live.state?.you.organiser);
  live.connect();
}

/** Tries whether Muster is here already. */
async function open() {
  if (!live.state || view.opening === "tried") return view.opening;
  view.opening = "tried";
  schedule();
  view.opening = (await openInMuster(live.state.you.join)) ? "opened" : "nothing";
  schedule();
  return view.opening;
}

/** How often the page looks how much of a program has come to the host, ms. */
const fetchedEvery = 1000;

/** Gets Muster for a system. @param {string} system @param {string} name */
async function get(system, name) {
  if (!live.state || view.opening === "tried" || (view.getting && !view.getting.file)) return; // one at a time
  if (system === view.offer?.system && view.opening === "" && (await open()) !== "nothing") return; // who has it already needs no other
  /** @type {import("./get.js").Getting} */
  const getting = (view.getting = { name, bytes: 0, file: "" });
  const look = async () => {
    view.offer = (await offered()) ?? view.offer;
    return view.offer?.programs.find((program) => program.system === system);
  };
  const isAway = view.offer?.programs.some((program) => program.system === system && program.away);
  if (isAway) getting.fetched = await look();
  const watching = isAway ? setInterval(async () => getting.bytes === 0 && (getting.fetched = await look()), fetchedEvery) : 0;
  try {
    getting.file = await download(system, live.state.you.link, (bytes) => {
      getting.bytes = bytes;
      schedule();
    });
    if (isAway) await look();
  } catch (error) {
    view.getting = null;
    if (!isAway || !(await look())?.trouble) throw error; // or it stands on the page
  } finally {
    clearInterval(watching);
    schedule();
  }
}

/** Gets a program's signature, under the name that the program has. @param {string} file */
async function signature(file) {
  if (!live.state) return;
  await download(file, live.state.you.link, () => {});
  say("The signature is among your downloads. Keep it beside the program; muster verify FILE reads it.");
}

/** @param {string} by */
function sortBy(by) {
  view.order = { by, down: view.order.by === by && !view.order.down };
  schedule();
}

/** Copies, also where browsers have no clipboard: on plain http. @param {string} text @param {HTMLElement} element */
async function copyText_(text, element) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyOld(text, element)) return say("This browser does not let the page copy: mark the text, and copy it yourself.", true);
  }
  say("Copied.");
}

/** The way without a clipboard. Tells whether it went. @param {string} text @param {HTMLElement} element */
function copyOld(text, element) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const went = document.execCommand("copy");
  area.remove();
  element.focus();
  return went;
}

/** A word to the person in front of the page. @param {string} text */
function say(text, bad = false) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.classList.toggle("bad", bad);
  clearTimeout(Number(toast.dataset.timer));
  toast.dataset.timer = String(setTimeout(() => (toast.textContent = ""), bad ? 8000 : 2000));
}

/** Does something and says so if it cannot be done. @param {() => unknown} act */
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    const text = /** @type {Error} */ (error).message;
    say(text.charAt(0).toUpperCase() + text.slice(1) + ".", true);
  }
}

document.addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (!(element instanceof HTMLElement)) return;
  if (element.dataset.action === "go" && event.detail > 1) return; // the second of two clicks is not for what came in its place
  attempt(() => actions[element.dataset.action ?? ""]?.(element.dataset, element));
});

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.method === "dialog" || form.closest("#front")) return;
  event.preventDefault();
  const name = String(new FormData(form).get("name"));
  if (form.dataset.submit === "rename") attempt(() => ask("rename", { name }));
  if (form.dataset.submit === "has") attempt(() => has(String(new FormData(form).get("version")).trim()));
  if (form.dataset.submit !== "enter") return;
  attempt(async () => {
    await enter(name);
    live.connect();
  });
});

document.addEventListener("input", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.id === "whatif-limit") showLimit(event.target);
});

document.addEventListener("change", (event) => {
  const form = event.target instanceof Element ? event.target.closest("form[data-change]") : null;
  if (!(form instanceof HTMLFormElement) || !form.reportValidity()) return;
  if (form.dataset.change === "settings") attempt(() => ask("settings", { settings: settingsOf(form) }));
  if (form.dataset.change === "whatif") attempt(() => ask("whatif", wishOf(form)));
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", schedule);
addEventListener("hashchange", () => location.reload());

document.addEventListener("visibilitychange", schedule);
onOtherTab(() => live.connect());

/** Fetches the picture for phones: it is not for whoever only knows the room's code. */
async function picture() {
  view.qr = await qrCode();
  schedule();
}

if (roomCode) {
  attempt(async () => {
    await claim().catch(() => {}); // what was claimed is said by the stream
    live.connect();
  });
  attempt(picture);
  attempt(async () => {
    view.offer = await offered();
    schedule();
  });
  setInterval(() => live.state && schedule(), 500);
} else {
  byId("banner").hidden = true;
  view.front = "asked";
  attempt(async () => {
    if (await front()) view.front = "shown";
    else drawConnection();
  });
}

// Tests read what was measured here.
Object.assign(globalThis, { muster: { live, view } });
