// No server suits everyone this time: how close it was, and what helps.
//
//	 anna        ben             our limit        chong
//	──●───────────▲──────────────────┃· · · · · · · ■ · · ·
//	  12          78                150            198 ms

import { serverName, targetOf } from "../choice.js";
import { h } from "../dom.js";
import { flag } from "../flag.js";
import { settings } from "../gather.js";
import { next } from "../next.js";
import { answer, sites } from "../details/sites.js";
import { labelOf } from "../details/why.js";
import { millis, said, say, tell } from "../say.js";
import { shortened, sign } from "../sign.js";
import { again, headline } from "./parts.js";
import { instead } from "./seats.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Choice} Choice */

/** How far the line continues beyond the farthest player, as a factor. */
const beyond = 1.2;
/** The distance at which two players' names fit below the line, in percent of it; more on a phone. */
const usuallyApart = 10;
const narrowApart = 19;
/** Players who are nearer to each other, or this many, stand above the line, in as many rows as needed; and their distance there. */
const many = 7;
const stackedApart = { few: 7, many: 5.5, narrow: 10 };
/**
 * How near the limit may come to an end of the line before that end's number is hidden, in percent.
 * On a phone it is narrowEnds.
 */
const usualEnds = 16;
const narrowEnds = 40;
/** How many of the players beyond the limit are named. */
const namedFar = 3;
/** The longest names of a server and of a player in a sentence, in letters; less on a phone. */
const longestServer = 22;
const longestName = 13;
const longestNarrow = 10;
const narrow = "(max-width: 47.99rem), (max-height: 30rem)";
/** How many ways out have a card. */
const mostWays = 3;

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function failed(live, view) {
  const state = /** @type {State} */ (live.state);
  const { choice } = state;
  const why = choice?.explain ?? state.log.slice(-1);
  const miss = choice?.miss;
  return [
    h("div", { class: "nothing", "data-key": "nothing" }, state.seats ? waited(state) : miss && choice ? missed(state, choice) : headline(state), (!miss || waysOut(choice).length === 0 || state.room.retry) && next(state)),
    miss && choice && line(state, choice),
    h("div", { class: "helps", "data-key": "helps" }, (state.seats?.instead ?? []).map((one, i) => instead(state, one, state.you.organiser && !view.tv && i === 0, state.seats?.servers[0])), waysOut(choice).map((advice) => card(state, /** @type {Choice} */ (choice), advice, view)), waysOut(choice).length < mostWays && retry(state, view)),
    waysOut(choice).length >= mostWays && !view.tv && again(state, say("failed.again")),
    state.sites && h("details", { class: "card places", "data-key": "places", open: Boolean(state.sites.better) }, h("summary", {}, say(state.sites.better ? "failed.own-suits" : "details.sites")), view.tv ? [h("p", {}, answer(state, true))] : sites(state, true, true)),
    !(choice && targetOf(choice)) && h("details", { class: "card", "data-key": "reasons", open: !miss }, h("summary", {}, say("failed.why")), h("ul", { class: "reasons" }, why.map((sentence) => h("li", {}, ...tell(sentence))))),
    !view.tv && h("section", { id: "settings", class: "card", "data-key": "settings" }, settings(state)),
  ];
}

/** Runs once the children are on the page. */
export function shown() {}

/** @param {State} state @param {Choice} choice */
function missed(state, choice) {
  const miss = /** @type {NonNullable<Choice["miss"]>} */ (choice.miss);
  const far = Object.keys(miss.rtt_ms).filter((name) => miss.rtt_ms[name] > miss.limit_ms);
  const country = choice.servers[miss.addr]?.country;
  return [
    h("h1", {}, say(state.places ? "place.failed" : "failed.title", { limit: millis(miss.limit_ms), n: Object.keys(miss.rtt_ms).length })),
    h("p", { class: "about" }, ...said(far.length === 0 ? "failed.nearest" : far.length > namedFar ? "failed.nearest-far-for" : "failed.nearest-far", { flag: flag(country) || h("span", {}), server: h("strong", {}, h("bdi", { dir: "auto" }, shortened(serverName(choice, miss.addr), longestServer))), players: far.map(brief), n: far.length })),
  ];
}

/** What a cancelled wait for seats has seen. @param {State} state */
function waited(state) {
  const { over, chance } = state.seats ?? {};
  return [headline(state), over && h("p", { class: "seen" }, ...(chance ? said("failed.waited-chance", { over, chance }) : said("failed.waited", { over })))];
}

/** The ways out that have a card. Asking more servers and waiting for seats always have one. @param {Choice | null} choice */
function waysOut(choice) {
  const ways = choice?.advice ?? [];
  const more = ways.filter(({ action }) => action === "more" || action === "await");
  return [...ways.filter((way) => !more.includes(way)).slice(0, mostWays - more.length), ...more];
}

