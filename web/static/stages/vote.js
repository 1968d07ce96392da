// The vote: where shall we play? Candidates stand on their votes: each vote is a sign in the
// plinth, and lifts the server. Buttons stay where they are.

import { button, h } from "../dom.js";
import { asListed, countryName, nameOnly, strange } from "../choice.js";
import { advice } from "../details/why.js";
import { colourOf } from "../colours.js";
import { hasSay } from "../people.js";
import { capital, millis, said, say, told } from "../say.js";
import { sign } from "../sign.js";
import { around, drawAround } from "./around.js";
import { awaitedOf, candidatesOf, pingOf, playersOf, standing } from "./ballot.js";
import { go } from "./parts.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("./ballot.js").Candidate} Candidate */

/** How many candidates a phone shows at first. */
const first = 3;
/** The number of votes above which a server is not lifted further. */
const mostLift = 5;
/** How many votes a phone shows as signs. */
const crowd = 2;
/** How many others' pings a phone shows for a candidate; if there are more, it shows the farthest and the nearest. */
const several = 4;
/** The number of players from which pings stand in two columns, without names. */
const many = 7;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function vote(live, view) {
  const state = /** @type {State} */ (live.state);
  const me = state.people.find((person) => person.name === state.you.name);
  const cards = candidatesOf(state);
  const shown = foremost(cards, me);
  const others = playersOf(state).filter((person) => person !== me).length;
  const scale = Math.max(100, ...cards.flatMap(({ ranked }) => Object.values(ranked.rtt_ms)));
  return [
    h("div", { class: "question" }, h("h1", {}, say("vote.where")), h("p", { class: "standing" }, standing(state)), h("p", { class: "tie quiet" }, capital(told(state.agreement.rule)), vetoes(state))),
    h(
      "ol",
      { class: `candidates of${cards.length}${playersOf(state).length >= many ? " many" : ""}${others > several ? " several" : ""}`, "aria-label": say("vote.servers") },
      cards.map((card) => candidate(state, view, me, card, cards, scale, shown.has(card))),
    ),
    cards.length > shown.size && h("details", { class: "more-servers", "data-key": "more" }, h("summary", {}, say("vote.more", { n: cards.length - shown.size }))),
    !view.tv && h("div", { class: "look-further", "data-key": "look-further" }, advice(state)),
    ready(state, view, me),
  ];
}

/** Runs once the children are on the page. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  if (view.searched > 0) drawAround(place, /** @type {State} */ (live.state), true); // the search has loaded the world
}

/** The candidates that fit on a small screen: the leader, the person's own, and the first. @param {Candidate[]} cards @param {Person | undefined} me */
function foremost(cards, me) {
  const matters = cards.filter((card) => card.leads || card.ranked.addr === me?.vote);
  return new Set([...matters, ...cards.filter((card) => !matters.includes(card))].slice(0, first));
}

/**
 * @param {State} state @param {import("../app.js").View} view @param {Person | undefined} me
 * @param {Candidate} card @param {Candidate[]} cards @param {number} scale the longest bar, ms @param {boolean} isForemost
 */
function candidate(state, view, me, card, cards, scale, isForemost) {
  const { ranked, server } = card;
  const mine = me?.vote === ranked.addr;
  const id = `candidate-${card.number}`;
  const votes = card.voters.length;
  const lift = (mostLift * votes) / Math.max(mostLift, awaitedOf(state).length);
  return h(
    "li",
    { "data-key": ranked.addr, class: `candidate${card.leads ? " leads" : ""}${mine ? " mine" : ""}${isForemost ? "" : " spare"}`, "--lift": lift, "aria-labelledby": id },
    view.searched > 0 && around(ranked.addr),
    h(
      "div",
      { class: "whither" },
      h("h2", { id }, h("span", { class: "no" }, card.number), h("bdi", { dir: "auto" }, card.name)),
      h("p", { class: "facts" }, facts(state, card, me).flatMap((fact, i) => [i > 0 && " · ", h("bdi", {}, fact)]), strange(server)),
    ),
    own(me, card),
    average(me, card, cards),
    h("ul", { class: "everyone", "aria-label": say("ping.all") }, playersOf(state).map((person) => ping(state, card, person, scale))),
    h(
      "div",
      { class: "plinth" },
      card.leads && h("p", { class: "leader" }, say(votes > 0 ? "vote.leader" : "vote.leader-by-rule")),
      h("p", { class: `voters${votes > crowd ? " crowd" : ""}` }, votes === 0 && h("span", { class: "none" }, say("vote.none-here")), card.voters.map((person) => h("span", { class: "voter", "data-key": person.name, title: person.name }, sign(person, 36))), h("span", { class: "unseen" }, said("list.of", { items: card.voters.map((person) => person.name) })), votes > 0 && h("span", { class: "count" }, say("vote.count", { n: votes }))),
    ),
    !view.tv && me && hasSay(state, me) && h(
      "p",
      { class: "say" },
      button("vote", say(mine ? "vote.mine" : "vote.cast"), { class: "cast", "data-addr": mine ? "" : ranked.addr, "aria-pressed": String(mine), "aria-describedby": id }),
      !me.vetoed && cards.length > 1 && button("veto", say("vote.veto"), { class: "veto", "data-addr": ranked.addr, "aria-describedby": id }),
    ),
  );
}

