// The reveal: where the group meets tonight. moment.js says what is visible when.
//
// It is a view of the choice alone. It plays once a server is decided: before the countdown if there
// is one, and otherwise while games open.

import { countryName, givenUp, targetOf } from "../choice.js";
import { button, dotted, h } from "../dom.js";
import { flag } from "../flag.js";
import { placeOf } from "../map/world.js";
import { hasSay, meOf } from "../people.js";
import { saidOf } from "../rules.js";
import { capital, millis, said, say } from "../say.js";
import { play } from "../sound.js";
import { spokesOf, whereOf } from "./around.js";
import { untilCountdown } from "./countdown.js";
import { fitTitle } from "./fit.js";
import { late } from "./late.js";
import { pingLine } from "./line.js";
import { evenness } from "./ban.js";
import { campThere, decidedBy, meansThere } from "./matchgo.js";
import { moments, rest, seenAt } from "./moment.js";
import { over } from "./over.js";
import { clearTimer, nextFrame, runTime, setTimer } from "../time.js";

/** @typedef {import("../types.js").State} State */

/**
 * The reveal that plays on this page: its element, and whether its last frame is shown.
 * @type {{on: HTMLElement | null, isOver: boolean}}
 */
const playing = { on: null, isOver: false };

/** How long the fade takes for people who prefer no motion, ms. */
const fade = 200;

/** Countries that English names with an article. */
const withThe = new Set("AE AX BS CC CD CF CG CK DO FK FO GB GM IM IO KM KY MH MP MV NL PH SB SC TC TF UM US VA VG VI".split(" "));

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function reveal(live, view) {
  const state = /** @type {State} */ (live.state);
  const { choice } = state;
  const target = choice && targetOf(choice);
  if (!choice || !target) return [];
  const server = choice.servers[target.addr];
  const country = server?.country ? countryName(server.country) : "";
  const named = server?.name || (country ? say("reveal.server-in", { country }) : say("server.nameless")); // never an address
  const spokes = spokesOf(state, target);
  const own = view.tv ? undefined : spokes.find(({ person }) => person.name === state.you.name);
  const isOnMap = Boolean(placeOf(server?.country));
  const words = {
    small: (/** @type {import("../dom.js").Child[]} */ ...held) => h("small", {}, ...held),
    place: h("span", { class: "place" }, h("bdi", { dir: "auto" }, country || named)),
  };
  const match = state.match?.server ? state.match : undefined;
  return [
    isOnMap && h("div", { class: "turning turned", "data-keep": true, "data-key": `turning ${state.room.round}` }),
    h(
      "div",
      { class: `tonight${match ? " of-match" : isOnMap ? "" : " mapless"}`, "data-key": `tonight ${state.room.round}` },
      h("div", { class: "where" },
        h("h1", {}, ...said(!country ? "reveal.play-on" : withThe.has(server?.country ?? "") ? "reveal.meet-in-the" : "reveal.meet-in", words)),
        country && h("p", { class: "named" }, flag(server?.country), h("bdi", { dir: "auto" }, named)),
        !match && h("p", { class: "figure-of" }, dotted(own && say("ping.for-you", { ms: own.text }), reason(state, target))),
        over(state, view)),
      ...(match ? sides(state, view, match) : everyones(view, spokes, target.mean_ms, isOnMap)),
      soon(live, view),
    ),
    view.tv && late(state, view),
  ];
}

/** Everyone's pings, as a line and as a list. @param {import("../app.js").View} view @param {ReturnType<typeof spokesOf>} spokes @param {number} mean ms @param {boolean} isOnMap */
export function everyones(view, spokes, mean, isOnMap) {
  const line = pingLine(spokes, mean, { isNarrow: !view.tv && matchMedia("(max-width: 47.99rem), (max-height: 32rem)").matches, pings: !isOnMap && spokes.length < 9 });
  return [
    h("div", { class: `everyones${spokes.length >= 6 ? " crowd" : ""}` }, line),
    h("ul", { class: "everybody unseen", "aria-label": say("ping.all") }, spokes.toSorted((a, b) => (a.person.arrival ?? 0) - (b.person.arrival ?? 0)).map(({ person, text }) => h("li", { "data-key": person.name }, h("bdi", { class: "who", dir: "auto" }, person.name), " ", h("span", { class: "ms" }, text)))),
  ];
}

/** Both sides of a match, and how even the server is. Nobody reads another person's ping. @param {State} state @param {import("../app.js").View} view @param {import("../types.js").Match} match */
function sides(state, view, match) {
  const { line, words } = evenness(match, meansThere(match));
  return [campThere(state, view, match, 0), campThere(state, view, match, 1), h("div", { class: "weighs" }, line, h("p", {}, dotted(decidedBy(match), words)))];
}

