// The bans of a match: the sides left and right, what is left in the middle, and a clock. The captain
// whose turn it is presses one of the cards, and then the gold button. Everybody else watches. Nobody
// sees a single player's ping, but their own.

import { countryName } from "../choice.js";
import { button, h, svg } from "../dom.js";
import { flag } from "../flag.js";
import { millis, said, say } from "../say.js";
import { shortened, sign } from "../sign.js";
import { campColumn, campName, campOf, peopleOf } from "./camps.js";
import { consent } from "./evened.js";
import { fitTitle } from "./fit.js";
import { drawCampMaps, campMap } from "./campmap.js";
import { leftUntil } from "../time.js";
import { answers, lawHow, lawLines, lawSaid, lawTitle, movers, venues } from "./law.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../types.js").MatchServer} MatchServer */
/** @typedef {import("../types.js").MatchMap} MatchMap */
/** @typedef {import("../types.js").Turn} Turn */
/** @typedef {import("../types.js").Move} Move */

/** How long a captain has for a move if nobody has said it, ms. */
const usualTurn = 30_000;
/** The time left from which the clock warns, s. */
const late = 5;
/**
 * The difference of the averages at which the balance's mark reaches its end, in ms. It stays there
 * for larger differences.
 */
const widest = 30;
/** The longest name on a button and in a title, in letters. */
const longestName = 24;
const longestInTitle = 16;

/** What the captain at this page has touched for a turn, and what became of the move. @type {{number: number, what: string, state: "" | "sending" | "refused", why: string}} */
const touched = { number: 0, what: "", state: "", why: "" };

/** The captain's choice for the turn, or nothing. @param {Turn | undefined} turn */
function choiceOf(turn) {
  if (!turn || touched.number !== turn.number) Object.assign(touched, { number: turn?.number ?? 0, what: "", state: "", why: "" });
  return touched;
}

/** Whether it is the turn of the person at the page. @param {State} state @param {import("../app.js").View} view */
export function isMine(state, view) {
  const turn = state.match?.turn;
  if (!turn || view.tv) return false;
  return turn.admin ? Boolean(state.you.organiser) : Boolean(state.you.name) && movers(turn).includes(state.you.name ?? "");
}

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function ban(live, view) {
  const state = /** @type {State} */ (live.state);
  const match = /** @type {Match} */ (state.match);
  const [a, b] = match.camps;
  const mine = isMine(state, view);
  return [
    h("div", { class: "match-head", "data-key": "head" }, dial(live, match), h("div", { class: "asks" }, h("h1", {}, h("span", { class: "fit" }, title(state, view))), h("p", { class: "nth" }, ...nth(match)))),
    camp(state, view, match, 0),
    h("div", { class: "left-over", "data-key": "left over" }, isAboutMaps(match) ? maps(match, mine) : servers(state, view, match, mine && match.turn?.kind !== "object"), venues(match), !view.tv && lawLines(match)),
    camp(state, view, match, 1),
    h("div", { class: "match-foot", "data-key": "foot" }, h("p", { class: "quiet rule" }, explained(state, match)), consent(state, view, match, true), !view.tv && foot(state, match, mine)),
    h("p", { class: "unseen", "data-key": "sides" }, say("match.versus", { a: campName(a), b: campName(b) })),
  ];
}

/** Runs once the children are on the page. @param {HTMLElement} place @param {import("../live.js").Live} live */
export function shown(place, live) {
  fitTitle(place.querySelector(".fit"));
  drawCampMaps(place, /** @type {State} */ (live.state));
}

/** What the stage announces. @param {State} state @param {import("../app.js").View} view */
export function says(state, view) {
  const match = /** @type {Match} */ (state.match);
  const last = match.moves.at(-1);
  return [last && `${moved(match, last)}.`, `${title(state, view)}, ${nth(match).map((part) => (part instanceof Node ? part.textContent : part)).join("")}.`].filter(Boolean).join(" ");
}

/** Whether the sides decide about maps now, or have done so last. @param {Match} match */
const isAboutMaps = (match) => (match.turn ? match.turn.of === "map" : Boolean(match.server) && match.maps.length > 0);

