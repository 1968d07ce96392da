// Waiting for seats: how many of the needed seats are free, when somebody looks again, and which
// servers have seats now.
//
//	 ▣ ▣ ▣ ▢ ▢   3 of 5 seats free
//	 looked 4 s ago · next look in 6 s · asked 12 times

import { button, h } from "../dom.js";
import { flag } from "../flag.js";
import { inOrder } from "../people.js";
import { capital, millis, said, say, tell } from "../say.js";
import { isOn } from "../sound.js";
import { sign } from "../sign.js";
import { headline, nearest } from "./wait.js";
import { clearTimer, setTimer } from "../time.js";

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
      h("p", { class: "about" }, first && [flag(first.country), " ", ...said(own(state, first) ? "seats.server-own" : "seats.server", { server: name(first), ms: millis(first.mean_ms), own: own(state, first) })]),
      h("p", { class: "looked", "aria-live": "off" }, first ? looked(wait, first, now) : say("seats.none-watched")),
      wait.news && h("p", { class: "news", "data-say": true }, ...tell(wait.news)),
    ),
    h("ul", { class: "waits", "data-key": "waits", "aria-label": say("seats.who") }, waiting(state, wait).map((person) => h("li", { "data-key": person.name }, sign(person, 44), h("bdi", { class: "who", dir: "auto" }, person.name), person.name === wait.by && h("span", { class: "looks" }, say("seats.looks"))))),
    h(
      "div",
      { class: "meanwhile", "data-key": "meanwhile" },
      h("p", { class: "quiet" }, say("seats.gently", { n: players(state), until: wait.until })),
      !view.tv &&
        h(
          "p",
          { class: "buttons" },
          button("callme", say(isOn() ? "seats.called" : "seats.call-me"), { class: may ? "" : "primary", "aria-pressed": String(isOn()) }),
          may && button("advice", say("seats.stop"), { "data-order": "unwait", "data-argument": "{}", "data-key": "unwait" }),
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

/** Runs once the children are on the page; its seconds count on. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  clearTimer(Number(place.dataset.next));
  place.dataset.next = String(setTimer(view.changed, 1000));
}

/** The headline for the page. @param {Seats} wait */
function title(wait) {
  return isUnknown(wait) && wait.for?.length ? said("seats.waiting-for", { n: wait.need, players: wait.for }) : headline(wait);
}

/** Whether the number of free seats is still unknown. @param {Seats} wait */
function isUnknown(wait) {
  const first = nearest(wait);
  return !wait.launch_at && (!first || first.free < 0);
}

/** @param {SeatsOn} one */
const name = (one) => h("strong", {}, h("bdi", { dir: "auto" }, one.name || one.addr));

/** The needed seats, drawn one by one. @param {Seats} wait @param {SeatsOn} one */
function row(wait, one) {
  if (wait.need > drawn) return false;
  return h("div", { class: "chairs", "aria-hidden": "true" }, Array.from({ length: wait.need }, (_, i) => h("i", { class: i < one.free ? "free" : "" })));
}

/** The person's own ping there. @param {State} state @param {SeatsOn | undefined} one */
function own(state, one) {
  const ms = one?.rtt_ms?.[state.you.name ?? ""];
  return ms === undefined ? "" : millis(ms);
}

/** When it was looked at, and when it will be. @param {Seats} wait @param {SeatsOn} one @param {number} now */
export function looked(wait, one, now) {
  const ago = one.at ? Math.max(0, Math.round((now - Date.parse(one.at)) / 1000)) : -1;
  const left = one.next ? Math.max(0, Math.ceil((Date.parse(one.next) - now) / 1000)) : 0;
  const parts = [ago >= 0 ? say("seats.looked", { span: span(ago) }) : say("seats.not-looked")];
  if (one.checks) parts.push(say("seats.checks"));
  else if (wait.by || left === 0) parts.push(say("seats.looking"));
  else parts.push(say("seats.next-look", { span: span(left) }));
  parts.push(say("seats.asked", { n: one.asked }));
  if (one.most > 0) parts.push(one.from === one.to ? say("seats.most", { most: one.most, n: one.to }) : say("seats.most-range", { most: one.most, from: one.from, to: one.to }));
  return capital(parts.join(" · "));
}

/** @param {number} seconds */
function span(seconds) {
  return seconds < 100 ? say("unit.s", { n: seconds }) : say("unit.min", { n: Math.round(seconds / 60) });
}

/** The people who need a seat. @param {State} state @param {Seats} wait */
function waiting(state, wait) {
  return inOrder(state.people.filter((person) => (wait.for?.length ? wait.for.includes(person.name) : person.peer)));
}

/** @param {State} state */
const players = (state) => state.people.filter((person) => person.peer && person.connected).length;

/** Another watched server. @param {State} state @param {Seats} wait @param {SeatsOn} one @param {number} now */
function other(state, wait, one, now) {
  return h(
    "section",
    { class: "card also", "data-key": one.addr },
    h("h2", {}, flag(one.country), " ", h("bdi", { dir: "auto" }, one.name || one.addr)),
    h("p", {}, ...said(own(state, one) ? "seats.other-own" : "seats.other", { state: one.dropped ? say("seats.dropped", { why: one.dropped }) : one.free < 0 ? say("seats.unknown") : say("seats.free-of", { free: Math.min(one.free, wait.need), n: wait.need }), ms: say("ping.average", { ms: millis(one.mean_ms) }), own: own(state, one) })),
    !one.dropped && h("p", { class: "quiet" }, looked(wait, one, now)),
  );
}

/** A server that has seats now. @param {State} state @param {SeatsOn} one @param {boolean | undefined} may @param {SeatsOn | undefined} first */
export function instead(state, one, may, first) {
  const more = first ? one.mean_ms - first.mean_ms : 0;
  return h(
    "section",
    { class: "card instead", "data-key": one.addr },
    h("h2", {}, ...said("seats.now", { flag: flag(one.country) || h("span", {}), server: one.name || one.addr })),
    h("p", {}, say(own(state, one) ? "seats.other-own" : "seats.other", { state: one.at ? say("seats.free-at", { n: Math.max(0, one.free), at: one.at }) : say("seats.free", { n: Math.max(0, one.free) }), ms: first && Math.abs(more) >= 1 ? say(more > 0 ? "seats.ms-more" : "seats.ms-less", { ms: millis(one.mean_ms), apart: millis(Math.abs(more)) }) : say("ping.average", { ms: millis(one.mean_ms) }), own: own(state, one) })),
    may && h("p", { class: "buttons" }, button("advice", say("seats.instead"), { class: "primary", "data-order": "unwait", "data-argument": JSON.stringify({ instead: true }), "data-key": "instead" })),
  );
}
