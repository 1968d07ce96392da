// The search: which server leads, and where it is.

import { rtts, verdict } from "../choice.js";
import { count, figure } from "../count.js";
import { h } from "../dom.js";
import { guess } from "../estimate.js";
import { flag } from "../flag.js";
import { next } from "../next.js";
import { ruleOf, saidOf } from "../rules.js";
import { country, millis, said, say } from "../say.js";
import { sign } from "../sign.js";
import { looking } from "./look.js";
import { bothSides, looks } from "./matchsearch.js";
import { podium } from "./pace.js";
import { go, headline, onItsSide, outlook } from "./parts.js";
import { runTime } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Leader} Leader */
/** @typedef {import("../types.js").Person} Person */

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function search(live, _view) {
  const state = paced(live);
  switch (state.room.stage) {
    case "listing":
      return [headline(state), h("p", { class: "wait" }, say("search.listing"))];
    case "chosen": // everyone measures the best again
      if (state.look) return looking(state);
      if (leads(state).length > 0 || state.match) return measuring(state);
      return [...verdict(state), next(state), outlook(state), rtts(state)];
    default:
      return measuring(state);
  }
}

/** What the stage shows. @type {{podium: import("./pace.js").Podium}} */
const stands = { podium: { round: 0, leaders: [], since: 0 } };

/** The state, with the servers on the podium as its leaders. @param {import("../live.js").Live} live @returns {State} */
export function paced(live) {
  const state = /** @type {State} */ (live.state);
  const { standing } = state;
  stands.podium = podium(stands.podium, state.room.round, standing?.round === state.room.round ? standing.leaders : [], runTime());
  return { ...state, standing: standing && { ...standing, leaders: stands.podium.leaders } };
}

/** What the map is drawn with, once it is loaded, and where. @type {{place: HTMLElement | null, map: any, order: string}} */
const drawn = { place: null, map: null, order: "" };
/** The column in which each server was last drawn. @type {Map<number, number>} */
const stood = new Map();
/** How long a step slides to its new place, ms. */
const slide = 600;

/** Draws the map, starts counting figures, and slides the steps that have changed places. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  const { standing } = /** @type {State} */ (live.state);
  const state = { .../** @type {State} */ (live.state), standing: standing && { ...standing, leaders: stands.podium.leaders } };
  /** @type {HTMLElement | null} */
  const world = place.querySelector(".world:not(.placemap)"); // that of places is drawn elsewhere
  if (world && drawn.place !== world) {
    drawn.place = world;
    drawn.map = null;
    import("../map/map.js").then(({ WorldMap }) => {
      if (drawn.place !== world) return;
      drawn.map = new WorldMap(world);
      view.changed();
    }, () => {}); // the podium says everything that the map does
  }
  if (world) drawn.map?.show(state);
  count(place);
  const leaders = leads(state);
  const order = leaders.map(({ id }) => id).join(" ");
  if (order === drawn.order) return;
  drawn.order = order;
  const isFirst = stood.size === 0;
  const still = matchMedia(`(prefers-reduced-motion: reduce), ${onItsSide}`).matches || isFirst; // there rows stand below each other
  const before = new Map(stood);
  stood.clear();
  for (const [rank, { id }] of leaders.entries()) {
    const column = leaders.length > 1 ? [1, 0, 2][rank] : 0; // the first is in the middle
    stood.set(id, column);
    const from = before.get(id);
    if (from === column || still) continue;
    const comes = from === undefined ? { opacity: [0, 1], translate: ["0 2rem", "0 0"] } : { zIndex: [rank === 0 ? 1 : 0, rank === 0 ? 1 : 0], translate: [`calc(${from - column} * var(--along) * (100% + var(--between)))`, "0px"] }; // this needs no layout
    place.querySelector(`.podium > [data-key="step ${id}"]`)?.animate(comes, { duration: slide, easing: "cubic-bezier(.2,.8,.2,1)" });
  }
}

