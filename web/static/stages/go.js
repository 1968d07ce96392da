// Go: the person's own way first, then everyone's, help for people who did not get there, and the
// next round.

import { countryName, serverName, strange, targetOf } from "../choice.js";
import { button, h, svg } from "../dom.js";
import { ping } from "../estimate.js";
import { flag } from "../flag.js";
import { gameName, voice } from "../gather.js";
import { next } from "../next.js";
import { inOrder, meOf } from "../people.js";
import { millis, said, say, tell } from "../say.js";
import { shareButton } from "../share.js";
import { shortened, sign } from "../sign.js";
import { placeOf } from "../map/world.js";
import { spokesOf } from "./around.js";
import { fitTitle } from "./fit.js";
import { late } from "./late.js";
import { pingLine } from "./line.js";
import { running } from "./evened.js";
import { arrivingSides, decidedBy, evenFor, series, story } from "./matchgo.js";
import { over } from "./over.js";
import { moving, wayOf } from "./moving.js";
import { onItsSide } from "./parts.js";
import { bringIn, parting } from "./parting.js";
import { sentence } from "./stages.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */

/** The numbers of people from which they stand in two columns, and from which a wall shows their signs alone. */
const many = 7;
const crowd = 13;
/** The longest name in a title, in letters. */
const longestName = 16;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function go(live, view) {
  const state = /** @type {State} */ (live.state);
  const people = inOrder(state.people.filter((person) => person.peer || person.page || person.launch));
  const me = view.tv ? undefined : meOf(state);
  const target = state.choice && targetOf(state.choice);
  const server = state.choice?.servers[target?.addr ?? ""];
  const isOnMap = Boolean(placeOf(server?.country));
  const size = people.length >= crowd && !state.match ? "crowd" : people.length >= many || state.match ? "many" : undefined;
  const row = (/** @type {Person} */ person) => traveller(state, person, person === me, view, !isOnMap);
  const list = h(
    "ul",
    { class: "arriving", "data-key": "arriving", "data-many": size, "aria-label": say("go.who") },
    state.match ? arrivingSides(state, state.match, people, row) : people.map(row),
  );
  const isBeside = !view.tv && matchMedia(onItsSide).matches;
  return [
    isOnMap && h("div", { class: "turning travelling", "data-keep": true, "data-key": `turning ${target?.addr}`, "aria-hidden": "true" }),
    target && target.mean_ms > 0 && !isOnMap && h("div", { class: "everyones beside", "data-key": "line", "aria-hidden": "true" }, pingLine(spokesOf(state, target), target.mean_ms, { pings: people.length < many })),
    h("div", { class: "destination", "data-key": "destination" }, h("h1", {}, h("span", { class: "fit" }, title(state, me, view))), where(state, server), h("p", { class: "about" }, view.tv ? arrived(state) : figures(state, me)), ...(state.match ? [series(state.match), evenFor(state.match, me), running(state, view, state.match)] : []), strange(server), me?.launch === "failed" ? h("p", { class: "detail" }, ...(me.detail ? tell(me.detail) : said("go.no-reason"))) : !view.tv && next(state), over(state, view)),
    !view.tv && moving(state, me),
    !isBeside && list,
    !view.tv && state.way && h("div", { class: "way", "data-key": "way" }, ways(state, me)),
    !view.tv && h("div", { class: "after", "data-key": "after" }, parting(state), voice(state), shareButton(state)),
    !view.tv && state.you.organiser && leftOutside(state, view),
    isBeside && list, // in the second column
    !view.tv && state.match && story(state, state.match),
    view.tv && late(state, view, say("go.join-them")),
  ];
}

/** The map that stands on the page, and what it shows. @type {{place: Element | null, table: import("../map/table.js").Table | null, shows: string}} */
const drawn = { place: null, table: null, shows: "" };

