// Home: the pages, the running tasks, and the questions.

import { button, byId, h, show } from "../dom.js";
import { offerLanguages } from "../language.js";
import { capital, fill, locale, said, say } from "../say.js";
import { isArmed, press } from "../sure.js";
import { alarm } from "./alarm.js";
import { ask, follow, insist, sentences } from "./api.js";
import { art } from "./art.js";
import * as computer from "./computer.js";
import * as find from "./find.js";
import * as forms from "./forms.js";
import * as invited from "./invited.js";
import * as play from "./play.js";
import * as standing from "./standing.js";
import { clearTimer, setTimer } from "../time.js";

/** @typedef {import("./types.js").State} State */

/** @type {State | undefined} */
let state;
/** @type {import("./types.js").Game[]} */
let games = [];
let rang = "";

const pages = /** @type {const} */ ([
  ["play", say("home.play"), say("home.play-what")],
  ["where", say("front.where"), say("front.where-how")],
  ["join", say("home.join"), say("home.join-what")],
  ["find", say("home.find"), say("home.find-what")],
  ["computer", say("home.computer"), say("home.computer-what")],
]);

function route() {
  return location.hash.slice(1);
}

function draw() {
  const now = route();
  show(
    /** @type {Element} */ (document.querySelector("nav")),
    pages.filter(([id]) => id !== "where").map(([id, name]) => h("a", { href: `#${id}`, "data-key": id, "aria-current": now === id ? "page" : undefined }, name)),
  );
}

/** The first page, with the choices. @param {HTMLElement} main @param {Parameters<typeof forms.near>[0]} home */
function first(main, home) {
  const here = games.filter((game) => game.here && game.listed).slice(0, mostStraight);
  main.replaceChildren(
    h("h1", { tabindex: -1 }, say("home.tonight")),
    standing.standing(home),
    forms.near(home),
    h("ul", { class: "doors" }, pages.slice(0, 2).map((page) => h("li", {}, door(page)))),
    h("ul", { class: "doors low" }, h("li", {}, forms.quick(home)), pages.slice(3).map((page) => h("li", {}, door(page)))),
    ...(here.length > 0 ? [h("section", { class: "straight", "aria-labelledby": "straight" }, h("h2", { id: "straight" }, say("home.straight")), h("p", { class: "buttons" }, here.map((game) => button("find-game", game.name, { "data-game": game.id }))))] : []),
  );
  forms.drawRooms();
}

/** A way on from the first page. @param {typeof pages[number]} page */
function door([id, name, what]) {
  return h("a", { href: `#${id}`, class: id === "play" ? "door first" : "door" }, art(id), h("strong", {}, name), h("span", {}, id === "where" && [h("b", {}, say("front.where-see")), " "], what));
}

/** How many games the first page offers: a row or two. */
const mostStraight = 8;

/** Opens the page in the address. */
function open() {
  if (!state) return;
  const main = byId("main");
  find.close();
  draw();
  main.className = `page-${route() || "home"}`;
  const home = { state, games, toast, attempt };
  switch (route()) {
    case "find":
      find.open(main, home);
      break;
    case "join":
      forms.join(main, home);
      break;
    case "play":
      play.open(main, home);
      break;
    case "where":
      play.open(main, home, true);
      break;
    case "computer":
      computer.open(main, home);
      break;
    default:
      first(main, home);
  }
  const page = pages.find(([id]) => id === route())?.[1];
  document.title = page ? say("home.title", { page }) : "Muster";
  const h1 = main.querySelector("h1");
  if (h1 instanceof HTMLElement && opened) h1.focus({ preventScroll: true });
  opened = true;
}
let opened = false;

/** @param {State} next */
function changed(next) {
  const isFirst = !state;
  const before = state;
  state = next;
  if (isFirst) open();
  find.changed(next);
  forms.changed(next);
  computer.changed(next);
  drawNow(next);
  drawQuestions(next);
  for (const name of /** @type {const} */ (["go", "watch"])) {
    const task = next[name];
    if (before?.[name].running && !task.running && task.launch === "launched") toast(task.lines.slice(-1).map(capital).join(" "));
  }
}

/**
 * Reports whether a bar shows a task that takes the player to a server. While there is a question,
 * that is enough. After the answer, the bar shows only what the player still has to do.
 * @param {State} s @param {"go" | "watch"} name
 */
function isTold(s, name) {
  const task = s[name];
  if (s.questions.some((question) => question.of === name) || isRead(s, name)) return false;
  if (task.error || !task.launch) return true;
  return task.launch === "by-hand" || task.launch === "failed";
}