/** The pings to the nearest miss on a line, with the limit as a gate. @param {State} state @param {Choice} choice */
function line(state, choice) {
  const miss = /** @type {NonNullable<Choice["miss"]>} */ (choice.miss);
  const all = Object.entries(miss.rtt_ms).toSorted((a, b) => a[1] - b[1]);
  const longest = Math.ceil((Math.max(miss.limit_ms, ...all.map(([, ms]) => ms)) * beyond) / 50) * 50;
  const at = (/** @type {number} */ ms) => (100 * ms) / longest;
  const isNarrow = matchMedia(narrow).matches;
  const room = isNarrow ? narrowEnds : usualEnds;
  const isClose = all.some(([, ms], i) => i > 0 && at(ms) - at(all[i - 1][1]) < (isNarrow ? narrowApart : usuallyApart));
  const stacked = all.length >= many ? "many" : isClose ? "few" : undefined;
  const apart = stacked ? stackedApart[isNarrow ? "narrow" : stacked] : 0;
  /** @type {number[]} */
  const last = Array(all.length).fill(-100);
  const people = all.flatMap(([name, ms]) => {
    const person = state.people.find((other) => other.name === name);
    if (!person) return [];
    const row = last.findIndex((end) => at(ms) - end >= apart);
    last[row] = at(ms);
    return h("li", { class: ms > miss.limit_ms ? "over" : "", "data-key": name, "--at": `${at(ms)}%`, "--row": row }, h("span", { class: "ms" }, stacked ? Math.round(ms) : millis(ms)), sign(person, 52), h("bdi", { class: "who", dir: "auto" }, name));
  });
  const over = all.at(-1);
  return h(
    "div",
    { class: "gate", "data-key": "gate", "data-stacked": stacked, "--limit": `${at(miss.limit_ms)}%`, "--rows": last.filter((end) => end >= 0).length },
    h("span", { class: "within" }),
    h("span", { class: "beyond" }),
    h("span", { class: "limit" }, h("span", {}, say("failed.our-limit", { limit: millis(miss.limit_ms) }))),
    over && over[1] > miss.limit_ms && h("span", { class: "excess", "--at": `${at(over[1])}%` }, say("failed.over", { ms: millis(over[1] - miss.limit_ms) })),
    h("ul", { "aria-label": say("failed.pings") }, people),
    at(miss.limit_ms) > room && h("span", { class: "least" }, say("unit.ms", { n: 0 })),
    at(miss.limit_ms) < 100 - room && h("span", { class: "most" }, say("unit.ms", { n: longest })),
  );
}

/**
 * A way out. For the organiser all of it is a button, which says what it costs.
 * @param {State} state @param {Choice} choice @param {import("../types.js").Advice} advice @param {import("../app.js").View} view
 */
function card(state, choice, advice, view) {
  const { action, argument, servers = 0, addr = "" } = advice;
  const may = state.you.organiser && !view.tv;
  const order = { "data-action": "advice", "data-order": action, "data-argument": JSON.stringify(argument) };
  const best = shortened(serverName(choice, addr), longestServer);
  const from = choice.miss?.limit_ms ?? choice.selection.limit_ms ?? 0;
  const to = argument.limit_ms ?? 0;
  switch (action) {
    case "allow":
      return way(may, "allow", order, big("unit.big-ms", to), [from > 0 && to > from ? say("failed.allow-more", { ms: millis(to - from) }) : say("failed.allow")], [from > 0 ? say(state.places ? "place.allow-so" : "failed.allow-so", { from: millis(from), to: millis(to), n: servers }) : say("failed.allow-how", { n: servers })]);
    case "await":
      return way(may, "await", order, big("failed.big-full", servers), [say(state.seats ? "failed.await-again" : "failed.await")], said("failed.await-how", { server: best }));
    case "more":
      return way(may, "more", order, big("failed.big-more", argument.servers ?? 0), [labelOf(state, advice)], [say("failed.more-how")]);
    default: {
      const person = state.people.find((other) => other.name === argument.name);
      return way(may, `without ${argument.name}`, order, h("span", { class: "big" }, person && sign({ ...person, connected: false }, 64)), said("failed.without", { player: brief(argument.name ?? "") }), said("failed.without-how", { n: servers, server: best }));
    }
  }
}

/** @param {boolean | undefined} may @param {string} key @param {Record<string, string>} order @param {Element} figure @param {import("../dom.js").Child[]} title @param {import("../dom.js").Child[]} what */
function way(may, key, order, figure, title, what) {
  return h(may ? "button" : "section", { class: "card help-card", "data-key": key, ...(may ? { type: "button", ...order } : {}) }, figure, h("span", { class: "words" }, h("strong", {}, title), h("span", { class: "quiet" }, what)));
}

/** A figure, large, with its unit next to it. @param {string} key @param {number} n */
function big(key, n) {
  return h("span", { class: "big" }, ...said(key, { n, small: (...held) => h("small", {}, ...held) }));
}

/** A player's name in a sentence. @param {string} name */
function brief(name) {
  return shortened(name, matchMedia(narrow).matches ? longestNarrow : longestName);
}

/** Everyone measures again. @param {State} state @param {import("../app.js").View} view */
function retry(state, view) {
  const left = state.choice?.selection.culled.unmeasured ?? 0;
  const order = { "data-action": "go", "data-stage": state.room.stage };
  return way(state.you.organiser && !view.tv, "retry", order, big(state.places ? "place.big" : "failed.big-servers", state.room.listed), [say(state.places ? "place.again" : "failed.again")], state.places ? [say("place.again-how")] : [left > 0 && [h("span", {}, say("failed.not-asked", { n: left })), " "], h("span", {}, say("failed.again-how"))].flat());
}