/** When the countdown begins, and how to stop that; without a countdown, a way on. @param {import("../live.js").Live} live @param {import("../app.js").View} view */
function soon(live, view) {
  const state = /** @type {State} */ (live.state);
  if (!state.agreement.launch_at) return !view.tv && h("p", { class: "buttons" }, button("revealed", say("reveal.on")));
  const me = meOf(state);
  const n = Math.max(0, Math.ceil(untilCountdown(live) / 1000));
  return h("p", { class: "buttons soon" }, !view.tv && !state.match && me && hasSay(state, me) && button("ready", say("countdown.wait"), { class: "stop", "data-ready": "false", "aria-keyshortcuts": "Escape" }), h("span", { class: "when" }, say("reveal.countdown-in", { n })));
}

/** What decided, in a few words: the vote, what somebody gives up, or the rule. @param {State} state @param {import("../types.js").Ranked} target */
function reason(state, target) {
  const decided = state.choice?.decided;
  if (decided?.by === "vote" && decided.votes && decided.of) return say("reveal.by-vote", { votes: decided.votes, of: decided.of });
  return givenUp(target) || (state.room.listed > 1 ? say("reveal.best-of", { rule: saidOf(state.room.by, "name"), n: state.room.listed }) : capital(say("ping.average", { ms: millis(target.mean_ms) })));
}

/** What the stage announces. @param {State} state */
export function says(state) {
  const target = state.choice && targetOf(state.choice);
  if (!state.choice || !target) return "";
  const server = state.choice.servers[target.addr];
  const own = target.rtt_ms[state.you.name ?? ""];
  const figure = givenUp(target) || say("ping.average", { ms: millis(target.mean_ms) });
  const pings = own === undefined ? figure : say("reveal.says-pings", { own: millis(own), reason: figure });
  const name = server?.name || say("server.nameless");
  return server?.country ? say("reveal.says-in", { country: countryName(server.country), server: name, pings }) : say("reveal.says", { server: name, pings });
}

/** Runs once the children are on the page. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  const state = /** @type {State} */ (live.state);
  const { round } = state.room;
  fitTitle(place.querySelector(".place"));
  clearTimer(ticking);
  const left = state.agreement.launch_at ? untilCountdown(live) : Infinity;
  const end = () => {
    view.revealed = Math.max(view.revealed, round);
    view.changed();
  };
  if (left > 0 && left < Infinity) ticking = setTimer(view.changed, (left % 1000) + 10);
  const tonight = place.querySelector(".tonight");
  if (!(tonight instanceof HTMLElement)) return;
  if (playing.on === tonight) {
    if (playing.isOver && left === Infinity) end(); // the countdown was left out
    return;
  }
  [playing.on, playing.isOver] = [tonight, false];
  place.style.setProperty("--seen-place", "0");
  void begin(place, tonight, state, () => {
    if (playing.on !== tonight) return;
    playing.isOver = true;
    if (!live.state?.agreement.launch_at) end(); // otherwise it stands until the countdown begins
  });
}

/** The timer that fires at the next second. */
let ticking = 0;

/** Plays the reveal. @param {HTMLElement} place @param {HTMLElement} tonight @param {State} state @param {() => void} ends */
async function begin(place, tonight, state, ends) {
  const target = state.choice && targetOf(state.choice);
  const spokes = spokesOf(state, target);
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = (/** @type {ReturnType<typeof seenAt>} */ seen) => {
    for (const name of /** @type {const} */ (["place", "name", "pings"])) place.style.setProperty(`--seen-${name}`, String(seen[name]));
    const average = place.querySelector("[data-average]");
    if (average) average.textContent = String(Math.round(Number(average.getAttribute("data-average")) * seen.pings));
  };
  show(seenAt(isStill ? moments.over : 0, spokes.length));
  /** @type {import("../map/turn.js").Turn | null} */
  let turn = null;
  try {
    const { Turn } = await import("../map/turn.js");
    const turning = place.querySelector(".turning");
    if (turning instanceof HTMLElement) turn = new Turn(turning, whereOf(state, target?.addr), spokes, { says: state.match ? "none" : "whole" });
  } catch {
    // The words say everything that the picture does.
  }
  const began = runTime() - (isStill ? moments.over : state.phase.name === "reveal" || state.places ? state.phase.since_ms : 0); // who comes late sees where it stands
  if (isStill) place.animate({ opacity: [0, 1] }, fade);
  else play(spokes.map(({ ms }) => ms));
  const step = () => {
    if (!tonight.isConnected) return;
    const seen = seenAt(runTime() - began, spokes.length);
    turn?.show(seen);
    show(seen);
    if (seen.over) setTimer(ends, rest);
    else nextFrame(step);
  };
  step();
}
