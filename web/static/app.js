// The page of one room: it receives the newest state, draws it in one animation frame, and sends
// what people do.

import { announce } from "./announce.js";
import { ask, becomePlayer, claim, credential, enter, forget, leave, linkKey, onOtherTab, passOrCredential, qrCode, renew, roomCode } from "./api.js";
import { actions as ofCopying } from "./copying.js";
import { byId, h, show } from "./dom.js";
import { settingOf, settingsIn } from "./form.js";
import { gameName, welcome } from "./gather.js";
import { noteHere, offered } from "./get.js";
import { actions as ofGetting } from "./getting.js";
import { offerLanguages } from "./language.js";
import { Live } from "./live.js";
import { isNameEnough } from "./people.js";
import { capital, clock, fill, say } from "./say.js";
import * as sound from "./sound.js";
import * as door from "./stages/door.js";
import * as lobby from "./stages/lobby.js";
import { actions as ofMenu, closeMenu } from "./stages/menu.js";
import { drawEvenings, actions as ofMeeting, openEvenings } from "./stages/meeting.js";
import { onItsSide } from "./stages/parts.js";
import { actions as ofReactions } from "./stages/reactions.js";
import { sentence, stageOf, way } from "./stages/stages.js";
import { actions as ofSure, answered, press } from "./sure.js";
import { clearTimer, nextFrame, setTicker, setTimer, sleep, soon, wallTime, workTime } from "./time.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {typeof view} View */

const live = new Live(roomCode, linkKey, passOrCredential, schedule);

/** State of the page that the host does not know. */
const view = {
  /** The stage that the page shows. @type {import("./stages/stages.js").Stage | ""} */
  stage: "",
  /** The rounds whose search or vote this page has shown, and whose reveal it has finished. */
  searched: 0,
  revealed: 0,
  /** Whether the page hangs on a wall, where nobody touches it. */
  tv: new URLSearchParams(location.search).has("tv"),
  /** The detail that the page's link asks for, until it is shown. */
  show: new URLSearchParams(location.search).get("show"),
  /** Schedules a new drawing of the page. */
  changed: schedule,
  /** @type {import("./details/ranking.js").Order} */
  order: { by: "rank", down: false },
  pending: false,
  /** What the page says, what is still to be read out, and when something last was, ms. @type {string[]} */
  said: [],
  /** @type {string[]} */
  unsaid: [],
  saidAt: 0,
  /** What the stage says, and what was read out last, by us or as the focused title. */
  says: "",
  read: "",
  titled: "",
  /** The latest news, and when it came, ms. */
  news: "",
  stirred: 0,
  firstState: 0,
  longest: 0,
  qr: "",
  /** When each person was first seen, ms, by the order of arrival, because names change; 0 for people who were here before the page. @type {Map<number, number>} */
  met: new Map(),
  /** The programs that the host gives to visitors without Muster, and the download in progress. @type {import("./get.js").Offer | null} */
  offer: null,
  /** @type {import("./get.js").Getting | null} */
  getting: null,
  /** The door that a stranger has opened; ?show= leads past the doors. @type {import("./stages/door.js").Door} */
  door: new URLSearchParams(location.search).has("show") ? "past" : door.remembered(),
  /** Whether the page is becoming the page of a player. */
  becomes: false,
  /** The result of opening the room in Muster. @type {import("./get.js").Opening} */
  opening: "",
  /** People who are still outside, according to the organiser. @type {Set<string>} */
  outside: new Set(),
  /** The launch for which the person was called. */
  called: "",
  /** The reader's part in a room that looks for a place. @type {import("./places/own.js").Own | null} */
  seek: null,
  /** Whether the host has a front page for visitors without a room. @type {"unknown" | "asked" | "shown"} */
  front: "unknown",
};

/**
 * What a stage draws: the children of #stage with one h1, and then what nodes cannot express, once
 * they are on the page. says, if set, replaces the room's sentence for people who listen to the page.
 * @typedef {{draw: (live: Live, view: View) => any[], shown: (place: HTMLElement, live: Live, view: View) => void, says?: (state: State, view: View) => string}} Drawn
 */

/** The stages by name; the first visitors need two. @type {Partial<Record<import("./stages/stages.js").Stage, Drawn>>} */
const stages = {
  door: { draw: door.door, shown: door.shown, says: door.says },
  lobby: { draw: lobby.lobby, shown: lobby.shown },
};