/** The person's own ping; without one, the group's average. @param {Person | undefined} me @param {Candidate} card */
function own(me, { ranked }) {
  const ms = me?.peer ? ranked.rtt_ms[me.name] : ranked.mean_ms;
  if (ms === undefined) return h("p", { class: "own-ping none" }, h("b", {}, "?"), h("span", {}, said("vote.no-ping-for-you", { break: h("br") })));
  return h("p", { class: "own-ping" }, h("b", {}, Math.round(ms)), h("span", {}, said(me?.peer ? "vote.ms-for-you" : "vote.ms-average", { break: h("br") })));
}

/** The group's average, and its distance from the leader's. @param {Person | undefined} me @param {Candidate} card @param {Candidate[]} cards */
function average(me, { ranked, leads }, cards) {
  const leader = cards.find((one) => one.leads)?.ranked ?? ranked;
  const off = Math.round(ranked.mean_ms) - Math.round(leader.mean_ms);
  const lowest = Math.min(...cards.map((one) => one.ranked.mean_ms)) === ranked.mean_ms;
  const apart = leads ? lowest && say("vote.lowest") : off === 0 ? say("vote.like-leader") : said(off > 0 ? "vote.higher" : "vote.lower", { n: Math.abs(off) });
  return h(
    "p",
    { class: "average" },
    ...(me?.peer ? said(apart ? "vote.average-apart" : "vote.average", { ms: h("b", {}, millis(ranked.mean_ms)), apart: h("span", {}, apart || "") }) : said(apart ? "vote.apart-worst" : "vote.worst", { ms: h("b", {}, millis(ranked.max_ms)), apart: h("span", {}, apart || "") })),
    leads || off === 0 ? "" : h("span", { class: "unseen" }, " ", say("vote.than-leader")),
  );
}

/** @param {State} state @param {Candidate} card @param {Person | undefined} me */
function facts(state, { server }, me) {
  if (!server) return [];
  const free = server.max_players - server.players;
  return [server.country && say("country.about", { country: countryName(server.country) }), server.map, server.max_players > 0 && say("server.free", { n: Math.max(0, free) }), server.password && say(me?.types_password ? "server.password-typed" : "server.password"), server.as_listed && asListed(state)].filter((fact) => typeof fact === "string" && fact !== "");
}

/** @param {State} state @param {Candidate} card @param {Person} person @param {number} scale */
function ping(state, { ranked }, person, scale) {
  const ms = ranked.rtt_ms[person.name];
  const isMe = person.name === state.you.name;
  const isEdge = ms === undefined || ms === ranked.max_ms || ms === Math.min(...Object.values(ranked.rtt_ms));
  return h(
    "li",
    { "data-key": person.name, class: `${isMe ? "me" : ""}${ms === undefined ? " without" : ""}${isEdge ? " edge" : ""} ${colourOf(state.people, person.name)}`, "--length": ms === undefined ? "0" : `${(100 * ms) / scale}%` },
    sign(person, 22),
    h("bdi", { class: "who" }, person.name),
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "bar" })),
    h("span", { class: "ms" }, pingOf(state, ranked, person, (...held) => h("small", {}, ...held))),
  );
}

/** Who is ready, and the button for that. @param {State} state @param {import("../app.js").View} view @param {Person | undefined} me */
function ready(state, view, me) {
  const awaited = awaitedOf(state);
  const may = !view.tv && me !== undefined && hasSay(state, me);
  return h(
    "div",
    { class: `ready${awaited.length >= many ? " many" : ""}` },
    h("ul", { "aria-label": say("vote.who-ready") }, awaited.map((person) => h("li", { "data-key": person.name, class: person.ready ? "is" : "" }, sign(person, 30), h("bdi", { class: "who" }, person.name), h("span", {}, person.ready ? say("vote.is-ready") : h("span", { class: "unseen" }, say("vote.is-not-ready")))))),
    !may && !view.tv && h("p", { class: "quiet how" }, say("vote.how")),
    (may || view.tv) && awaited.length > 0 && h("p", { class: "quiet" }, awaited.every((person) => person.ready) ? "" : say("vote.countdown", { n: awaited.length })),
    !view.tv && state.you.organiser && go(state, say("vote.go")),
    may && readyButton(me.ready, say("vote.not-ready")),
  );
}

/** @param {boolean | undefined} isReady @param {string} wait */
export function readyButton(isReady, wait) {
  return button("ready", isReady ? wait : say("vote.ready-button"), { class: isReady ? "large" : "primary large", "data-ready": String(!isReady) });
}

/** @param {State} state */
export function vetoes(state) {
  const { vetoes } = state.agreement;
  return vetoes.length > 0 && h("span", { class: "vetoes" }, " ", ...said("vote.vetoes", { servers: vetoes.map(nameOnly), n: vetoes.length }));
}