/** The running tasks, above every page. @param {State} s */
function drawNow(s) {
  const { room, watch, go } = s;
  /** @type {(HTMLElement | false)[]} */
  const parts = [
    (room.running || (!!room.error && !isRead(s, "room"))) &&
      h(
        "div",
        { class: `bar ${room.error ? "wrong" : ""}`, "data-key": "room" },
        h("p", {}, h("strong", {}, room.error ? sentences(room.error) : say(room.open ? "home.in-room" : room.what === "host" ? "home.opening" : "home.entering")), " ", !room.error && !s.questions.some((question) => question.of === "room") && h("span", { class: "quiet" }, h("bdi", {}, room.lines.at(-1) ?? ""))),
        h("p", { class: "buttons" }, room.open && h("a", { class: s.questions.length > 0 ? "button" : "primary", href: forms.roomPage(), target: "muster-room" }, say("home.see-room")), room.running && room.open && room.what === "host" && sureButton("end-night", say("details.end")), room.running ? sureButton("leave-room", say(room.what === "host" ? "home.close-room" : "details.leave")) : button("forget", say("home.ok"), { "data-what": "room" })),
        room.lines.length > 1 && h("details", { "data-key": "lines" }, h("summary", {}, say("home.so-far")), h("ol", { class: "lines", tabindex: 0, "aria-label": say("home.so-far") }, room.lines.map((line, i) => h("li", { "data-key": i }, h("bdi", {}, line))))),
      ),
    (watch.running || watch.looks > 0) &&
      isTold(s, "watch") &&
      h(
        "div",
        { class: watch.free > 0 ? "bar glad" : "bar", "data-key": "watch" },
        h("p", {}, watched(watch)),
        h("p", { class: "buttons" }, watch.free > 0 && button("go-there", say("find.connect"), { class: "primary", "data-addr": watch.what, "data-game": watch.game }), watch.running ? button("unwatch", say("find.unwatch")) : button("forget", say("home.ok"), { "data-what": "watch" })),
      ),
    (go.running || !!go.error || go.launch === "by-hand") &&
      isTold(s, "go") &&
      h(
        "div",
        { class: `bar ${go.error ? "wrong" : ""}`, "data-key": "go" },
        go.launch === "by-hand" && h("p", { class: "quiet" }, h("bdi", {}, go.lines.at(-2) ?? "")),
        h("p", {}, go.error ? sentences(go.error) : h("bdi", {}, go.lines.at(-1) ?? say("home.asking-again"))),
        h("p", { class: "buttons" }, go.running ? button("stop-go", say("home.not-now")) : button("forget", say("home.ok"), { "data-what": "go" })),
      ),
  ];
  show(byId("now"), parts.filter((part) => part instanceof HTMLElement));
  byId("now").hidden = !parts.some(Boolean);
  const seat = watch.free > 0 && isTold(s, "watch") ? say("home.seat", { server: watch.name || watch.what || "" }) : "";
  const asks = s.questions.length > 0 ? (s.questions.some((q) => isStart(q) || taskOf(s, q).launch === "asking") ? say("home.game-waits") : say("home.asks")) : invited.title(s);
  const rings = asks || seat;
  if (rings && rings !== rang) alarm.ring(rings);
  rang = rings;
  const trouble = sentences(s.trouble ?? []);
  if (trouble || troubled) banner(trouble);
  troubled = trouble;
}

let troubled = "";

/** The tasks' states when somebody pressed OK. @type {{room?: string, watch?: string, go?: string}} */
const read = {};

/** @param {State} s @param {"room" | "go" | "watch"} name */
function isRead(s, name) {
  if (s[name].running) delete read[name];
  return read[name] === JSON.stringify(s[name]);
}

/** How a server is that is watched. @param {State["watch"]} watch */
function watched(watch) {
  const server = h("strong", {}, h("bdi", {}, watch.name || watch.what || ""));
  if (watch.error) return [server, " ", sentences(watch.error)];
  if (watch.free > 0) return said("home.watch-free", { server, n: watch.free });
  return said(watch.running ? "home.watch-full" : "home.watch-over", { server });
}

/** The task that asks. @param {State} s @param {State["questions"][number]} question @returns {import("./types.js").Task} */
function taskOf(s, question) {
  return question.of === "room" ? s.room : question.of === "watch" ? s.watch : question.of === "beacon" ? s.beacon : s.go;
}

/** A question without the answers that a terminal offers. @param {string} text */
function asked(text) {
  return text.replace(/\s*\[[^\]]*\]\s*$/, "");
}

/** The words before a command's warning, in the page's language. */
const careful = say("start.careful", { doubt: "" }).trim();

/** Whether a command asks if it may start the game. It speaks the page's language. @param {State["questions"][number]} question */
function isStart(question) {
  return ["start.launch-it", "start.start-it"].some((key) => asked(say(key)) === asked(question.text));
}