/** Runs once the children are on the page. @param {HTMLElement} place @param {import("../live.js").Live} live */
export function shown(place, live) {
  const state = /** @type {State} */ (live.state);
  fitTitle(place.querySelector(".fit"));
  bringIn(place);
  const turning = place.querySelector(".travelling");
  if (!(turning instanceof HTMLElement) || !turning.checkVisibility()) return;
  const target = state.choice && targetOf(state.choice);
  const country = state.choice?.servers[target?.addr ?? ""]?.country;
  const spokes = spokesOf(state, target).map((spoke) => (spoke.person.launch === "failed" ? { ...spoke, person: { ...spoke.person, connected: false } } : spoke));
  const stops = spokes.map(({ person }) => whereIs(person));
  const shows = JSON.stringify([country, spokes.map(({ person, text }) => [person.name, person.arrival, person.country, person.connected, text]), matchMedia("(prefers-color-scheme: dark)").matches]);
  if (drawn.place === turning && drawn.shows === shows) return drawn.table?.move(stops);
  [drawn.place, drawn.table, drawn.shows] = [turning, null, shows];
  void import("../map/table.js").then(({ Table }) => {
    if (drawn.shows === shows && turning.isConnected) drawn.table = new Table(turning, country, spokes, stops);
  }, () => { drawn.place = null; }); // the words say everything that the picture does
}

/** Where a person's sign stands. @param {Person} person @returns {import("../map/table.js").Where} */
function whereIs(person) {
  if (isThere(person)) return "in";
  if (person.launch === "failed") return "failed";
  return isComing(person) ? "half" : "home";
}

/** How many games are open. @param {State} state */
function arrived(state) {
  const players = state.people.filter((person) => hasProgram(person) && !person.left_out);
  return say("go.open-count", { n: players.filter(isThere).length, of: players.length });
}

/** What the stage announces: where everyone goes, and how far the person is. @param {State} state @param {import("../app.js").View} view */
export function says(state, view) {
  const me = view.tv ? undefined : meOf(state);
  return say("go.says", { sentence: sentence(state), title: title(state, me, view) });
}

/** Whether a person has a program, which opens the game. @param {Person | undefined} person */
const hasProgram = (person) => Boolean(person?.peer && !person.browser);

/** Whether a person gets there. @param {Person | undefined} person */
const isThere = (person) => person?.launch === "launched" || person?.launch === "by-hand";

/** The title for the person's own state. @param {State} state @param {Person | undefined} me @param {import("../app.js").View} view */
function title(state, me, view) {
  if (view.tv || !me) {
    const players = state.people.filter((person) => person.peer && !person.left_out);
    const failed = players.filter((person) => person.launch === "failed");
    if (view.tv && failed.length > 0) return failed.length === 1 ? say("go.needs-hand", { player: shortened(failed[0].name, longestName) }) : say("go.need-hand", { n: failed.length });
    return players.length > 0 && players.every(isThere) ? say("go.all-on-the-way") : say(view.tv ? "go.off" : "go.they-are-on-the-way");
  }
  if (isThere(me)) return say("go.you-are-on-the-way");
  if (!hasProgram(me)) return say("go.join-them");
  switch (me.launch) {
    case "asking":
      return say("go.confirm");
    case "failed":
      return say("go.did-not-open");
    case "declined":
      return say("go.you-stay");
    default:
      return say(me.connected ? "go.opens" : "go.program-away");
  }
}

/** @param {State} state @param {import("../types.js").Server | undefined} server */
function where(state, server) {
  const target = state.choice && targetOf(state.choice);
  const name = (state.choice && target && serverName(state.choice, target.addr)) || state.way?.server || "";
  return [h("p", { class: "eyebrow unseen" }, say("go.everyone-to")), h("p", { class: "server" }, flag(server?.country), h("bdi", { dir: "auto" }, name))];
}