/** Who moves. @param {State} state @param {import("../app.js").View} view */
export function title(state, view) {
  const turn = state.match?.turn;
  if (!turn) return say("match.all-moved");
  const law = lawTitle(turn, isMine(state, view));
  if (law) return law;
  if (isMine(state, view)) return say(`match.you.${turn.kind}`);
  return turn.captain ? say(`match.captain.${turn.kind}`, { player: shortened(turn.captain, longestInTitle) }) : say(`match.room.${turn.kind}`);
}

/** Which of how many moves it is, and for whom. @param {Match} match */
function nth(match) {
  const { turn } = match;
  const how = lawHow(match, match.server ? whatOf(match, { of: "server", what: match.server }) : "");
  if (how) return how;
  const camp = campOf(match, turn?.side);
  return turn && camp ? said(`match.nth.${turn.kind}-${turn.of}`, { nth: turn.nth, total: turn.total, side: campName(camp) }) : said("match.all-moved-next");
}

/** The clock. @param {import("../live.js").Live} live @param {Match} match */
function dial(live, { turn }) {
  if (!turn) return false;
  const whole = Number(live.state?.room.turn_ms) || usualTurn;
  const ms = Math.max(0, live.state ? leftUntil(live.state, turn.until) : 0);
  const left = Math.ceil(ms / 1000);
  return h(
    "div",
    { class: `ring${left <= late ? " late-now" : ""}`, "data-key": `clock ${turn.number}`, "--left": Math.min(1, ms / whole) },
    svg("svg", { viewBox: "0 0 104 104", "aria-hidden": "true" }, svg("circle", { class: "whole", cx: 52, cy: 52, r: 46 }), svg("circle", { class: "rest-of", cx: 52, cy: 52, r: 46, pathLength: 1 })),
    h("b", { role: "timer", "aria-label": say("countdown.left", { n: left }) }, left),
  );
}

/** A side, and what it did or does. @param {State} state @param {import("../app.js").View} view @param {Match} match @param {0 | 1} i */
function camp(state, view, match, i) {
  const one = match.camps[i];
  const isOn = Boolean(match.turn && one.captain && !match.turn.admin && movers(match.turn).includes(one.captain));
  const isOwn = !view.tv && one.players.includes(state.you.name ?? "");
  const last = match.moves.findLast((move) => move.side === one.side);
  const status = isOn ? say(isOwn ? "match.your-turn" : "match.their-turn") : last ? lawSaid(last, "did", whatOf(match, last)) || said(`match.last.${last.kind}`, { what: h("bdi", { dir: "auto" }, whatOf(match, last)) }) : one.asks ? say("match.has-asked") : "";
  return campColumn(state, one, { status, isOn, below: campMap(one, peopleOf(state, one)) });
}

/** The server that captains decide about at an address. @param {Match} match @param {string | undefined} at */
export const serverAt = (match, at) => match.servers.find(({ addr }) => addr === at);

/** What a move is about, in few words: the country that a server stands in if that tells it from the others, and otherwise its name. @param {Match} match @param {{of: "server" | "map", what: string}} move */
export function whatOf(match, { of, what }) {
  const server = of === "server" ? serverAt(match, what) : undefined;
  if (!server) return what;
  const isOnly = server.country && match.servers.filter(({ country }) => country === server.country).length === 1;
  return isOnly ? countryName(server.country) : shortened(server.name || server.addr, longestName);
}

/** A move that was made, as a few words. @param {Match} match @param {Move} move */
export function moved(match, move) {
  const what = whatOf(match, move);
  const law = lawSaid(move, "note", what);
  if (law) return law;
  return move.by ? say(`match.moved.${move.kind}`, { player: move.by, what }) : say(`match.room-moved.${move.kind}`, { what });
}

/** The servers, as cards of two averages. @param {State} state @param {import("../app.js").View} view @param {Match} match @param {boolean} mine */
function servers(state, view, match, mine) {
  const all = match.servers;
  const [a, b] = match.camps.map((one) => shortened(campName(one), longestName));
  return [
    h("p", { class: "heads", "aria-hidden": "true" }, h("span", {}, ...said("match.average-of", { side: a })), h("span", {}, ...said("match.average-of", { side: b }))),
    h("ol", { class: "nominees", "--of": all.length, role: mine ? "radiogroup" : undefined, "aria-label": say("match.servers") }, all.map((server) => serverCard(state, view, match, server, mine))),
  ];
}

