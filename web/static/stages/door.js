// The two doors: what a stranger with the room's link sees first. “Play” and “Watch” are equally
// plain, and each says what it costs. Nothing is gold until one of them is open.

import { roomCode } from "../api.js";
import { button, h } from "../dom.js";
import { copyable, gameName } from "../gather.js";
import { about, direct, missing, outcome, progress, systems } from "../get.js";
import { inOrder, meOf } from "../people.js";
import { said, say, tell } from "../say.js";
import { sign } from "../sign.js";
import { clicksOf, lobbyAlone, minutesOf, steps } from "./ways.js";
import { setTimer } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../app.js").View} View */
/** @typedef {"" | "play" | "watch" | "in" | "past"} Door which door is open; in: the program has come in; past: the page goes on to the room */

/** How long a door takes to open, ms. */
const opening = 600;
/** How long the page shows that the program is in, ms. */
const celebrating = 1800;
/** The most signs in the row of people. */
const mostSigns = 16;

const kept = `muster door ${roomCode.toUpperCase()}`;

/** Whether this tab went past the doors before. @returns {Door} */
export function remembered() {
  try {
    return sessionStorage.getItem(kept) ? "past" : "";
  } catch {
    return ""; // a private window shows the doors again
  }
}

/** Whether the page belongs to a stranger who has not gone through a door yet. @param {State} state @param {View} view */
export function isOutside(state, view) {
  if (view.tv || view.door === "past" || state.room.ended) return false;
  return view.door === "in" || (!state.you.name && !state.you.organiser);
}

/** Goes on to the room, once the door is open. @param {View} view @param {number} [after] ms */
function goIn(view, after = opening) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  setTimer(() => {
    try {
      sessionStorage.setItem(kept, "past");
    } catch {
      // the buttons come again with the next load
    }
    view.door = "past";
    view.changed();
  }, isStill ? 0 : after);
}

/** Enters the room as a watcher. @param {View} view */
export function watch(view) {
  view.door = "watch";
  view.changed();
  goIn(view);
}

/** Enters the room as a player. @param {View} view */
export function play(view) {
  view.door = "play";
  view.changed();
}

/** Notices that the program has come in. @param {State} state @param {View} view */
export function notice(state, view) {
  if (!state.you.name || view.door === "in" || view.door === "past") return;
  const waits = view.door === "play";
  view.door = waits ? "in" : "past";
  if (waits) goIn(view, celebrating);
}

/** @param {import("../live.js").Live} live @param {View} view */
export function door(live, view) {
  const state = /** @type {State} */ (live.state);
  const newcomer = newcomerOf(state, view);
  const isPhone = view.offer?.phone ?? false;
  return [
    hasMap(state) && h("div", { class: "behind", "data-key": "behind", "data-keep": true, "aria-hidden": "true" }),
    h("div", { class: "lead", "data-key": "lead" }, h("h1", { "--letters": say("door.title").length }, say("door.title")), here(state, newcomer)),
    h("div", { class: "doors", "data-key": "doors" }, leaf("play", newcomer, say("door.play"), say("door.play-how"), price(view), view), leaf("watch", newcomer, say("door.watch"), say("door.watch-how", { votes: state.room.guests_vote ? "yes" : "no" }), say("door.one", { touch: isPhone || isTouch() ? "yes" : "no" }), view)),
    ticket(state, view, newcomer),
    otherWays(state, view),
  ];
}

/**
 * Whether the room's map stands behind the entry buttons. It needs a large screen and somebody
 * whose country is known.
 * @param {State} state
 */
const hasMap = (state) => matchMedia("(min-width: 44rem) and (min-height: 31.01rem)").matches && state.people.some((person) => person.country);

/** What watches the size of the map's place. @type {WeakMap<Element, ResizeObserver>} */
const watched = new WeakMap();

/**
 * Runs once the stage's elements are on the page.
 * @param {HTMLElement} stage @param {import("../live.js").Live} live @param {View} view
 */