/** What comes after the lobby, once it has loaded. @type {typeof import("./later.js") | undefined} */
let later;

/** @type {Promise<void> | undefined} */
let loading;

/** What a room that looks for a place needs, once it has loaded. @type {typeof import("./places/seek.js") | undefined} */
let seek;

/** @type {Promise<void> | undefined} */
let seeking;

/** How long the page rests after its first drawing before it loads the rest, ms. */
const settles = 1000;

/** Loads style sheets that are still disabled. @param {string} which */
function styled(which) {
  const links = [.../** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll(which))].filter((link) => link.disabled);
  return Promise.all(links.map((link) => new Promise((done) => {
    link.onload = link.onerror = done;
    link.disabled = false;
  })));
}

/** Shows the page of a host without a room. */
async function showFront() {
  view.front = "asked";
  const [{ front }] = await Promise.all([import("./front.js"), styled("link[href$='opening.css']")]);
  await front();
  view.front = "shown";
  schedule();
}

/** Loads what comes after the lobby, with its styles, and draws it. */
function load() {
  loading ??= loaded().catch((error) => {
    loading = undefined; // the next drawing tries again
    throw error;
  });
  return loading;
}

async function loaded() {
  const [module] = await Promise.all([import("./later.js"), styled("link[href*='stages/']")]);
  later = module;
  Object.assign(stages, later.stages);
  Object.assign(actions, later.actions(live, view, tellBriefly, end));
  schedule();
}

/** Loads what a room needs that looks for a place. */
function loadSeek() {
  seeking ??= (async () => {
    const module = await import("./places/seek.js");
    await module.ready();
    seek = module;
    Object.assign(actions, module.actions(live, view));
    schedule();
  })().catch((error) => {
    seeking = undefined; // the next drawing tries again
    throw error;
  });
  return seeking;
}

/** Where the room stands, in a sentence. @param {State} state */
const standsAt = (state) => seek?.sentence(state) ?? sentence(state);

/** Draws in the next frame, once for all changes before it. */
function schedule() {
  if (document.hidden) {
    drawTitle(); // a hidden tab gets no frames, but its title is visible
    callAway();
    passUnseen();
    prepare();
  }
  if (view.pending) return;
  view.pending = true;
  nextFrame(() => {
    view.pending = false;
    const began = workTime();
    draw();
    view.longest = Math.max(view.longest, workTime() - began);
  });
}

function draw() {
  drawConnection();
  if (!live.state?.room) return;
  if (view.firstState === 0) {
    view.firstState = workTime();
    setTimer(() => attempt(load), settles);
  }
  const state = live.state;
  dropDeadToken(state);
  becomePlayerOnce(state);
  drawTitle();
  byId("room-name").textContent = state.room.name || say("room.unnamed");
  byId("room-game").textContent = gameName(state);
  byId("room-code").textContent = state.room.code;
  byId("main").hidden = false;
  callAway();
  drawStage(state);
  later?.drawDetails(live, view, entitle);
  prepare();
}

/** Makes what the end of the night shows, because the host may be gone by then. */
function prepare() {
  if (live.state?.room) later?.prepare(live, view);
}

/** @param {State} state */
function drawStage(state) {
  const before = view.stage;
  if ((state.room.seeks || state.places) && !seek) attempt(loadSeek);
  if (state.places && !seek) return;
  seek?.notice(live, view, tellBriefly);
  door.notice(state, view);
  const sought = seek?.stageOf(state, view);
  const stage = sought ?? (!state.places && door.isOutside(state, view) ? "door" : stageOf(state, view));
  const drawn = (sought && seek?.stages[sought]) ?? stages[stage];
  if (!drawn || (sought && sought !== "ask" && !later)) return void attempt(load);
  view.stage = stage;
  if (view.stage === "search" || view.stage === "vote" || view.stage === "ban") view.searched = state.room.round;
  if (view.stage === "countdown") view.revealed = state.room.round; // whoever missed it until now has read it there
  if (view.stage === "night") view.searched = view.revealed = 0; // the next session begins with its first round
  const place = byId("stage");
  const here = document.activeElement;
  const within = here !== place && place.contains(here);
  const moves = before !== "" && before !== view.stage && (here === document.body || place.contains(here));
  if (before !== view.stage) {
    place.replaceChildren(); // nothing of a stage survives in the next one
    answered(); // nor does its question
  }
  document.body.dataset.stage = view.stage; // only now: removing the focused element would lay the old stage out in the new one's style
  const isOutside = view.stage === "door" || view.stage === "ask";
  show(byId("steps"), isOutside ? [] : way(state, view.stage));
  show(byId("sender"), view.stage === "door" ? door.sender(state) : []);
  const asksItself = view.stage === "lobby" || isOutside || Boolean(sought) || (view.stage === "vote" && isNameEnough(state));
  const asks = !asksItself && (view.stage !== "night" || state.meeting) && !state.you.name && !state.you.organiser && !view.tv; // a person who comes late is asked below the stage
  show(place, drawn.draw(live, view), asks && h("section", { id: "welcome", class: "card", "data-key": "welcome" }, welcome(state)));
  drawn.shown(place, live, view);
  const corner = /** @type {HTMLImageElement} */ (byId("corner"));
  corner.hidden = view.stage === "lobby" || isOutside || view.stage === "night" || view.qr === "";
  if (corner.getAttribute("src") !== view.qr) corner.src = view.qr;
  rest(state);
  if (moves) soon(() => scrollTo(0, 0));
  const isGone = within && document.activeElement === place;
  if (before !== view.stage) view.titled = "";
  if (!moves && !isGone) return announce(says(state), view);
  view.titled = place.querySelector("h1")?.textContent ?? "";
  soon(() => { // after layout, which asking now would force twice
    entitle();
    announce(says(state), view);
  });
}

/** What the stage says, for people who listen to the page. @param {State} state */
function says(state) {
  if (view.stage === "") return "";
  const drawn = (state.places && seek?.stages[view.stage]) || stages[view.stage];
  return drawn?.says?.(state, view) ?? standsAt(state);
}

/** Moves the focus to the title if the stage is new or the focused element is gone, for keyboards and screen readers. */
function entitle() {
  const title = byId("stage").querySelector("h1");
  if (title) title.tabIndex = -1;
  title?.focus({ preventScroll: true });
}

/** How long nothing may happen before a wall's screen is dimmed, ms. */
const idleAfter = 10 * 60_000;

/** Dims a wall's screen when nothing happens, because it would show the same picture for hours. @param {State} state */
function rest(state) {
  const news = `${view.stage} ${state.room.round} ${state.people.map((person) => `${person.name} ${person.connected} ${person.page}`)}`;
  if (news !== view.news) [view.news, view.stirred] = [news, wallTime()];
  document.documentElement.classList.toggle("idle", view.tv && wallTime() - view.stirred > idleAfter);
}

/** Skips a reveal that happens while nobody looks. */
function passUnseen() {
  const { state } = live;
  if (state?.room && stageOf(state, view) === "reveal") view.revealed = state.room.round;
}

/** Calls people who look elsewhere once there are seats for all, and captains once it is their turn. */
function callAway() {
  const { room, seats, match, you } = live.state ?? {};
  const isTurn = match?.turn && match.turn.captain === you?.name;
  const until = room?.stage === "waiting" ? (seats?.launch_at ?? "") : isTurn ? `turn ${match.turn?.number}` : "";
  if (until === view.called) return;
  view.called = until;
  if (until && live.state) sound.call(sentence(live.state));
}

/** News comes first, because a tab has room for a few words. */
function drawTitle() {
  const room = live.state?.room;
  if (live.state && room) document.title = say("page.title", { sentence: standsAt(live.state), room: room.name || room.code });
}

/** Drops a credential that the room does not know: the person was removed, or it is old, or the secret is incomplete. */
function dropDeadToken(/** @type {State} */ state) {
  if (state.you.name || state.you.organiser || credential() === "" || live.answered !== credential()) return;
  const lost = forget();
  tellBriefly(say(lost === "token" ? "page.lost-token" : "page.lost-secret"), true);
  if (credential() !== "") live.connect();
}

/** How long the page rests after it has tried to become a player's, ms. */
const pause = 10_000;

/** Takes the player's own credential once the program that came by this page is in. @param {State} state */
function becomePlayerOnce(state) {
  if (!state.you.name || credential() !== "" || view.becomes) return;
  view.becomes = true;
  noteHere(true);
  attempt(async () => {
    try {
      await becomePlayer();
      live.connect();
    } finally {
      setTimer(() => (view.becomes = false), pause); // a failure is not tried again at once
    }
  });
}

function drawConnection() {
  const { state } = live;
  const connection = live.shownAs();
  if (!roomCode && view.front === "shown") return; // there is nothing to connect to
  if (connection === "gone" && !state && view.front === "unknown") {
    attempt(showFront);
  }
  document.body.classList.toggle("stale", connection !== "live" && connection !== "over");
  const banner = byId("banner");
  const text = bannerText(connection, state);
  banner.hidden = text === "";
  if (banner.textContent !== text) banner.textContent = text; // setting the same text would announce it again
}

/** @param {import("./live.js").Connection} connection @param {State | null} state */
function bannerText(connection, state) {
  if (connection === "live" || connection === "over") return "";
  if (!roomCode) return "";
  if (connection === "gone" && view.front === "shown") return live.why;
  if (connection === "gone") return (live.isClosed && live.why) || say("page.no-room", { code: roomCode });
  if (connection === "limited") return say("page.limited");
  if (connection === "crowded") return say("page.crowded");
  if (connection === "connecting") return live.why || say("page.connecting");
  return state ? say("page.lost-since", { at: clock(new Date(state.heard)) }) : say("page.lost");
}

const dialog = () => /** @type {HTMLDialogElement} */ (byId("dialog"));

/** @type {Record<string, (data: DOMStringMap, element: HTMLElement) => unknown>} */
const actions = {
  skip: () => byId("stage").focus(),
  go: ({ stage }) => ask("go", { stage }),
  apply: () => ask("apply"),
  "forget-whatif": () => ask("whatif"),
  advice: ({ order, argument }) => ask(order ?? "", JSON.parse(argument ?? "{}")),
  strike: ({ addr }) => ask("strike", { addr }),
  "hide-here": () => ask("hide", { addr: /** @type {HTMLSelectElement} */ (byId("hide-which")).value, hidden: true }),
  end,
  lock: () => ask("lock", { locked: !live.state?.room.locked }),
  handon: ({ name }) => ask("handon", { name }),
  renew: renewed,
  leave: left,
  trust: ({ name }) => ask("trust", { name }),
  count: ({ name, counted }) => ask("count", { name, counted: counted === "true" }),
  vote: ({ addr }) => ask("vote", { addr }),
  veto: ({ addr = "", map }) => press(map ?? addr, schedule) && ask("veto", map ? { map } : { addr }),
  detail: ({ detail = "" }) => ((view.show = detail), schedule()),
  ready: ({ ready }) => ask("ready", { ready: ready === "true" }),
  arrived: () => ask("arrived"),
  revealed: () => ((view.revealed = live.state?.room.round ?? 0), schedule()),
  outside: ({ name = "" }) => (view.outside.delete(name) || view.outside.add(name), schedule()),
  "await-outside": () => ask("await", { names: [...view.outside].filter((name) => live.state?.people.some((person) => person.name === name)) }).then(() => view.outside.clear()),
  callme: () => (sound.toggle(), sound.isOn() && sound.allow(), schedule()),
  sound: (_, element) => (sound.toggle(), element.setAttribute("aria-pressed", String(sound.isOn()))),
  reopen: () => ask("reopen"),
  sort: ({ by }) => sortBy(by ?? "rank"),
  watch: () => door.watch(view),
  ...ofGetting(live, view, tellBriefly),
  ...ofCopying(tellBriefly),
  ...ofSure(() => (schedule(), drawEvenings(dialog()))),
  "wait-on": ({ addr }) => ask("await", { addr }).then(() => dialog().close()),
  evenings: () => openEvenings(dialog()),
  ...ofMeeting,
  ...ofMenu(schedule),
  ...ofReactions(schedule),
};

/** How long a room that ends may take to say so, ms. */
const lastWords = 1500;

/** Ends the night. A host that ends with its room may not answer, and that is no failure. */
async function end() {
  /** @type {unknown} */
  let failure;
  try {
    await ask("end");
  } catch (error) {
    failure = error;
  }
  for (const until = wallTime() + lastWords; !live.state?.room.ended && wallTime() < until; ) await sleep(50);
  if (failure && !live.state?.room.ended) throw failure;
}

async function renewed() {
  await renew();
  live.connect();
  tellBriefly(say("room.renewed"));
}

/** @param {string} version */
async function has(version) {
  await ask("has", { version });
  tellBriefly(version ? say("people.noted", { version }) : say("people.noted-none"));
}

async function left() {
  await leave(live.state?.you.organiser);
  live.connect();
}

/** @param {string} by */
function sortBy(by) {
  view.order = { by, down: view.order.by === by && !view.order.down };
  schedule();
}

/** Shows a message for a few seconds. @param {string} text */
function tellBriefly(text, bad = false) {
  const toast = byId("toast");
  toast.textContent = text;
  if (!live.state) byId("status").textContent = text; // nothing else draws it
  toast.classList.toggle("bad", bad);
  clearTimer(Number(toast.dataset.timer));
  toast.dataset.timer = String(setTimer(() => (toast.textContent = ""), bad ? 8000 : 2000));
}

/** Runs an action, and shows its error. @param {() => unknown} act */
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    tellBriefly(capital(/** @type {Error} */ (error).message), true);
  }
}

