// The night is over, or its organiser is about to close it: the night as a poster, awards, and the
// next date.
//
//	┌────────┐  Good night
//	│ poster │  save · share · without names
//	│  4:5   │  awards
//	└────────┘  same time Friday?

import { ask } from "../api.js";
import { button, h } from "../dom.js";
import { inOrder } from "../people.js";
import { capital, date, locale, millis, number, said, say, time } from "../say.js";
import { sharesPictures } from "../share.js";
import { shortened, sign } from "../sign.js";
import { nameOnly } from "../choice.js";
import { meeting } from "./meeting.js";
import { setTimer } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../awards.js").Award} Award */
/** @typedef {import("../app.js").View} View */

/** How many guests are named. */
const namedGuests = 4;
/** The longest name in an award, in letters. */
const longestName = 16;

/** What makes posters and awards, once it is here. @type {typeof import("../tour.js") | undefined} */
let tour;
/** The poster as it is shown: what it was made of, its SVG, and its address. */
const poster = { of: "", svg: "", url: "" };
let isNameless = false;

/** @param {import("../live.js").Live} live @param {View} view */
export function night(live, view) {
  const state = /** @type {State} */ (live.state);
  const rounds = state.evening ?? [];
  const { players, guests } = company(state);
  return [
    rounds.length > 0 && h("figure", { class: "poster", "data-key": "poster" }, poster.url ? h("img", { src: poster.url, width: 1080, height: 1350, alt: say("night.poster", { where: rounds.map(({ server }) => nameOnly(server)) }) }) : h("span", { class: "blank" })),
    h(
      "div",
      { class: "farewell", "data-key": "farewell" },
      h("h1", { class: "headline" }, say("stage.night")),
      h("p", { class: "about" }, rounds.length === 0 && view.ending ? say("room.end-sure") : summary(rounds.length, players.length, guests.length)),
      rounds.length > 0 && !view.tv && keepsakes(state),
      rounds.length > 0 && honours(state, players),
      watched(state, guests),
      state.meeting && meeting(state, view),
      !view.tv && (view.ending ? closing(state) : next(state)),
      state.room.ended && h("p", { class: "quiet closed" }, closed(state)),
    ),
  ];
}

/** What screen readers hear besides the title. @param {State} state */
export const says = (state) => (state.room.ended ? closed(state) : say("night.only-you"));

/** Who played and who watched; people who play along later keep their places. @param {State} state */
function company(state) {
  const names = new Set((state.evening ?? []).flatMap((round) => round.players));
  const isHere = (/** @type {string} */ name) => state.people.some((person) => person.name === name);
  const away = (state.meeting?.who ?? []).filter((one) => !isHere(one.name)).map((one) => /** @type {Person} */ ({ name: one.name, arrival: one.arrival, peer: true, connected: false, page: false, probed: 0, answered: 0 }));
  const all = inOrder([...state.people, ...away]);
  return { players: all.filter(({ name }) => names.has(name)), guests: state.people.filter(({ name, peer }) => !peer && !names.has(name)) };
}

/** @param {number} rounds @param {number} players @param {number} guests */
function summary(rounds, players, guests) {
  if (rounds === 0) return say("night.closed-early");
  const so = { rounds: say("night.rounds", { n: rounds }), players: say("people.players", { n: players }) };
  return guests > 0 ? say("night.about-guests", { ...so, guests: say("night.guests", { n: guests }) }) : say("night.about", so);
}

/** What people take home. @param {State} state */
function keepsakes(state) {
  const isGold = Boolean(state.room.ended) && !state.meeting;
  const shares = sharesPictures();
  return h(
    "p",
    { class: "buttons keepsakes", "data-key": "keepsakes" },
    button("save-poster", say("night.save"), { class: isGold ? "primary" : "" }),
    shares && button("share-poster", say("night.share")),
    button("nameless", say("night.nameless"), { class: "plainly", "aria-pressed": String(isNameless) }),
  );
}

/** @param {State} state @param {Person[]} players */
function honours(state, players) {
  const given = tour?.awardsOf(state, players) ?? [];
  return given.length > 0 && h("ul", { class: "awards", "data-key": "awards", "aria-label": say("night.awards") }, given.map((award) => honour(award, players)));
}

/** @param {Award} award @param {Person[]} players */
function honour({ kind, player, ms = 0, km = 0, server = "" }, players) {
  const person = players.find(({ name }) => name === player);
  const where = h("bdi", { dir: "auto" }, shortened(nameOnly(server), longestName));
  return h(
    "li",
    { class: "award", "data-key": kind },
    person && sign(played(person), 48),
    h("div", {}, h("strong", {}, say(`award.${kind}`)), h("span", { class: "quiet" }, ...said(`award.${kind}-how`, { player: h("bdi", { class: "who", dir: "auto" }, shortened(player, longestName)), ms: millis(ms), km: number(Math.round(km / 100) * 100), server: where }))),
  );
}

/** A person as they played, whether or not they are still here. @param {Person} person */
const played = (person) => ({ ...person, peer: true, connected: true, left_out: false, able: false });

