// Where a match goes, and why: what the captains decided, the maps in their order, and both sides on
// their way.

import { failure, fetched, shown } from "../api.js";
import { button, h, saveFile } from "../dom.js";
import { gameName } from "../gather.js";
import { millis, said, say } from "../say.js";
import { shortened } from "../sign.js";
import { campColumn, campName, campOf, peopleOf } from "./camps.js";
import { serverAt, whatOf } from "./ban.js";
import { byLaw, lawLines, lawSaid, venues } from "./law.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Match} Match */

/** The longest name in a line of facts, in letters. */
const longestName = 20;

/** The forms in which a match is there for servers' plugins and for leagues, and their files' ends. */
const forms = { get5: ["get5", "json"], matchzy: ["MatchZy", "json"], tmt2: ["TMT2", "json"], all: ["JSON", "json"], csv: ["CSV", "csv"] };

/** How the sides came to their server, in a few words. @param {Match} match */
export function decidedBy(match) {
  const law = byLaw(match);
  if (law) return law;
  const moves = match.moves.filter(({ of, kind }) => of === "server" && ["ban", "pick"].includes(kind));
  const pick = moves.find(({ kind }) => kind === "pick");
  if (pick) return pick.by ? say("match.by.pick", { player: shortened(pick.by, longestName) }) : say("match.by-room.pick", { side: shortened(campName(match.camps[pick.side === "b" ? 1 : 0]), longestName) });
  return say("match.left-after", { n: moves.length });
}

/** The sides' averages at the match's server. @param {Match} match */
export function meansThere(match) {
  return serverAt(match, match.server)?.means_ms ?? [0, 0];
}

/**
 * A side on its way to the match's server: its average, its people, and the reader's own ping.
 * @param {State} state @param {import("../app.js").View} view @param {Match} match @param {0 | 1} i
 */
export function campThere(state, view, match, i) {
  const mean = meansThere(match)[i];
  const rtt = state.own?.[match.server ?? ""];
  return campColumn(state, match.camps[i], {
    status: mean > 0 && said("ping.average", { ms: h("span", {}, h("b", { class: "mean" }, Math.round(mean)), " ", say("unit.only.ms")) }),
    own: ({ name }) => !view.tv && rtt !== undefined && name === state.you.name && h("span", { class: "own" }, say("ping.for-you", { ms: millis(rtt) })),
  });
}

/** What the countdown is about. @param {State} state @param {Match} match */
export function goalOfMatch(state, match) {
  const server = state.choice?.servers[match.server ?? ""] ?? serverAt(match, match.server);
  if (!match.server || !server) return undefined;
  const ranked = state.choice?.selection.ranking.find(({ addr }) => addr === match.server) ?? { mean_ms: 0, rtt_ms: {} };
  return { name: server.name || match.server, server, ranked, voters: [] };
}

/** The maps in the order in which they are played. @param {Match} match */
export function series(match) {
  if (match.venues) return venues(match);
  const play = match.play ?? [];
  return play.length > 0 && h("ol", { class: "series", "data-key": "series", "aria-label": say("match.series") }, play.map((map) => h("li", { "data-key": map }, h("bdi", { dir: "auto" }, map))));
}

/**
 * Everybody on the way, the sides beside each other. row draws a person.
 * @param {State} state @param {Match} match @param {Person[]} people @param {(person: Person) => HTMLElement} row
 */
export function arrivingSides(state, match, people, row) {
  const means = meansThere(match);
  const sides = match.camps.map((camp) => peopleOf(state, camp).filter((person) => people.includes(person)));
  const others = people.filter((person) => !sides.flat().includes(person));
  const filler = (/** @type {string} */ key) => h("li", { class: "filler", "data-key": key, "aria-hidden": "true" });
  const pairs = Array.from({ length: Math.max(...sides.map((one) => one.length)) }, (_, i) => sides.flatMap((one, side) => (one[i] ? row(one[i]) : filler(`filler ${side} ${i}`))));
  const heads = match.camps.map((camp, i) => h("li", { class: "side-head", "data-key": `side ${camp.side}` }, h("bdi", { dir: "auto" }, campName(camp)), means[i] > 0 && h("span", { class: "mean-of" }, say("ping.average", { ms: millis(Math.round(means[i])) }))));
  return [...heads, ...pairs.flat(), ...others.map(row)];
}