document.addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (!(element instanceof HTMLElement)) return;
  const { action, sure } = element.dataset;
  if (event.detail > 1 && (action === "go" || sure)) return; // the second of two clicks is not for what has just appeared
  if (sure && action !== "ask-sure") answered();
  attempt(() => actions[element.dataset.action ?? ""]?.(element.dataset, element));
});

// An open detail has a link of its own, which the address bar shows.
byId("details").addEventListener("click", (event) => {
  const detail = event.target instanceof Element ? event.target.closest("#details > details > summary")?.parentElement : null;
  if (!(detail instanceof HTMLDetailsElement)) return;
  history.replaceState(null, "", `${detail.open ? location.pathname : `?show=${detail.id}`}${location.hash}`);
});

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.method === "dialog" || form.closest("#front")) return;
  event.preventDefault();
  const name = String(new FormData(form).get("name"));
  if (form.dataset.submit === "rename") attempt(() => ask("rename", { name, of: form.dataset.of ?? "" }).then(closeMenu));
  if (form.dataset.submit === "bring") attempt(() => later?.bring(form, tellBriefly));
  if (form.dataset.submit === "has") attempt(() => has(String(new FormData(form).get("version")).trim()));
  if (seek) attempt(() => seek?.submit(form, live, view));
  if (form.dataset.submit !== "enter") return;
  attempt(async () => {
    await enter(name);
    live.connect();
  });
});

