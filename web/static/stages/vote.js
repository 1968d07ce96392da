// The vote: where shall we play? Each card is a choice that differs from the others: what it is the
// best in, where it is, what it costs whom, everybody's ping, and the votes, as signs. Cards keep
// their places, also when one is vetoed.

import { button, h } from "../dom.js";
import { countryName, asListed, strange } from "../choice.js";
import { advice } from "../details/why.js";
import { colourOf } from "../colours.js";
import { flag } from "../flag.js";
import { naming } from "../gather.js";
import { hasSay, isNameEnough, meOf } from "../people.js";
import { offersOf } from "../places/offers.js";
import { capital, number, said, say, told } from "../say.js";
import { sign } from "../sign.js";
import { isArmed } from "../sure.js";
import { around, drawAround } from "./around.js";
import { awaitedOf, picksOf, pingOf, playersOf, specialOf, standing, tradeOf, unvoted } from "./ballot.js";
import { over } from "./over.js";
import { go } from "./parts.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("./ballot.js").Candidate} Candidate */
/** @typedef {import("./ballot.js").Pick} Pick */

/** The number of players from which pings stand in two columns, and from which they have no bars. */
const several = 5;
const many = 9;

/** The card that a phone shows whole, if the person has touched one. */
const opened = { round: 0, addr: "" };

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function vote(live, view) {
  const state = /** @type {State} */ (live.state);
  const me = meOf(state);
  const picks = picksOf(state);
  const players = playersOf(state).length;
  const live_ = picks.filter(({ candidate }) => candidate);
  const scale = Math.max(100, ...live_.flatMap(({ candidate }) => Object.values(candidate?.ranked.rtt_ms ?? {})));
  const open = openOf(state, picks, me);
  return [
    h("div", { class: "question" }, h("h1", {}, say(state.places ? "place.title" : "vote.where")), h("p", { class: "standing" }, worth(state), h("span", { class: "unseen" }, " ", standing(state))), h("p", { class: "tie quiet" }, capital(told(state.agreement.rule)))),
    h(
      "ol",
      { class: `candidates of${Math.min(picks.length, 5)}${players >= many ? " many" : players >= several ? " several" : ""}${state.places ? " of-places" : ""}`, "--of": picks.length, "aria-label": say("vote.servers") },
      picks.map((pick) => (pick.candidate ? card(state, view, me, pick, pick.candidate, { scale, isOpen: pick.addr === open, isOurs: pick.addr === state.agreement.ballot[0], isAlone: live_.length < 2 }) : place(pick))),
    ),
    ready(state, view, me),
    !view.tv && h("div", { class: "look-further", "data-key": "look-further" }, others(state, picks), advice(state)),
  ];
}

/** What the choices were found among. @param {State} state */
function worth(state) {
  const n = specialOf(state).length;
  if (n === 1) return say(state.places ? "place.one" : "pick.one");
  return n > 1 ? say(state.places ? "place.worth" : "pick.worth", { n, listed: number(state.room.listed) }) : "";
}

/** The card that a phone shows whole. @param {State} state @param {Pick[]} picks @param {Person | undefined} me */
function openOf(state, picks, me) {
  if (opened.round === state.room.round && (opened.addr === "" || picks.some(({ addr }) => addr === opened.addr))) return opened.addr;
  if (matchMedia("(max-height: 32rem)").matches) return ""; // all cards fit, but none of them whole
  return picks.find(({ addr, candidate }) => candidate && addr === me?.vote)?.addr ?? picks.find(({ candidate }) => candidate?.leads)?.addr ?? "";
}

/** The way to vote for a server that has no card. @param {State} state @param {Pick[]} picks */
function others(state, picks) {
  return state.agreement.ballot.some((addr) => !picks.some((pick) => pick.addr === addr)) && button("detail", say("pick.others"), { "data-detail": "ranking", "data-key": "others" });
}

/** Runs once the children are on the page. @param {HTMLElement} at @param {import("../live.js").Live} live */
export function shown(at, live) {
  drawAround(at, /** @type {State} */ (live.state));
}