/** @param {State} state @param {import("../app.js").View} view @param {Match} match @param {MatchServer} server @param {boolean} mine */
function serverCard(state, view, match, server, mine) {
  const gone = moveOf(match, server.gone);
  const isOurs = match.server === server.addr;
  const [a, b] = (server.means_ms ?? [0, 0]).map((ms) => (ms > 0 ? Math.round(ms) : undefined));
  const own = view.tv ? undefined : state.own?.[server.addr];
  const name = h("span", { class: "called" }, flag(server.country), h("bdi", { dir: "auto" }, gone ? h("s", {}, server.name || server.addr) : server.name || server.addr));
  const figure = (/** @type {number | undefined} */ ms, /** @type {string} */ side) => h("span", { class: `figure-${side}` }, h("bdi", { class: "unseen" }, campName(/** @type {any} */ (campOf(match, side)))), " ", h("b", {}, ms ?? "…"), h("span", { class: "unseen" }, " ", say("unit.only.ms"), " "));
  return nominee(match, { key: server.addr, what: server.addr, gone, isOurs, mine }, [
    figure(a, "a"),
    h("span", { class: "about-it" }, name, gone ? by(match, gone, state) : [balance(a, b), h("span", { class: "better" }, h("span", {}, ...better(match, a, b)), full(match, server), own !== undefined && h("span", { class: "own" }, say("ping.for-you", { ms: millis(own) })))]),
    figure(b, "b"),
  ]);
}

/** The maps, as narrower cards. @param {Match} match @param {boolean} mine */
function maps(match, mine) {
  const all = match.maps;
  const server = serverAt(match, match.server);
  const order = match.play ?? match.moves.filter(({ of, kind }) => of === "map" && kind === "pick").map(({ what }) => what);
  return [
    server && h("p", { class: "heads on-server" }, flag(server.country), h("span", {}, ...said("match.on-server", { server: server.name || server.addr }))),
    h("ol", { class: "nominees maps", "--of": all.length, role: mine ? "radiogroup" : undefined, "aria-label": say("match.maps") }, all.map((one) => mapCard(match, one, mine, order.indexOf(one.name) + 1))),
  ];
}

/** @param {Match} match @param {MatchMap} one @param {boolean} mine @param {number} order which of the maps that are played, 0 if it is none yet */
function mapCard(match, one, mine, order) {
  const gone = moveOf(match, one.gone);
  const picked = moveOf(match, one.picked);
  return nominee(match, { key: `map ${one.name}`, what: one.name, gone, isOurs: order > 0, mine: mine && !picked }, [
    h("span", { class: "figure-a" }, order > 0 && h("b", {}, order)),
    h("span", { class: "about-it" }, h("span", { class: "called" }, h("bdi", { dir: "auto" }, gone ? h("s", {}, one.name) : one.name)), (gone || picked) && by(match, /** @type {Move} */ (gone ?? picked)), !gone && !picked && order > 0 && h("span", { class: "better" }, h("span", {}, say(order === 1 ? "match.the-map" : "match.decider")))),
    h("span", { class: "figure-b" }),
  ]);
}

/**
 * What a captain may take: a card that can be pressed on their turn, and otherwise one to read.
 * @param {Match} match @param {{key: string, what: string, gone: Move | undefined, isOurs: boolean, mine: boolean}} one @param {import("../dom.js").Child[]} parts
 */
function nominee(match, { key, what, gone, isOurs, mine }, parts) {
  const choice = choiceOf(match.turn);
  const may = mine && !gone;
  const isTouched = may && choice.what === what;
  const card = `nominee${gone ? " banned" : ""}${isOurs ? " ours-now" : ""}${isTouched ? " touched" : ""}`;
  if (!may) return h("li", { class: card, "data-key": key }, h("div", { class: "face-of" }, parts));
  return h("li", { class: card, "data-key": key, role: "presentation" }, h("label", { class: "face-of" }, h("input", { type: "radio", class: "unseen", name: "nominee", value: what, "data-action": "nominate", "data-what": what, checked: isTouched, disabled: choice.state === "sending" }), parts));
}

/** @param {Match} match @param {number | undefined} number */
const moveOf = (match, number) => (number ? match.moves[number - 1] : undefined);

