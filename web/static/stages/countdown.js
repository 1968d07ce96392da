// The countdown: for once the whole screen is gold, and sixty ticks go out.

import { button, h } from "../dom.js";
import { countryName } from "../choice.js";
import { flag } from "../flag.js";
import { hasSay, meOf } from "../people.js";
import { millis, said, say } from "../say.js";
import { sign } from "../sign.js";
import { awaitedOf, candidatesOf, pingOf, playersOf } from "./ballot.js";
import { campThere, decidedBy, goalOfMatch } from "./matchgo.js";
import { isAsked, over } from "./over.js";
import { sentence } from "./stages.js";
import { clearTimer, leftUntil, setTimer } from "../time.js";

/** @typedef {import("../types.js").State} State */

/** How long the ticks take to go out, ms: as long as the host counts. */
const whole = 5000;
const ticks = 60;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function countdown(live, view) {
  const state = /** @type {State} */ (live.state);
  const me = meOf(state);
  const left = Math.max(0, Math.ceil(leftOf(live) / 1000));
  const card = goalOf(state);
  const awaited = awaitedOf(state);
  const votes = card?.voters.length ?? 0;
  const match = state.match?.server ? state.match : undefined;
  return [
    h(
      "div",
      { class: match ? "off of-match" : "off", "data-key": "off" },
      h("div", { class: "dial", "data-keep": true, "data-key": launchOf(state), "aria-hidden": "true" }),
      h("p", { class: "left", role: "timer", "aria-label": say("countdown.left", { n: left }) }, left),
      h(
        "div",
        { class: "to" },
        h("h1", {}, ...said(card?.server?.country ? "countdown.to-country" : card ? "countdown.to-server" : "countdown.to", { small: (...held) => h("small", {}, ...held), place: card?.server?.country ? countryName(card.server.country) : (card?.name ?? "") })),
        flag(card?.server?.country),
      ),
      h("p", { class: "server-of" }, card?.server?.country && h("bdi", { dir: "auto", class: "called" }, card.name), votes > 0 && h("span", {}, say("countdown.by-vote")), card && !match && h("span", {}, card.ranked.mean_ms > 0 && say("ping.average", { ms: millis(card.ranked.mean_ms) }))),
      h("p", { class: "why-now" }, isForSeats(state) ? sentence(state) : match ? decidedBy(match) : awaited.length > 0 && awaited.every((person) => person.ready) ? say("countdown.all-ready") : !isAsked(state) && say("countdown.organiser-says-go")),
      ...(match ? [campThere(state, view, match, 0), campThere(state, view, match, 1)] : [whoGoes(state, card)]),
      h("div", { class: "then" }, over(state, view), h("p", {}, me?.peer === false ? "" : say("countdown.opens")), !view.tv && isForSeats(state) && state.you.organiser && button("advice", say("countdown.stop"), { class: "stop", "data-order": "unwait", "data-argument": "{}", "aria-keyshortcuts": "Escape" }), !view.tv && !isForSeats(state) && !state.match && me && hasSay(state, me) && button("ready", say("countdown.wait"), { class: "stop", "data-ready": "false", "aria-keyshortcuts": "Escape" })),
    ),
  ];
}

/** Everyone who goes, with their pings. @param {State} state @param {ReturnType<typeof goalOf>} card */
function whoGoes(state, card) {
  return h(
    "ul",
    { class: `who-goes${playersOf(state).length > 6 ? " many" : ""}`, "aria-label": say("ping.all") },
    playersOf(state).map((person) => h("li", { "data-key": person.name, class: person.name === state.you.name ? "me" : "" }, h("bdi", { class: "who" }, person.name), h("span", { class: "ms" }, card && pingOf(state, card.ranked, person)), sign(person, 44))),
  );
}

/** What the stage announces. @param {State} state */
export function says(state) {
  return say((isForSeats(state) ? state.you.organiser : !state.match && hasSay(state, state.you)) ? "countdown.says-escape" : "countdown.says", { sentence: sentence(state) });
}

/** The time until the countdown begins, ms; negative once it runs. @param {import("../live.js").Live} live */
export const untilCountdown = (live) => leftOf(live) - whole;

/** The time until the launch, ms. @param {import("../live.js").Live} live */
function leftOf(live) {
  return live.state ? leftUntil(live.state, launchOf(live.state)) : NaN;
}

/** Whether the room goes because seats became free. @param {State} state */
const isForSeats = (state) => state.room.stage === "waiting";

/** The time of the launch. @param {State} state */
function launchOf(state) {
  return isForSeats(state) ? state.seats?.launch_at : state.agreement.launch_at;
}

/** The server that the room goes to. @param {State} state @returns {{name: string, server: import("../types.js").Server | undefined, ranked: {mean_ms: number, rtt_ms: Record<string, number>}, voters: unknown[]} | undefined} */
function goalOf(state) {
  if (state.match) return goalOfMatch(state, state.match);
  if (!isForSeats(state)) return candidatesOf(state).find((one) => one.leads);
  const server = state.seats?.servers.find((one) => one.addr === state.seats?.target);
  return server && { name: server.name || server.addr, server, ranked: { mean_ms: server.mean_ms, rtt_ms: server.rtt_ms ?? {} }, voters: [] };
}

/** Runs once the children are on the page. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  const dial = place.querySelector(".dial");
  const left = leftOf(live);
  if (dial && !dial.firstChild) {
    for (let i = 0; i < ticks; i++) {
      const tick = document.createElement("i");
      tick.style.setProperty("--turn", `${(360 * i) / ticks}deg`);
      tick.style.setProperty("--out", `${left - whole + (whole * (i + 1)) / ticks}ms`);
      dial.append(tick);
    }
  }
  clearTimer(Number(place.dataset.next));
  if (left > 0) place.dataset.next = String(setTimer(view.changed, (left % 1000) + 10));
}

document.addEventListener("keydown", (event) => {
  const stop = event.key === "Escape" && document.querySelector("#stage .stop");
  if (stop instanceof HTMLElement) (event.preventDefault(), stop.click());
});
