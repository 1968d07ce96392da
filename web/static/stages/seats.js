// Waiting for seats: how many are free of those we need, when somebody looks again, and
// what has seats now.
//
//	 ▣ ▣ ▣ ▢ ▢   3 of 5 seats free
//	 looked 4 s ago · next look in 6 s · asked 12 times

import { button, count, h, millis } from "../dom.js";
import { flag } from "../flag.js";
import { isOn } from "../sound.js";
import { sign } from "../sign.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").SeatsOn} SeatsOn */
/** @typedef {import("../types.js").Seats} Seats */

/** How many seats are drawn one by one. */
const drawn = 12;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function seats(live, view) {
  const state = /** @type {State} */ (live.state);
  const wait = /** @type {Seats} */ (state.seats);
  const now = live.now();
  const may = state.you.organiser && !view.tv;
  const first = nearest(wait);
  return [
    h(
      "div",
      { class: "hoping", "data-key": "hoping" },
      h("h1", {}, title(wait)),
      first && row(wait, first),
      h("p", { class: "about" }, first && [flag(first.country), " ", name(first)], first && `, ${millis(first.mean_ms)} average`, own(state, first)),
      h("p", { class: "looked", "aria-live": "off" }, first ? looked(wait, first, now) : "No server is watched any more."),
      wait.news && h("p", { class: "news", "data-say": true }, h("bdi", { dir: "auto" }, wait.news)),
    ),
    h("ul", { class: "waits", "data-key": "waits", "aria-label": "Who waits for a seat" }, waiting(state, wait).map((person) => h("li", { "data-key": person.name }, sign(person, 44), h("bdi", { class: "who", dir: "auto" }, person.name), person.name === wait.by && h("span", { class: "looks" }, "looks")))),
    h(
      "div",
      { class: "meanwhile", "data-key": "meanwhile" },
      h("p", { class: "quiet" }, `One of us looks at a time, so that the server is asked no more often by ${count(players(state), "player")} than by one. We give up at ${clock(wait.until)}.`),
      !view.tv &&
        h(
          "p",
          { class: "buttons" },
          button("callme", isOn() ? "I am called" : "Call me when there are seats", { class: may ? "" : "primary", "aria-pressed": String(isOn()) }),
          may && button("advice", "Stop waiting", { "data-order": "unwait", "data-argument": "{}", "data-key": "unwait" }),
        ),
    ),
    h(
      "div",
      { class: "others", "data-key": "others" },
      wait.servers.filter((one) => one !== first).map((one) => other(state, wait, one, now)),
      (wait.instead ?? []).map((one, i) => instead(state, one, may && i === 0, first)),
    ),
  ];
}

/** Once the children are on the page: its seconds go on. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  clearTimeout(Number(place.dataset.next));
  place.dataset.next = String(setTimeout(view.changed, 1000));
}

/** How the wait stands, in a few words. @param {Seats} wait */
export function headline(wait) {
  if (wait.launch_at) return wait.need === 1 ? "A seat is free: off we go" : `Seats for all ${wait.need}: off we go`;
  const first = nearest(wait);
  if (!first || first.free < 0) return wait.for?.length ? `Waiting for ${seatsFor(wait)}` : `Waiting for ${count(wait.need, "seat")}`;
  const free = Math.min(first.free, wait.need);
  return `${free} of ${count(wait.need, "seat")} free`;
}

/** The same for the page, where no name turns the words around it. @param {Seats} wait */
function title(wait) {
  const names = (wait.for ?? []).flatMap((name, i) => [i > 0 && " and ", h("bdi", {}, name)]);
  return isUnknown(wait) && names.length > 0 ? [`Waiting for ${count(wait.need, "seat")} for `, ...names] : headline(wait);
}

/** Whether nobody knows yet how many seats are free. @param {Seats} wait */
function isUnknown(wait) {
  const first = nearest(wait);
  return !wait.launch_at && (!first || first.free < 0);
}

/** @param {Seats} wait */
function seatsFor(wait) {
  return `${count(wait.need, "seat")} for ${(wait.for ?? []).join(" and ")}`;
}