/** Who made a move, with their sign. @param {Match} match @param {Move} move @param {State} [state] */
function by(match, move, state) {
  const person = state?.people.find(({ name }) => name === move.by);
  const side = campOf(match, move.side);
  return h("span", { class: "by" }, person && sign({ ...person, able: false }, 22), h("span", {}, move.by ? said(`match.by.${move.kind}`, { player: shortened(move.by, longestName) }) : said(`match.by-room.${move.kind}`, { side: shortened(side ? campName(side) : "", longestName) })));
}

/** How even a server is: a line, and the words. @param {Match} match @param {[number, number]} means the sides' averages, 0 if unknown */
export function evenness(match, means) {
  const [a, b] = means.map((ms) => (ms > 0 ? Math.round(ms) : undefined));
  return { line: balance(a, b), words: better(match, a, b) };
}

/** A mark on a line: nearer to the side for which the server is better. @param {number | undefined} a @param {number | undefined} b */
function balance(a, b) {
  const off = a === undefined || b === undefined ? 0 : Math.max(-1, Math.min(1, (a - b) / widest));
  return h("span", { class: "balance", "aria-hidden": "true", "--off": off, "--far": Math.abs(off) }, h("i", { class: "far" }), h("i", { class: "middle" }), h("i", { class: "mark" }));
}

/** How many seats are free, where both sides do not fit. @param {Match} match @param {MatchServer} server */
function full(match, { players, max_players: all }) {
  const need = match.camps.reduce((sum, camp) => sum + (camp.players.length), 0);
  const free = Math.max(0, all - players);
  return all > 0 && free < need && h("span", { class: "bad" }, say("server.free", { n: free }));
}

/** For whom a server is better. @param {Match} match @param {number | undefined} a @param {number | undefined} b */
function better(match, a, b) {
  if (a === undefined || b === undefined) return said("match.unmeasured");
  if (a === b) return said("match.even");
  return said("match.better", { ms: say("unit.ms", { n: Math.abs(a - b) }), side: shortened(campName(match.camps[a < b ? 0 : 1]), longestName) });
}

/** What everybody sees, and what follows. @param {State} state @param {Match} match */
function explained(state, match) {
  if (lawTitle(match.turn, false) || match.law?.said) return "";
  if (isAboutMaps(match)) return say(match.best_of > 1 ? "match.last-decides" : "match.last-is-played");
  return say(String(state.room.order ?? "").includes("pick") ? "match.averages-pick" : "match.averages-last");
}

/** The captain's button, or what others wait for. @param {State} state @param {Match} match @param {boolean} mine */
function foot(state, match, mine) {
  const { turn } = match;
  if (!turn || !mine) return false;
  const { what, state: is, why } = choiceOf(turn);
  if (turn.kind === "object" && match.server) return [is === "refused" && h("p", { class: "bad refusal", role: "alert", "data-key": "refusal" }, why), answers(turn, match.server, state.you.name ?? "", is === "sending")];
  const named = whatOf(match, { of: turn.of, what });
  const label = is === "sending" ? say("match.sending") : what ? h("span", {}, ...said(`match.do.${turn.kind}`, { what: h("bdi", { dir: "auto" }, named) })) : say(`match.choose.${turn.kind}`);
  return [
    is === "refused" && h("p", { class: "bad refusal", role: "alert", "data-key": "refusal" }, why),
    button("move", label, { class: what ? "primary large move" : "large move", disabled: what === "" || is === "sending", "data-key": "move" }),
  ];
}

/** The actions of the buttons here. @param {import("../live.js").Live} live @param {import("../app.js").View} view @param {(action: string, order?: object) => Promise<unknown>} ask @returns {Record<string, (data: DOMStringMap) => unknown>} */
export function actions(live, view, ask) {
  const send = async () => {
    const { number, what } = choiceOf(live.state?.match?.turn);
    if (!what || touched.state === "sending") return;
    touched.state = "sending";
    view.changed();
    try {
      await ask("move", { number, what });
    } catch (error) {
      // The next turn may have begun, and its captain has nothing to do with this refusal.
      if (touched.number === number) Object.assign(touched, { state: "refused", why: say("match.refused", { why: /** @type {Error} */ (error).message }) });
      view.changed();
    }
  };
  return {
    answer: ({ what = "" }) => (Object.assign(choiceOf(live.state?.match?.turn), { what, state: "", why: "" }), send()),
    nominate: ({ what = "" }) => (Object.assign(choiceOf(live.state?.match?.turn), { what, state: "", why: "" }), view.changed()),
    move: send,
  };
}