/** The server's figures, and what decided. @param {State} state @param {Person | undefined} me */
function figures(state, me) {
  const { choice } = state;
  const target = choice && targetOf(choice);
  if (!choice || !target) return [];
  const own = me && target.rtt_ms[me.name];
  const country = choice.servers[target.addr]?.country;
  const facts = [own !== undefined && me && say("ping.for-you", { ms: ping(choice.selection, me.name, own) }), target.mean_ms > 0 && say("ping.average", { ms: millis(target.mean_ms) }), state.match ? decidedBy(state.match) : choice.decided?.by === "vote" && say("go.by-vote"), country && countryName(country)];
  return facts.filter(Boolean).flatMap((fact, i) => h("span", { class: fact === countryName(country ?? "") ? "in" : "" }, i > 0 && " · ", fact || ""));
}

/** @param {State} state @param {Person} person @param {boolean} isMe @param {import("../app.js").View} view @param {boolean} saysPing no map says it */
function traveller(state, person, isMe, view, saysPing) {
  const failed = person.launch === "failed";
  return h(
    "li",
    { "data-key": person.name, class: failed ? "failed" : "" },
    sign(!failed ? person : { ...person, connected: false }, 44),
    h("span", { class: "who" }, h("bdi", { dir: "auto" }, person.name), isMe && h("span", { class: "you" }, " ", say("person.you"))),
    h("span", { class: "doing" }, doing(state, person, isMe)),
    view.tv && saysPing && theirPing(state, person),
    isThere(person) ? h("span", { class: "got", "aria-hidden": "true" }, svg("svg", { viewBox: "0 0 24 24" }, svg("path", { d: "m6 12.5 4 4 8-9" }))) : failed && !isMe && !view.tv ? help(state, person) : isComing(person) && h("span", { class: "coming", "aria-hidden": "true" }),
  );
}

/** @param {Person} person */
const isComing = (person) => hasProgram(person) && person.connected && (!person.launch || person.launch === "asking");

/** @param {State} state @param {Person} person @param {boolean} isMe */
function doing(state, person, isMe) {
  switch (person.launch) {
    case "launched":
      return say("go.game-open");
    case "by-hand":
      return say("go.by-hand");
    case "asking":
      return say(isMe ? "go.asks-you" : "go.is-asked");
    case "declined":
      return say("go.stays");
    case "failed":
      return h("span", { class: "bad" }, say("go.game-did-not-open"));
    default:
      if (!hasProgram(person)) return without(person);
      return person.connected ? say("go.opening", { game: gameName(state) }) : say("person.away");
  }
}

/** A person's ping, for a wall; elsewhere it is in the details. @param {State} state @param {Person} person */
function theirPing(state, person) {
  const ms = state.choice && targetOf(state.choice)?.rtt_ms[person.name];
  return state.choice && ms !== undefined && ms !== null && h("span", { class: "ms" }, ping(state.choice.selection, person.name, Math.max(1, Math.round(ms))));
}

/** What a person who has only the page is doing. @param {Person} person */
function without(person) {
  if (!person.page) return say("person.away");
  return say(person.browser || person.estimate?.counted ? "go.plays-without" : person.vote ? "go.voted-without" : "go.watches");
}

/** How the others can help a person. @param {State} state @param {Person} person */
function help(state, person) {
  return h(
    "details",
    { class: "help", name: "help" },
    h("summary", { "aria-label": say("go.help-player", { player: person.name }) }, say("go.help")),
    h(
      "div",
      {},
      h("p", {}, ...said(person.detail ? "go.their-computer-says" : "go.their-computer-says-nothing", { why: person.detail ?? "" })),
      h("p", {}, say("go.help-how")),
      state.way && button("copy", say(state.way.region ? "go.copy-region" : "go.copy-for-them"), { "data-copy-text": state.way.region?.set ?? state.way.connect }),
    ),
  );
}