/** Shows a card whole on a phone, or as a row again. @param {State | null} state @param {string} addr */
export function unfold(state, addr) {
  Object.assign(opened, { round: state?.room.round ?? 0, addr });
}

/** The place of a choice that is gone. @param {Pick} pick */
function place({ option, addr }) {
  const by = option.by ? said("pick.vetoed", { player: h("bdi", { dir: "auto" }, option.by) }) : said("pick.gone");
  return h("li", { "data-key": addr, class: "candidate gone" }, h("p", {}, h("s", {}, h("bdi", { dir: "auto" }, option.name || addr)), h("span", { class: "by" }, ...by)));
}

/**
 * @param {State} state @param {import("../app.js").View} view @param {Person | undefined} me @param {Pick} pick @param {Candidate} one
 * @param {{scale: number, isOpen: boolean, isOurs: boolean, isAlone: boolean}} how scale is the longest bar, ms
 */
function card(state, view, me, pick, one, { scale, isOpen, isOurs, isAlone }) {
  const { ranked, server, number: no, voters, leads } = one;
  const mine = me?.vote === ranked.addr;
  const id = `candidate-${no}`;
  const kind = pick.kind && say(`pick.${pick.kind}`);
  const called = h("bdi", { dir: "auto" }, one.name);
  return h(
    "li",
    { "data-key": ranked.addr, "data-action": !view.tv && !isOpen && "unfold", "data-addr": ranked.addr, class: `candidate${leads ? " leads" : ""}${mine ? " mine" : ""}${isOpen ? " open" : ""}`, "aria-labelledby": id },
    h("div", { class: "kind" }, h("h2", { id }, h("span", { class: "no" }, no), " ", kind || called, kind && h("span", { class: "unseen" }, ": ", h("bdi", {}, one.name))), leads ? h("span", { class: "badge leader" }, say("vote.leader")) : isOurs && pick.kind && !isAlone && h("span", { class: "ours-first" }, say("pick.ours-first"))),
    around(ranked.addr),
    h("div", { class: "whither" }, flag(server?.country), h("p", { class: "title" }, called), h("p", { class: "facts" }, h("span", { class: "known" }, facts(state, one, me).map((fact, i) => h("span", {}, i > 0 && " · ", h("bdi", {}, fact))), state.places && [" · ", ...offersOf(state.places.candidates.find(({ at }) => at === ranked.addr))]), strange(server))),
    own(me, one),
    h("p", { class: "mean" }, ...said(me?.peer ? "vote.average" : "vote.worst", { ms: h("b", {}, Math.round(me?.peer ? ranked.mean_ms : ranked.max_ms)) })),
    h("p", { class: "trade" }, ...tradeOf(state, pick, isOurs)),
    h("ul", { class: "everyone", "aria-label": say("ping.all") }, playersOf(state).map((person) => ping(state, one, person, scale))),
    votes(one),
    !view.tv && me && hasSay(state, me) && h(
      "p",
      { class: "say" },
      button("vote", say(mine ? "vote.mine" : "vote.cast"), { class: "cast", "data-addr": mine ? "" : ranked.addr, "aria-pressed": String(mine), "aria-describedby": id }),
      !me.vetoed && !isAlone && button("veto", say(isArmed(ranked.addr) ? "pick.veto-now" : "vote.veto"), { class: `veto${isArmed(ranked.addr) ? " armed" : ""}`, "data-addr": ranked.addr, "aria-describedby": id }),
    ),
    !view.tv && !isOpen && button("unfold", h("span", { class: "unseen" }, say("pick.show", { choice: kind || one.name })), { class: "unfold", "data-addr": ranked.addr, "aria-expanded": "false" }),
  );
}

/** The votes, as signs. @param {Candidate} one */
function votes({ voters }) {
  if (voters.length === 0) return h("p", { class: "voters none" }, say("vote.none"));
  return h("p", { class: "voters" }, voters.map((person) => h("span", { class: "voter", "data-key": person.name, title: person.name }, sign(person, 38))), h("span", { class: "unseen" }, said("list.of", { items: voters.map((person) => person.name) })), h("span", { class: "count" }, say("vote.count", { n: voters.length })));
}