/** The leading servers of this round. @param {State} state */
export function leads(state) {
  return state.standing?.round === state.room.round ? state.standing.leaders : [];
}

/** @param {State} state */
function measuring(state) {
  const players = state.people.filter((person) => (person.peer ? !person.left_out : person.estimate?.counted));
  const standing = state.standing?.round === state.room.round ? state.standing : null;
  const leaders = leads(state);
  const [first] = leaders;
  return [
    h(
      "section",
      { class: "telling", "data-key": "telling" },
      headline(state),
      ...(state.match ? [bothSides(state), looks(state)] : []),
      !state.match && first && h("p", { class: "best", "data-key": "best" }, figure(decides(state, first), "big"), h("span", {}, say("search.best", { figure: measure(state, first) }))),
      (first && !state.match && bound(state, decides(state, first))) || outlook(state), // one of them says what may still turn up
      h("p", { class: "about", id: "answered" }, say("search.answered", { answered: standing?.answered ?? 0, listed: state.room.listed })),
      next(state),
      state.you.organiser && state.room.stage !== "chosen" && h("p", { class: "buttons" }, go(state, say("search.choose-now"))),
    ),
    h("div", { class: "world", "data-keep": "", "data-key": "world" }),
    standing && inWords(standing.places ?? []),
    stairs(state, players, leaders),
  ];
}

/** The leading servers on their steps. @param {State} state @param {Person[]} players @param {Leader[]} leaders @param {typeof calledOf} [called] what the head of a step says */
export function stairs(state, players, leaders, called = calledOf) {
  return leaders.length > 0 && h("ol", { class: "podium", "data-key": "podium", "data-many": state.match ? "few" : many(players.length), "aria-label": say("search.podium") }, leaders.map((leader, i) => step(state, players, leader, i + 1, called)));
}

/** A server's name, its country and its free seats. @param {Leader} leader */
function calledOf(leader) {
  const free = leader.max_players > 0 ? say("server.free", { n: Math.max(0, leader.max_players - leader.players) }) : "";
  const where = [leader.country && h("bdi", {}, country(leader.country)), leader.country && free && " · ", free];
  return [h("bdi", { class: "title", dir: "auto" }, leader.name || (leader.country ? say("reveal.server-in", { country: country(leader.country) }) : say("search.nameless"))), h("small", {}, flag(leader.country), " ", where)];
}

/** How many countries the map's table names: those where most servers have answered. */
const told = 12;

/** The map as a table, for people who do not see it. @param {import("../types.js").Place[]} places */
function inWords(places) {
  const most = places.filter((place) => place.country).sort((a, b) => (b.answered ?? 0) - (a.answered ?? 0) || b.listed - a.listed).slice(0, told);
  const row = (/** @type {import("../types.js").Place} */ place) => h("tr", {}, h("th", { scope: "row" }, country(place.country)), h("td", {}, place.listed), h("td", {}, place.answered ?? 0), h("td", {}, place.open ?? 0));
  const head = [say("table.country"), say("table.servers"), say("search.have-answered"), say("search.could-win")].map((name) => h("th", { scope: "col" }, name));
  return most.length > 0 && h("div", { class: "unseen", "data-key": "places" }, h("table", {}, h("caption", {}, say("search.where-servers")), h("thead", {}, h("tr", {}, head)), h("tbody", {}, most.map(row))));
}

/** @param {number} players */
function many(players) {
  return players <= 4 ? "few" : players <= 8 ? "some" : "many";
}

/** Whether a server has the rule's figure; without own bests, and in a match, the average replaces it. @param {State} state @param {Leader} leader */
function isJudged(state, leader) {
  const rule = ruleOf(state.room.by);
  return (!rule?.own || leader.extra_ms !== undefined) && !rule?.sides;
}