/** Those who watched. @param {State} state @param {Person[]} guests */
function watched(state, guests) {
  if (guests.length === 0) return false;
  const rounds = state.evening ?? [];
  const votes = guests.map(({ name }) => rounds.filter(({ voted = [] }) => voted.includes(name)).length);
  const same = votes.every((n) => n === votes[0]) ? votes[0] : 0;
  const some = guests.slice(0, namedGuests);
  const players = some.map(({ name }) => name);
  const named = guests.length > some.length ? [...players, say("souvenir.more-people", { n: guests.length - some.length })] : players;
  return h("p", { class: "watched", "data-key": "watched" }, h("span", { class: "signs" }, some.map((person) => sign({ ...person, connected: false }, 32))), h("span", {}, ...said(same > 0 ? "night.watched-voted" : "night.watched", { players: named, n: same })));
}

/** The next date at the time of this night: half past or the full hour before its first round. @param {State} state */
function sameTime(state) {
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

/** What the organiser decides before the room closes. Nothing has happened yet. @param {State} state */
function closing(state) {
  const { next, every } = sameTime(state);
  const mayMeet = !state.meeting && (state.evening ?? []).length > 0;
  const over = state.room.stage === "launching" || state.room.stage === "failed";
  return [
    mayMeet && h(
      "section",
      { class: "card same-time", "data-key": "same time" },
      h("div", {}, h("h2", {}, capital(say("night.same-time", { day: next.toLocaleDateString(locale, { weekday: "long" }) }))), h("p", { class: "quiet" }, h("span", {}, say("night.stays")), " ", h("time", { datetime: next.toISOString() }, capital(say("meeting.date", { date: date(next), time: time(next) }))))),
      button("same-time", say("night.yes-same"), { class: "primary large", "data-every": every }),
    ),
    h(
      "p",
      { class: "buttons", "data-key": "decide" },
      button("close-room", say(state.meeting ? "night.sleep" : "night.close"), { class: mayMeet ? "" : "primary" }),
      over ? button("one-more", say("night.one-more"), { "data-stage": state.room.stage }) : button("not-yet", say("night.back")),
      button("other-settings", say("night.other")),
    ),
    h("p", { class: "quiet", "data-key": "only you" }, say("night.only-you")),
  ];
}

/** @param {State} state */
function next(state) {
  return state.meeting && mayOpen(state) && h("p", { class: "buttons", "data-key": "wake" }, button("wake", say("night.wake"), { class: "primary large" }));
}

/** Whether the person at the page is one of the room's own people. @param {State} state */
function mayOpen(state) {
  return state.you.organiser || !state.you.guest && state.meeting?.who.some((one) => one.name === state.you.name);
}

/** Who closed the room, and when. @param {State} state */
function closed(state) {
  const at = time(new Date(state.room.ended ?? state.now));
  const by = state.log.findLast(({ key }) => key === "room.ended-by")?.with?.player;
  return state.meeting ? say("night.sleeps") : by ? say("night.closed-by", { player: String(by), at }) : say("night.closed-at", { at });
}

/** Runs once the children are on the page. @param {HTMLElement} _place @param {import("../live.js").Live} live @param {View} view */
export function shown(_place, live, view) {
  const state = /** @type {State} */ (live.state);
  if ((state.evening ?? []).length === 0) return;
  const { players, guests } = company(state);
  const of = JSON.stringify([state.room.name, state.evening, players.map(({ name, country }) => [name, country]), guests.map(({ name }) => name), isNameless]);
  if (of === poster.of) return;
  poster.of = of;
  draw(state, players, guests, of).then(view.changed, () => setTimer(() => poster.of === of && (poster.of = ""), 10_000)); // and once more
}

/** @param {State} state @param {Person[]} players @param {Person[]} guests @param {string} of */
async function draw(state, players, guests, of) {
  tour = await import("../tour.js");
  const svg = await tour.poster(state, players, guests, isNameless);
  if (poster.of !== of) return; // a newer one is under way
  URL.revokeObjectURL(poster.url);
  Object.assign(poster, { svg, url: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })) });
}

/** The poster, saved or shared, and what came of it. @param {boolean} shares */
const give = async (shares) => (tour && poster.svg ? tour.give(poster.svg, shares) : say("share.nothing"));

/**
 * The actions of the buttons here.
 * @param {View} view @param {(text: string) => void} tellBriefly @param {() => Promise<unknown>} end
 * @returns {Record<string, (data: DOMStringMap) => unknown>}
 */
export function actions(view, tellBriefly, end) {
  const stay = () => {
    view.ending = false;
    view.changed();
  };
  return {
    "save-poster": async () => tellBriefly(await give(false)),
    "share-poster": async () => tellBriefly(await give(true)),
    nameless: () => {
      isNameless = !isNameless;
      view.changed();
    },
    "same-time": async ({ every }) => {
      await ask("settings", { settings: { every } });
      await end();
    },
    "close-room": end,
    "one-more": async ({ stage }) => {
      stay();
      await ask("go", { stage });
    },
    "not-yet": stay,
    "other-settings": () => {
      stay();
      view.show = "terms";
    },
  };
}
