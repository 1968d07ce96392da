// The end of the night, where its organiser is after a round: the button beside the next round, and in
// its place the question, with the poster that everybody has by then.

import { ask } from "../api.js";
import { button, h } from "../dom.js";
import { capital, date, locale, say, time } from "../say.js";
import { sure } from "../sure.js";
import { again } from "./parts.js";
import { framed } from "./print.js";

/** @typedef {import("../types.js").State} State */

/** What the organiser does after a round. @param {State} state */
export function parting(state) {
  if (!state.you.organiser) return false;
  const question = state.meeting ? "night.sleeps" : "night.closes";
  const [first, ...answers] = sure("end", say("details.end"), question, {}, {}, { yes: say("night.now"), no: say("night.keep") });
  const isAsked = answers.length > 0;
  return h(
    "section",
    { class: isAsked ? "card parting" : "parting", "data-key": "parting", "aria-label": isAsked && say("night.sure") },
    isAsked && [framed(state), h("div", { class: "asks", "data-key": "asks" }, h("h2", {}, say("night.sure")), first)],
    again(state, say("go.next"), isAsked ? { class: "primary" } : {}),
    h("p", { class: "buttons", "data-key": "end" }, isAsked ? answers : first),
    isAsked && !state.meeting && sameTime(state),
  );
}

/** The question that stands on the page, once it has been brought into view. @type {Element | null} */
let inView = null;

/** Brings the question into view when it appears: people decide about all of it. @param {HTMLElement} place */
export function bringIn(place) {
  const question = place.querySelector(".parting.card");
  if (question && question !== inView) question.scrollIntoView({ block: "nearest" });
  inView = question;
}

/** Offers to keep the room for the next date. @param {State} state */
function sameTime(state) {
  const { next, every } = nextDate(state);
  return h(
    "div",
    { class: "same-time", "data-key": "same time" },
    h("p", {}, h("strong", {}, capital(say("night.same-time", { day: next.toLocaleDateString(locale, { weekday: "long" }) }))), " ", h("span", { class: "quiet" }, say("night.stays"), " ", h("time", { datetime: next.toISOString() }, capital(say("meeting.date", { date: date(next), time: time(next) }))))),
    button("same-time", say("night.yes-same"), { "data-every": every }),
  );
}

/** The next date at the time of this night: half past or the full hour before its first round. @param {State} state */
function nextDate(state) {
  const first = Date.parse(state.evening?.[0]?.at ?? "") || state.now;
  const then = new Date(first);
  then.setMinutes(then.getMinutes() < 30 ? 0 : 30, 0, 0);
  const next = new Date(then);
  do next.setDate(next.getDate() + 7); // by the calendar: clocks may change meanwhile
  while (next.getTime() < state.now);
  const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
  const clock = [then.getHours(), then.getMinutes()].map((n) => String(n).padStart(2, "0")).join(":");
  return { next, every: `${days[then.getDay()]} ${clock} ${Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"}` };
}

/** The actions of the buttons here. @param {() => Promise<unknown>} end @returns {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = (end) => ({
  "same-time": async ({ every }) => {
    await ask("settings", { settings: { every } });
    await end();
  },
});