export function shown(stage, live, view) {
  const place = stage.querySelector(".behind");
  if (!(place instanceof HTMLElement) || !live.state) return;
  const { people } = live.state;
  if (!watched.has(place)) {
    const resized = new ResizeObserver(view.changed);
    watched.set(place, resized);
    resized.observe(place);
  }
  import("../map/behind.js").then(({ behind }) => (place.isConnected ? behind(place, people) : undefined)).catch(() => {}); // the doors are enough
}

/** The text of the corner: how the stranger got here. @param {State} state */
export function sender(state) {
  const organiser = state.people.find((person) => person.organiser)?.name;
  return organiser ? said("door.sent-by", { player: organiser }) : [];
}

/** The sentence for people who listen to the page. @param {State} state */
export function says(state) {
  return say("door.says", { n: state.people.length, room: state.room.name || say("room.unnamed"), game: gameName(state) });
}

/** The stranger as a person of the room: the sign is the next free one. @param {State} state @param {View} view @returns {Person} */
function newcomerOf(state, view) {
  const own = view.door === "in" && meOf(state);
  if (own) return own;
  const taken = new Set(state.people.map((person) => person.arrival));
  let arrival = 0;
  while (taken.has(arrival)) arrival++;
  return { name: "?", arrival, peer: false, connected: false, page: true, probed: 0, answered: 0 };
}

/** Who is in already, and the newcomer's own sign. @param {State} state @param {Person} newcomer */
function here(state, newcomer) {
  const people = inOrder(state.people.filter((person) => person !== newcomer));
  const shown = people.slice(0, mostSigns);
  return h(
    "ul",
    { class: "who-is-in", "aria-label": say("lobby.here"), "data-many": people.length > 8 ? "many" : people.length > 3 ? "some" : "few" },
    shown.map((person) => h("li", { "data-key": person.name }, sign(person, 32), h("bdi", { class: "name" }, person.name))),
    people.length > shown.length && h("li", {}, say("search.more-players", { n: people.length - shown.length })),
    h("li", { class: "yours", "data-key": "yours" }, sign(newcomer, 38), h("strong", {}, newcomer.name === "?" ? say("door.you") : h("bdi", {}, newcomer.name)), h("span", { class: "quiet" }, say("door.yours"))),
  );
}

function isTouch() {
  return matchMedia("(pointer: coarse)").matches;
}

/** What “Play” costs. @param {View} view */
function price(view) {
  if (view.offer?.phone) return say("door.on-computer");
  const mine = mineOf(view);
  if (!mine) return say("door.needs-muster");
  return say("door.cost", { n: clicksOf(mine.system), minutes: minutesOf(mine.system) });
}

/**
 * One door.
 * @param {"play" | "watch"} id @param {Person} newcomer @param {string} name @param {string} how @param {string} cost @param {View} view
 */
function leaf(id, newcomer, name, how, cost, view) {
  const isOpen = view.door === id || (view.door === "in" && id === "play");
  const plays = id === "play";
  const face = { ...newcomer, peer: plays, connected: plays, able: false, left_out: false };
  return h(
    "div",
    { class: `door${isOpen ? " open" : ""}`, "data-key": id, "data-door": id },
    button(id, [h("span", { class: "wing", "aria-hidden": "true" }, h("span", { class: "knob" })), h("span", { class: "inside" }, sign(face, 116), h("span", { class: "what", "--letters": Math.max(4, [...name].length) }, name), h("span", { class: "how" }, how))], { class: "frame", "aria-describedby": `cost-${id}`, "aria-pressed": String(isOpen) }),
    h("p", { id: `cost-${id}`, class: "cost" }, cost),
  );
}

/** The program for the visitor's system, if the host has one. @param {View} view */
function mineOf(view) {
  return view.offer?.programs.find((program) => program.system === view.offer?.system);
}