/** A command's questions, mostly whether the game may start. @param {State} s */
function drawQuestions(s) {
  const place = byId("questions");
  show(
    place,
    invited.questions(s, games),
    s.questions.map((question) => {
      const yesNo = /\[[^\]/]{1,8}\/[^\]/]{1,8}\]\s*$/.test(question.text); // [Y/n], in any language
      const task = taskOf(s, question);
      const about = task.lines.slice(-2).filter((line) => line.startsWith(careful) || /\+connect|:\d/.test(line));
      const game = games.find(({ id }) => id === task.game)?.name;
      const text = game && isStart(question) ? say("home.start-game", { game }) : asked(question.text);
      return h(
        "form",
        { class: "question", "data-key": question.id, "data-question": question.id },
        h("p", {}, h("strong", {}, text.charAt(0).toLocaleUpperCase(locale) + text.slice(1))),
        about.map((line) => h("p", { class: "quiet" }, h("bdi", {}, line))),
        yesNo
          ? h("p", { class: "buttons" }, h("button", { class: "primary", name: "answer", value: "y" }, say("home.yes")), h("button", { name: "answer", value: "n" }, say("home.no")))
          : h("p", { class: "buttons" }, h("input", { name: "typed", "data-keep": true, "aria-label": question.text, autocomplete: "off" }), h("button", { class: "primary" }, say("home.ok"))),
      );
    }),
  );
  place.hidden = s.questions.length + s.invitations.length === 0;
}

/** @param {string} text */
function banner(text) {
  const place = byId("banner");
  place.hidden = text === "";
  if (place.textContent !== text) place.textContent = text;
}

/** How long a message stays, ms: news, trouble, and what a second press loses. */
const newsFor = 2500;
const troubleFor = 8000;
const sureFor = 4000;

/** Shows a message for a while. @param {string} text */
function toast(text, bad = false, wait = bad ? troubleFor : newsFor) {
  const place = byId("toast");
  place.textContent = text;
  place.classList.toggle("bad", bad);
  clearTimer(Number(place.dataset.timer));
  place.dataset.timer = String(setTimer(() => (place.textContent = ""), wait));
}

/** Runs an action, and shows its error. @param {string} _what @param {() => unknown} act */
async function attempt(_what, act) {
  try {
    await act();
  } catch (error) {
    toast(/** @type {Error} */ (error).message, true);
  }
}

/** @type {Record<string, (data: DOMStringMap) => unknown>} */
const actions = {
  ...find.actions,
  ...forms.actions,
  ...computer.actions,
  ...invited.actions,
  ...standing.actions,
  skip: () => byId("main").focus(),
  page: ({ page }) => (location.hash = page ?? ""),
  quit: async () => {
    if (ended) return; // a double click
    const runs = state?.room.running;
    const loses = runs ? say(state?.room.what === "host" ? "home.quit-host" : "home.quit-guest") : state?.beacon.running ? say("home.quit-beacon") : "";
    if (loses && !isSure("quit", loses)) return;
    ended = true;
    await ask("quit").catch((error) => {
      ended = false;
      throw error;
    });
    banner(say("home.ended"));
    document.body.classList.add("over");
  },
  "leave-room": () => (state?.room.what !== "host" || isSure("leave-room", say("home.close-room-sure"))) && ask("stop", "room"),
  "end-night": () => isSure("end-night", say("room.end-sure")) && ask("stop", "night"),
  "stop-go": () => ask("stop", "go"),
  "go-there": ({ addr, game }) => ask("connect", { game, addr }),
  forget: ({ what }) => {
    if (state && (what === "room" || what === "watch" || what === "go")) read[what] = JSON.stringify(state[what]);
    alarm.rest();
    if (state) drawNow(state);
  },
};
let ended = false;

/** Whether a button was pressed a second time. The first press says what would be lost. @param {string} key @param {string} loses */
function isSure(key, loses) {
  const sure = press(key, drawSure);
  if (!sure) toast(loses, false, sureFor);
  return sure;
}

function drawSure() {
  const quit = byId("quit");
  quit.textContent = say(isArmed("quit") ? "home.press-again" : "home.quit");
  quit.classList.toggle("armed", isArmed("quit"));
  if (state) drawNow(state);
}

/** A button that asks for a second press. @param {string} action @param {string} label */
function sureButton(action, label) {
  return button(action, isArmed(action) ? say("home.press-again") : label, { class: isArmed(action) ? "armed" : undefined });
}

document.addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (element instanceof HTMLElement) attempt("", () => actions[element.dataset.action ?? ""]?.(element.dataset));
});

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  event.preventDefault();
  if (form.dataset.invited) {
    alarm.rest();
    attempt("", () => invited.join(form));
  }
  const id = Number(form.dataset.question);
  if (!id) return;
  const pressed = event.submitter instanceof HTMLButtonElement ? event.submitter.value : "";
  const typed = new FormData(form).get("typed");
  alarm.rest();
  attempt("", () => ask("answer", { id, answer: typed === null ? pressed || "n" : String(typed) }));
});

document.addEventListener("keydown", (event) => {
  if (route() === "find") find.anywhere(event);
});
addEventListener("gamepadconnected", () => import("../gamepad.js").then(({ listen }) => listen()), { once: true });
addEventListener("hashchange", open);
addEventListener("focus", () => alarm.rest());

fill(document);
offerLanguages(byId("foot"));

attempt("", async () => {
  games = await insist("games", ({ message }) => banner(message));
  follow(changed, find.found, (lost) => {
    document.body.classList.toggle("stale", lost);
    if (!ended) banner(lost ? say("home.lost") : "");
  });
});

// Tests read this state.
Object.assign(globalThis, { home: { table: find.table, state: () => state } });