/** The person's own ping; who has none sees the group's average. @param {Person | undefined} me @param {Candidate} one */
function own(me, { ranked }) {
  const ms = me?.peer ? ranked.rtt_ms[me.name] : ranked.mean_ms;
  if (ms === undefined) return h("p", { class: "own-ping" }, h("b", {}, "?"), h("span", {}, ...said("vote.no-ping-for-you", { break: h("br") })));
  return h("p", { class: "own-ping" }, h("b", {}, Math.round(ms)), h("span", {}, ...said(me?.peer ? "vote.ms-for-you" : "vote.ms-average", { break: h("br") })));
}

/** @param {State} state @param {Candidate} one @param {Person | undefined} me */
function facts(state, { server }, me) {
  if (!server) return [];
  const free = server.max_players - server.players;
  return [server.country && countryName(server.country), server.max_players > 0 ? say("server.free", { n: Math.max(0, free) }) : server.players > 0 && say("seats.unknown"), server.password && say(me?.types_password ? "server.password-typed" : "server.password"), server.map, server.as_listed && asListed(state)].filter((fact) => typeof fact === "string" && fact !== "");
}

/** @param {State} state @param {Candidate} one @param {Person} person @param {number} scale */
function ping(state, { ranked }, person, scale) {
  const ms = ranked.rtt_ms[person.name];
  const isMe = person.name === state.you.name;
  return h(
    "li",
    { "data-key": person.name, class: `${isMe ? "me" : ""}${ms === undefined ? " without" : ""} ${colourOf(state.people, person.name)}`, "--length": ms === undefined ? "0" : `${(100 * ms) / scale}%` },
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
  const waiting = unvoted(state);
  const isReady = awaited.filter((person) => person.ready).length;
  return h(
    "div",
    { class: `ready${awaited.length >= many ? " many" : ""}` },
    over(state, view),
    h("ul", { "aria-label": say("vote.who-ready") }, awaited.map((person) => h("li", { "data-key": person.name, class: person.ready ? "is" : "", title: person.name }, sign(person, 36), h("span", { class: "unseen" }, h("bdi", {}, person.name), " ", say(person.ready ? "vote.is-ready" : "vote.is-not-ready"))))),
    awaited.length > 0 && h("p", { class: "how-many" }, say("vote.ready", { ready: isReady, all: awaited.length })),
    !may && !view.tv && !me?.left_out && (isNameEnough(state) ? naming(say("vote.name"), "") : h("p", { class: "quiet how" }, say("vote.how"))),
    (may || view.tv) && awaited.length > isReady && h("p", { class: "quiet" }, waiting.length > 0 ? waiting : say("vote.countdown", { n: awaited.length })),
    !view.tv && state.you.organiser && go(state, say("vote.go")),
    may && readyButton(me.ready, say("vote.not-ready")),
  );
}

/** @param {boolean | undefined} isReady @param {string} wait */
function readyButton(isReady, wait) {
  return button("ready", isReady ? wait : say("vote.ready-button"), { class: isReady ? "large" : "primary large", "data-ready": String(!isReady) });
}

/**
 * Keys count only on the cards, because people who speak to their computers press letters by accident
 * elsewhere: a number votes, V vetoes the card with the focus. Pressed again they do what the button says then.
 */
globalThis.document?.addEventListener?.("keydown", (event) => {
  const card = event.target instanceof Element ? event.target.closest("#stage .candidate") : null;
  if (!card || event.ctrlKey || event.altKey || event.metaKey) return;
  const meant = event.code === "KeyV" ? card.querySelector(".veto") : [...document.querySelectorAll("#stage .candidate")].find((other) => other.querySelector(".no")?.textContent === event.key)?.querySelector(".cast");
  if (meant instanceof HTMLElement) (event.preventDefault(), meant.click());
});