/** What comes nearest of what is watched; of equals the first. @param {Seats} wait @returns {SeatsOn | undefined} */
export function nearest(wait) {
  const live = wait.servers.filter((one) => !one.dropped);
  return live.find((one) => one.addr === wait.target) ?? live.reduce((/** @type {SeatsOn | undefined} */ best, one) => (best && best.free >= one.free ? best : one), undefined);
}

/** @param {SeatsOn} one */
const name = (one) => h("strong", {}, h("bdi", { dir: "auto" }, one.name || one.addr));

/** The seats that we need, as such. @param {Seats} wait @param {SeatsOn} one */
function row(wait, one) {
  if (wait.need > drawn) return false;
  return h("div", { class: "chairs", "aria-hidden": "true" }, Array.from({ length: wait.need }, (_, i) => h("i", { class: i < one.free ? "free" : "" })));
}

/** One's own ping there. @param {State} state @param {SeatsOn | undefined} one */
function own(state, one) {
  const ms = one?.rtt_ms?.[state.you.name ?? ""];
  return ms === undefined ? "" : `, ${millis(ms)} for you`;
}

/** When it was looked at, and will be. @param {Seats} wait @param {SeatsOn} one @param {number} now */
export function looked(wait, one, now) {
  const ago = one.at ? Math.max(0, Math.round((now - Date.parse(one.at)) / 1000)) : -1;
  const left = one.next ? Math.max(0, Math.ceil((Date.parse(one.next) - now) / 1000)) : 0;
  const parts = [ago >= 0 ? `looked ${span(ago)} ago` : "not looked at yet"];
  if (one.checks) parts.push("another of us checks that now");
  else if (wait.by || left === 0) parts.push("looking now");
  else parts.push(`next look in ${span(left)}`);
  parts.push(`asked ${one.asked === 1 ? "once" : count(one.asked, "time")}`);
  if (one.most > 0) parts.push(`at most ${one.most} were free, mostly ${one.from === one.to ? one.to : `${one.from} to ${one.to}`}`);
  return `${parts.join(" · ").replace(/^./, (letter) => letter.toUpperCase())}.`;
}

/** @param {number} seconds */
function span(seconds) {
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** @param {string} at */
export function clock(at) {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

/** Who is to have a seat. @param {State} state @param {Seats} wait */
function waiting(state, wait) {
  return state.people.filter((person) => (wait.for?.length ? wait.for.includes(person.name) : person.peer)).toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0));
}

/** @param {State} state */
const players = (state) => state.people.filter((person) => person.peer && person.connected).length;

/** Another that is watched. @param {State} state @param {Seats} wait @param {SeatsOn} one @param {number} now */
function other(state, wait, one, now) {
  return h(
    "section",
    { class: "card also", "data-key": one.addr },
    h("h2", {}, flag(one.country), " ", h("bdi", { dir: "auto" }, one.name || one.addr)),
    h("p", {}, one.dropped ? `Watched no more: ${one.dropped}.` : one.free < 0 ? "Not known how many seats are free" : `${Math.min(one.free, wait.need)} of ${count(wait.need, "seat")} free`, `, ${millis(one.mean_ms)} average`, own(state, one)),
    !one.dropped && h("p", { class: "quiet" }, looked(wait, one, now)),
  );
}

/** One that has seats now. @param {State} state @param {SeatsOn} one @param {boolean | undefined} may @param {SeatsOn | undefined} first */
export function instead(state, one, may, first) {
  const more = first ? one.mean_ms - first.mean_ms : 0;
  return h(
    "section",
    { class: "card instead", "data-key": one.addr },
    h("h2", {}, "Seats now: ", flag(one.country), " ", h("bdi", { dir: "auto" }, one.name || one.addr)),
    h("p", {}, `${count(Math.max(0, one.free), "seat")} free${one.at ? ` at ${clock(one.at)}` : ""}, ${millis(one.mean_ms)} average`, first && Math.abs(more) >= 1 && ` (${millis(Math.abs(more))} ${more > 0 ? "more" : "less"})`, own(state, one)),
    may && h("p", { class: "buttons" }, button("advice", "Go there instead", { class: "primary", "data-order": "unwait", "data-argument": JSON.stringify({ instead: true }), "data-key": "instead" })),
  );
}
