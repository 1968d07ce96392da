// The reveal: where the group meets tonight. moment.js says what is visible when.

import { countryName, givenUp, serverName, targetOf } from "../choice.js";
import { button, h } from "../dom.js";
import { flag } from "../flag.js";
import { millis, said, say } from "../say.js";
import { sign } from "../sign.js";
import { play } from "../sound.js";
import { spokesOf } from "./around.js";
import { moments, rest, seenAt } from "./moment.js";

/** @typedef {import("../types.js").State} State */

/** The round that is being revealed on this page, 0 for none. */
const playing = { round: 0 };

/** How long the fade takes for people who prefer no motion, ms. */
const fade = 200;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function reveal(live, view) {
  const state = /** @type {State} */ (live.state);
  const { choice } = state;
  const target = choice && targetOf(choice);
  if (!choice || !target) return [];
  const server = choice.servers[target.addr];
  const country = server?.country ? countryName(server.country) : "";
  const named = server?.name || (country ? say("reveal.server-in", { country }) : say("server.nameless")); // never an address
  const own = view.tv ? undefined : spokesOf(state, target).find(({ person }) => person.name === state.you.name);
  const rows = spokesOf(state, target).toSorted((a, b) => (a.person.arrival ?? 0) - (b.person.arrival ?? 0));
  return [
    h("div", { class: "turning turned", "data-keep": true, "data-key": `turning ${state.room.round}` }),
    h(
      "div",
      { class: "tonight", "data-key": "tonight", "data-many": rows.length > 6 ? "many" : undefined },
      h("h1", {}, ...said(country ? "reveal.meet-in" : "reveal.play-on", { small: (...held) => h("small", {}, ...held), place: h("span", { class: "place", "--letters": lettersOf(country || named, server?.country) }, h("bdi", { dir: "auto" }, country || named), "\u00a0", flag(server?.country)) })),
      country && h("p", { class: "named" }, h("bdi", { dir: "auto" }, named)),
      h("p", { class: "figure-of" }, h("span", { class: "big" }, Math.round(own ? own.ms : target.mean_ms)), h("span", {}, " ", own ? say("reveal.for-you", { reason: reason(target) }) : target.extra_ms ? say("reveal.average-because", { reason: reason(target) }) : say("unit.ms-average"))),
      h(
        "ul",
        { class: "everybody", "aria-label": say("ping.all") },
        rows.map(({ person, ms, text }) =>
          h("li", { "data-key": person.name, class: `p${(person.arrival ?? 0) % 16}${person === own?.person ? " me" : ""}`, "--length": `${(100 * ms) / Math.max(target.max_ms, 1)}%` }, sign(person, 32), h("bdi", { class: "who", dir: "auto" }, person.name), h("span", { class: "track" }, h("span", { class: "bar" })), h("span", { class: "ms" }, text)),
        ),
      ),
      !view.tv && h("p", { class: "buttons" }, button("revealed", say("reveal.on"))),
    ),
  ];
}

/** The figure by which the rule decided. @param {import("../types.js").Ranked} target */
function reason(target) {
  return givenUp(target) || say("ping.average", { ms: millis(target.mean_ms) });
}

/** How many letters must fit on one line: those of the longest word, and of the last word with the flag. @param {string} title @param {string} [flagged] */
function lettersOf(title, flagged) {
  const words = title.split(/\s+/).map((word) => word.length);
  return Math.min(longestWhole, Math.max(shortestWhole, ...words, (words.at(-1) ?? 0) + (flagged ? flagWide : 0)));
}

/** Longer words break, shorter ones do not enlarge the title, and a flag has this many letters' width. */
const longestWhole = 16;
const shortestWhole = 6;
const flagWide = 2;

/** What the stage announces. @param {State} state */
export function says(state) {
  const target = state.choice && targetOf(state.choice);
  if (!state.choice || !target) return "";
  const server = state.choice.servers[target.addr];
  const own = target.rtt_ms[state.you.name ?? ""];
  const pings = own === undefined ? reason(target) : say("reveal.says-pings", { own: millis(own), reason: reason(target) });
  const name = server?.name || say("server.nameless");
  return server?.country ? say("reveal.says-in", { country: countryName(server.country), server: name, pings }) : say("reveal.says", { server: name, pings });
}

/** Runs once the children are on the page. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  const state = /** @type {State} */ (live.state);
  const { round } = state.room;
  if (state.agreement.launch_at) { // the countdown waits for nobody
    view.revealed = round;
    view.changed();
    return;
  }
  const turning = place.querySelector(".turning");
  if (!(turning instanceof HTMLElement) || playing.round === round) return;
  playing.round = round;
  place.style.setProperty("--seen-place", "0");
  void begin(place, turning, state, () => {
    playing.round = 0;
    view.revealed = Math.max(view.revealed, round);
    view.changed();
  });
}

/** Plays the reveal. @param {HTMLElement} place @param {HTMLElement} turning @param {State} state @param {() => void} ends */
async function begin(place, turning, state, ends) {
  const target = state.choice && targetOf(state.choice);
  const spokes = spokesOf(state, target);
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = (/** @type {ReturnType<typeof seenAt>} */ seen) => {
    for (const name of /** @type {const} */ (["place", "name", "pings"])) place.style.setProperty(`--seen-${name}`, String(seen[name]));
  };
  show(seenAt(isStill ? moments.over : 0, spokes.length));
  /** @type {import("../map/turn.js").Turn | null} */
  let turn = null;
  try {
    const { Turn } = await import("../map/turn.js");
    turn = new Turn(turning, target ? state.choice?.servers[target.addr]?.country : undefined, spokes);
  } catch {
    // The words say everything that the picture does.
  }
  const began = performance.now() - (isStill ? moments.over : 0);
  if (isStill) place.animate({ opacity: [0, 1] }, fade);
  else play(spokes.map(({ ms }) => ms));
  const step = () => {
    if (!turning.isConnected) return void (playing.round = 0);
    const seen = seenAt(performance.now() - began, spokes.length);
    turn?.show(seen);
    show(seen);
    if (seen.over) setTimeout(ends, rest);
    else requestAnimationFrame(step);
  };
  step();
}