/** The figure of a server by which the rule decides, ms. @param {State} state @param {Leader} leader */
export function decides(state, leader) {
  return isJudged(state, leader) ? leader.figure_ms : leader.mean_ms;
}

/** @param {State} state @param {Leader} leader */
export function measure(state, leader) {
  return saidOf(isJudged(state, leader) ? state.room.by : "mean", "figure");
}

/** The bar from the best ping that is still possible to the best so far. @param {State} state @param {number} best */
function bound(state, best) {
  const gain = state.room.search?.gain_ms;
  if (gain === undefined || gain === null || best <= 0) return false;
  const least = Math.max(0, best - gain);
  return h(
    "div",
    { class: "bound", "aria-hidden": "true", "--from": `${(100 * least) / best}%` },
    h("p", {}, say("search.bound", { ms: Math.ceil(gain) })),
    h("i", { class: "line" }),
    h("span", { class: "least" }, figure(least)),
    h("span", { class: "most" }, ...said("unit.ms", { n: figure(best) })),
  );
}

/** @param {State} state @param {Person[]} players @param {Leader} leader @param {number} rank @param {typeof calledOf} called */
function step(state, players, { ...leader }, rank, called) {
  const own = state.own?.[String(leader.id)]; // in a match
  if (own !== undefined) leader.rtt_ms = { [state.you.name ?? ""]: own };
  const longest = Math.max(1, ...Object.values(leader.rtt_ms), ...Object.values(leader.predicted_ms ?? {}));
  return h(
    "li",
    { class: `step rank${rank}`, "data-key": `step ${leader.id}` },
    h("div", { class: "top" },
      h("span", { class: "rank" }, rank),
      h("div", { class: "called" }, called(leader)),
      !state.match && h("p", { class: "score" }, figure(decides(state, leader)), h("small", {}, h("span", {}, " ", say("search.ms-figure", { figure: measure(state, leader) })), !leader.complete && [" ", say("search.of-players", { n: Object.keys(leader.rtt_ms).length })]))),
    h("ul", { class: "pings" }, ordered(state, players, leader).filter(({ name }) => !state.match || name in leader.rtt_ms).map((person) => ping(state, person, leader, longest))),
    h("p", { class: "rest" }, !state.match && players.length > 6 && say("search.more-players", { n: players.length - 6 })),
  );
}

/** The players in the order of arrival, each with a class that says whether a phone shows them. The person themselves comes first, then the farthest, the nearest, and the others. @param {State} state @param {Person[]} players @param {Leader} leader */
function ordered(state, players, leader) {
  const far = (/** @type {Person} */ person) => leader.rtt_ms[person.name] ?? leader.predicted_ms?.[person.name] ?? -1;
  const byPing = [...players].sort((a, b) => far(b) - far(a));
  const firsts = [players.find((person) => person.name === state.you.name), byPing[0], byPing.at(-1)].filter((person) => person !== undefined);
  if (players.length <= 6) return players;
  return [...new Set([...firsts, ...players])];
}

/** A player's ping. If there is none yet, it is what the search expects, marked as an estimate. @param {State} state @param {Person} person @param {Leader} leader @param {number} longest */
function ping(state, person, leader, longest) {
  const measured = leader.rtt_ms[person.name];
  const ms = measured ?? leader.predicted_ms?.[person.name];
  const isGuess = measured === undefined || !person.peer;
  return h(
    "li",
    { class: `p${(person.arrival ?? 0) % 16}${person.name === state.you.name ? " me" : ""}${ms !== undefined && isGuess ? " guess" : ""}`, "data-key": person.name },
    sign(state.places ? { ...person, peer: true, connected: true } : person, 20),
    h("bdi", { class: "who" }, person.name),
    h("span", { class: "track" }, ms !== undefined && h("span", { class: "bar", "--length": `${Math.max(2, (100 * ms) / longest)}%` })),
    h("span", { class: "figure" }, ms === undefined ? "…" : isGuess ? guess(ms) : millis(ms)),
  );
}