/** A person who found the server full waits for a seat there. @param {State} state @param {import("../app.js").View} view */
function leftOutside(state, view) {
  const players = state.people.filter((person) => person.peer && person.connected);
  if (players.length === 0) return false;
  return h(
    "details",
    { class: "card left-outside", "data-key": "left-outside" },
    h("summary", {}, say("go.found-full")),
    h("p", { class: "quiet" }, say("go.who-outside-how")),
    h("p", { class: "buttons", role: "group", "aria-label": say("go.who-outside") }, players.map((person) => button("outside", h("bdi", { dir: "auto" }, person.name), { "data-key": person.name, "data-name": person.name, "aria-pressed": String(view.outside.has(person.name)) }))),
    h("p", { class: "buttons" }, button("await-outside", say("go.wait-for-them"), { class: "primary", disabled: !players.some((person) => view.outside.has(person.name)) })),
  );
}

/** The server's password, behind a click because others may look at the screen. @param {State} state @param {Person | undefined} me */
function password(state, me) {
  const word = state.you.password;
  if (!word) return "";
  return h(
    "details",
    { class: "path", "data-key": "password" },
    h("summary", {}, say(me?.types_password ? "go.password-typed" : "go.password")),
    h("p", {}, h("code", { id: "password", tabindex: 0 }, word)),
    button("copy", say("go.copy-password"), { "data-copy-text": word }),
  );
}

/** What to type in the game, without the plain address, which has a button of its own. @param {NonNullable<State["way"]>} way */
function lines(way) {
  return (way.typed?.texts ?? []).filter((text) => text !== way.connect);
}

/**
 * What a person does in a game that has regions instead of servers.
 * @param {State} state @param {Person | undefined} me @param {import("../types.js").Region} region
 */
function regionWays(state, me, region) {
  return [
    button("copy", say("go.copy-region"), { class: "primary", "data-copy-text": region.set }),
    me && !me.peer && me.launch !== "by-hand" && button("arrived", say("go.arrived")),
    h("p", { class: "hand" }, say("go.region"), " ", h("code", { id: "connect", tabindex: 0 }, region.set)),
    h("p", { class: "quiet hand" }, ...tell(region.how)),
    password(state, me),
  ];
}

/** The ways there, the person's best one first. @param {State} state @param {Person | undefined} me */
export function ways(state, me) {
  const way = wayOf(state, me);
  if (!way) return [];
  if (way.region) return regionWays(state, me, way.region);
  const web = way.link && /^(steam|https?):\/\//.test(way.link) && way.link;
  const byHand = !hasProgram(me);
  return [
    !byHand && me && button("reopen", say("go.reopen"), { class: me.launch === "failed" || me.launch === "declined" ? "primary" : "", disabled: !me.connected || me.launch === "asking" }),
    byHand && (web ? h("a", { class: "primary", href: web }, say("go.join-them")) : button("open", say("go.join-by-muster"), { class: "primary" })),
    lines(way).length !== 1 && button("copy", say("go.copy-address"), { "data-copy-text": way.connect }),
    me && byHand && me.launch !== "by-hand" && button("arrived", say("go.arrived")),
    ...lines(way).map((line) => button("copy", say("go.copy-line"), { "data-key": line, "data-copy-text": line, "aria-label": `${say("go.copy-line")}: ${line}` })),
    h("p", { class: "quiet hand" }, ...said("go.hand", { address: h("code", { id: "connect", tabindex: 0 }, way.connect) })),
    ...(way.typed?.texts ?? []).map((text) => h("p", { class: "quiet hand", "data-key": `typed ${text}` }, ...said(`type.${way.typed?.where}`, { text: h("code", { tabindex: 0 }, text) }))),
    password(state, me),
    me?.launch === "failed" &&
      h(
        "details",
        { class: "path", "data-key": "path" },
        h("summary", {}, say("go.tell-where", { game: gameName(state) })),
        h("p", {}, say("go.tell-where-how")),
        h("code", { tabindex: 0 }, `muster join ${state.you.link} --launch-command "/path/to/the/game {address}"`),
        h("p", {}, say("go.tell-where-home")),
      ),
  ];
}