document.addEventListener("input", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.id === "whatif-limit") later?.showLimit(event.target);
});

document.addEventListener("change", (event) => {
  const form = event.target instanceof Element ? event.target.closest("form[data-change]") : null;
  if (!(form instanceof HTMLFormElement) || !form.reportValidity()) return;
  if (form.dataset.change === "settings") attempt(() => ask("settings", { settings: settingOf(/** @type {HTMLInputElement} */ (event.target)) }));
  if (form.dataset.change === "whatif") attempt(() => ask("whatif", settingsIn(form)));
});

for (const changes of ["(prefers-color-scheme: dark)", onItsSide]) matchMedia(changes).addEventListener("change", schedule);
byId("details").addEventListener("toggle", schedule, true);
addEventListener("hashchange", () => location.reload());

document.addEventListener("visibilitychange", schedule);
onOtherTab(() => live.connect());

/** Fetches the QR code, which a person needs more than the room's code to see. */
async function picture() {
  view.qr = await qrCode();
  schedule();
}

document.documentElement.classList.toggle("tv", view.tv);
fill(document);
if (!view.tv) offerLanguages(byId("foot"));

if (roomCode) {
  attempt(async () => {
    await claim().catch(() => {}); // the stream reports the result
    live.connect();
  });
  attempt(picture);
  attempt(async () => {
    view.offer = await offered();
    schedule();
  });
  setTicker(() => live.state && schedule(), 500);
} else {
  byId("banner").hidden = true;
  attempt(showFront);
}

addEventListener("gamepadconnected", () => import("./gamepad.js").then(({ listen }) => listen()), { once: true });

// Tests read this state.
Object.assign(globalThis, { muster: { live, view } });
