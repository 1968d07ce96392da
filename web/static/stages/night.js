// The night is over: the night as a poster, awards, and the next date.
//
//	┌────────┐  Good night
//	│ poster │  save · share · without names
//	│  4:5   │  awards
//	└────────┘  who closed it

import { button, h } from "../dom.js";
import { millis, number, said, say, time } from "../say.js";
import { sharesPictures } from "../share.js";
import { shortened, sign } from "../sign.js";
import { nameOnly } from "../choice.js";
import { awardsOf } from "../tour.js";
import { meeting } from "./meeting.js";
import { company, framed, give, leavesNamesOut, toggleNames } from "./print.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../awards.js").Award} Award */
/** @typedef {import("../app.js").View} View */

/** How many guests are named. */
const namedGuests = 4;
/** The longest name in an award, in letters. */
const longestName = 16;

/** @param {import("../live.js").Live} live @param {View} view */
export function night(live, view) {
  const state = /** @type {State} */ (live.state);
  const rounds = state.evening ?? [];
  const { players, guests } = company(state);
  return [
    framed(state),
    h(
      "div",
      { class: "farewell", "data-key": "farewell" },
      h("h1", { class: "headline" }, say("stage.night")),
      h("p", { class: "about" }, summary(rounds.length, players.length, guests.length)),
      rounds.length > 0 && !view.tv && keepsakes(state),
      rounds.length > 0 && honours(state, players),
      watched(state, guests),
      state.meeting && meeting(state, view),
      !view.tv && next(state),
      h("p", { class: "quiet closed" }, closed(state)),
    ),
  ];
}

/** What screen readers hear besides the title. @param {State} state */
export const says = (state) => closed(state);

/** @param {number} rounds @param {number} players @param {number} guests */
function summary(rounds, players, guests) {
  if (rounds === 0) return say("night.closed-early");
  const so = { rounds: say("night.rounds", { n: rounds }), players: say("people.players", { n: players }) };
  return guests > 0 ? say("night.about-guests", { ...so, guests: say("night.guests", { n: guests }) }) : say("night.about", so);
}

/** What people take home. @param {State} state */
function keepsakes(state) {
  const isGold = !state.meeting;
  const shares = sharesPictures();
  return h(
    "p",
    { class: "buttons keepsakes", "data-key": "keepsakes" },
    button("save-poster", say("night.save"), { class: isGold ? "primary" : "" }),
    shares && button("share-poster", say("night.share")),
    button("nameless", say("night.nameless"), { class: "plainly", "aria-pressed": String(leavesNamesOut()) }),
  );
}

/** @param {State} state @param {Person[]} players */
function honours(state, players) {
  const given = awardsOf(state, players);
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

/**
 * The actions of the buttons here.
 * @param {View} view @param {(text: string) => void} tellBriefly
 * @returns {Record<string, (data: DOMStringMap) => unknown>}
 */
export function actions(view, tellBriefly) {
  return {
    "save-poster": async () => tellBriefly(await give(false)),
    "share-poster": async () => tellBriefly(await give(true)),
    nameless: () => {
      toggleNames();
      view.changed();
    },
  };
}