/** What was decided, move by move, and the match for other programs. @param {State} state @param {Match} match */
export function story(state, match) {
  return h(
    "details",
    { class: "card match-story", "data-key": "story" },
    h("summary", {}, say("match.story")),
    h("ol", { class: "moves" }, match.moves.map((move) => h("li", { "data-key": move.number }, h("span", { class: "whose" }, move.by ? h("bdi", { dir: "auto" }, shortened(move.by, longestName)) : say("match.clock"), " · ", h("bdi", { dir: "auto" }, campName(/** @type {any} */ (campOf(match, move.side) ?? match.camps[0])))), h("span", {}, lawSaid(move, "did", whatOf(match, move)) || said(`match.did.${move.kind}`, { what: h("bdi", { dir: "auto" }, whatOf(match, move)) }))))),
    lawLines(match),
    !match.evened?.added_ms && even(match),
    typing(state, match),
    state.you.name || state.you.organiser ? h("p", { class: "buttons match-files" }, h("span", { class: "quiet" }, say("match.files")), Object.entries(forms).map(([form, [name]]) => button("match-file", h("bdi", {}, name), { "data-form": form, "data-key": form }))) : false,
  );
}

/** The delays that would make everybody's pings even, as advice. @param {Match} match */
function even(match) {
  const all = Object.entries(match.even ?? {}).filter(([, { sides_ms: sides, all_ms: every }]) => sides > 0 || every > 0);
  return all.length > 0 && h("div", { class: "even" }, h("p", { class: "quiet" }, say("match.even-how")), h("ul", {}, all.map(([player, { sides_ms: sides, all_ms: every }]) => h("li", { "data-key": player }, ...said("match.even-for", { player, sides: millis(sides), all: millis(every) })))));
}

/** What the reader types in the game for an even ping, if the game has something that it allows. @param {State} state @param {Match} match */
function typing(state, match) {
  const delay = state.way?.delay;
  const own = match.even?.[state.you.name ?? ""];
  if (!delay || !own) return false;
  const all = [...new Set([own.sides_ms, own.all_ms])].filter((ms) => ms > 0 && ms <= delay.most_ms).map((ms) => delay.command.replace("{ms}", String(ms)));
  return all.length > 0 && h("div", { class: "even" }, h("p", { class: "quiet" }, say("match.even-type", { program: delay.program || gameName(state) })), all.map((command) => h("p", { "data-key": command }, h("code", {}, command), " ", button("copy", say("share.copy"), { "data-copy-text": command, "aria-label": `${say("share.copy")}: ${command}` }))));
}

/** The delay that would make pings even for the reader, as advice: nothing applies it. @param {Match} match @param {Person | undefined} me */
export function evenFor(match, me) {
  const own = me && !match.evened?.added_ms && match.even?.[me.name];
  return own && (own.sides_ms > 0 || own.all_ms > 0) && h("p", { class: "even-for quiet", "data-key": "even" }, say("match.even-you", { sides: millis(own.sides_ms), all: millis(own.all_ms) }));
}

/** The room's last match in the form of another program, or all its matches. @param {string} form */
async function matchFile(form) {
  const reply = await fetched(form ? `matches?format=${form}` : "matches", { cache: "no-store", headers: shown() });
  if (!reply.ok) throw failure(reply, await reply.json().catch(() => ({})));
  return reply;
}

/** The actions of the buttons here. @param {import("../live.js").Live} live @returns {Record<string, (data: DOMStringMap) => unknown>} */
export function actions(live) {
  return {
    "match-file": async ({ form = "all" }) => {
      const reply = await matchFile(form === "all" ? "" : form);
      saveFile(await reply.blob(), `${live.state?.room.code ?? "match"}-${form}.${forms[/** @type {keyof typeof forms} */ (form)][1]}`);
    },
  };
}