/** The paper ticket: the way in for those who play. @param {State} state @param {View} view @param {Person} newcomer */
function ticket(state, view, newcomer) {
  const mine = mineOf(view);
  const { offer } = view;
  if (offer?.phone) {
    return paper("phone", say("door.phone-title"), [h("div", { class: "foot" }, button("send", say("door.send"), { class: "primary", "data-copy-text": state.you.link })), h("p", {}, say("door.phone-how"))], steps("windows-amd64", "….exe", 0, state, newcomer));
  }
  if (!mine) return elsewhere(state, view, newcomer);
  return paper(
    "steps",
    say("door.way", { system: mine.name }),
    [h("p", { class: mine.trouble ? "trouble" : "lead-in" }, mine.trouble ? tell(mine.trouble) : about(mine))],
    mine.wrong ? [lobbyAlone(state, newcomer)] : steps(mine.system, mine.file.replace(/^muster/, "…"), mine.size, state, newcomer),
    foot(state, view, mine),
  );
}

/** The way in if the host has no program for the visitor's system: the project's page, or a line to paste. @param {State} state @param {View} view @param {Person} newcomer */
function elsewhere(state, view, newcomer) {
  const { offer } = view;
  const page = offer?.direct ?? offer?.release;
  const system = { "get.windows": "windows-amd64", "get.macos": "darwin" }[offer?.yours?.key ?? ""] ?? "linux-amd64";
  const isThere = page && offer?.yours;
  const title = offer?.yours ? say("door.way", { system: offer.yours }) : say("door.way-none");
  const lead = missing(offer);
  const line = [h("p", { class: "quiet" }, say("share.paste")), copyable("join-line", `muster join ${state.you.join}`, say("share.copy-line"))];
  const end = h("div", { class: "foot" }, isThere && h("a", { class: "button", href: page, rel: "noreferrer" }, say("door.project")), button("open", say("get.open-in-muster")), h("div", {}, outcome(view.opening)));
  return paper("none", title, lead, isThere ? steps(system, "", 0, state, newcomer) : [...line, lobbyAlone(state, newcomer)], end);
}

/** @param {string} kind @param {string} title @param {import("../dom.js").Child[]} lead @param {import("../dom.js").Child[]} body @param {HTMLElement | null} [end] */
function paper(kind, title, lead, body, end = null) {
  return h("section", { id: "way-in", class: `ticket way-in ${kind}`, "data-key": "way in", "aria-label": title }, h("h2", {}, title), lead, body, end);
}

/** What happens now. @param {State} state @param {View} view @param {import("../get.js").Program} mine */
function foot(state, view, mine) {
  const { getting } = view;
  const isWaiting = Boolean(getting?.file);
  const text =
    view.door === "in" ? said("door.is-in", { player: state.you.name ?? "" })
    : getting && !isWaiting ? progress(getting)
    : isWaiting ? [progress(getting), " ", ...said("door.waiting", { strong: (...held) => h("strong", {}, ...held) })]
    : view.opening ? say(`get.opening.${view.opening}`)
    : mine.trouble ? ""
    : say("door.before");
  const again = !mine.wrong && !(getting && !isWaiting) && view.door === "play" && button("get", say("door.again"), { "data-system": mine.system, "data-name": say(mine.name.key ?? "", mine.name.with) });
  return h("div", { class: "foot" }, h("span", { class: `ring${getting && view.door !== "in" ? " turns" : ""}`, "aria-hidden": "true" }), h("p", { id: "getting", "data-say": Boolean(getting) }, text), again);
}

/** Another system, an installed Muster, and the project's own page. @param {State} state @param {View} view */
function otherWays(state, view) {
  const mine = mineOf(view);
  return h(
    "div",
    { class: "other-ways", "data-key": "other ways" },
    state.room.locked && h("p", { class: "bad" }, say("details.is-locked")),
    h("p", { class: "quiet" }, say("door.no-account"), " ", button("open", say("door.open-it"), { class: "plain" })),
    mine && h("div", {}, outcome(view.getting ? "" : view.opening)),
    h(
      "details",
      { class: "own", "data-key": "ways" },
      h("summary", {}, say("door.other-ways")),
      mine ? direct(view.offer) : [],
      systems(view.offer, mine, view.getting),
      mine && [h("p", { class: "quiet" }, say("share.paste")), copyable("join-line", `muster join ${state.you.join}`, say("share.copy-line"))],
    ),
  );
}
