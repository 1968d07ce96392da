// What a league's law adds to a match: who else may move, objections to the server that was decided,
// what the law says, and the servers of the maps.

import { button, h } from "../dom.js";
import { said, say, tell } from "../say.js";

/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../types.js").Turn} Turn */
/** @typedef {import("../types.js").Move} Move */

/** Who may make the move that the room waits for. @param {Turn} turn */
export const movers = (turn) => turn.captains ?? [turn.captain];

/** Which turn of a law it is, nothing for the turn of one side's captain. @param {Turn | undefined} turn */
const special = (turn) => (turn?.kind === "object" ? "object" : turn?.admin ? "admin" : turn?.blind ? "blind" : "");

/** Who moves in a turn of a law, nothing in another. @param {Turn | undefined} turn @param {boolean} mine */
export const lawTitle = (turn, mine) => special(turn) && say(`law.${mine ? "you" : "turn"}.${special(turn)}`);

/** What such a turn is about. @param {Match} match @param {string} server the name of the one that was decided */
export function lawHow(match, server) {
  const kind = special(match.turn);
  return match.turn && kind !== "" && said(`law.how.${kind}`, { server, players: movers(match.turn) });
}

/** What a captain has said to the server that was decided, in the words of a key. @param {Move} move @param {"did" | "note"} words @param {string} what */
export const lawSaid = (move, words, what) => ["object", "delay", "accept"].includes(move.kind) && say(`law.${words}.${move.kind}`, { player: move.by ?? "", server: what, what });

/** What the law says: its sentences, or once it was carried out, what it has decided. @param {Match} match */
export function lawLines({ law }) {
  if (!law) return false;
  const lines = [...(law.said ? [] : law.says.map((text) => [`“${text}”`])), ...(law.said ?? []).map(tell), ...(law.minping_ms ? [said("law.minping", { ms: say("unit.ms", { n: law.minping_ms }) })] : [])];
  return h("div", { class: "law quiet", "data-key": "law" }, h("b", {}, h("bdi", { dir: "auto" }, law.league)), lines.map((line) => h("p", {}, h("bdi", { dir: "auto" }, line))));
}

/** The answers of a captain who may object to a server. @param {Turn} turn @param {string} server @param {string} name the captain's @param {boolean} isSending */
export function answers(turn, server, name, isSending) {
  const all = [[server, "object"], ...(turn.delay === name ? [["delay", "delay"]] : []), ["accept", "accept"]];
  return h("p", { class: "buttons law-answers", "data-key": "answers" }, all.map(([what, key]) => button("answer", say(`law.do.${key}`), { "data-what": what, "data-key": key, class: key === "accept" ? "gold" : undefined, disabled: isSending })));
}

/** The maps' servers, where they are on two. @param {Match} match */
export function venues({ venues: all }) {
  return all && h("ol", { class: "series venues", "data-key": "venues" }, all.map((venue, i) => h("li", { "data-key": i }, h("bdi", { dir: "auto" }, venue.map ? `${venue.map} · ` : "", venue.name || venue.connect))));
}

/** How a law has decided, in a few words; nothing where captains banned or picked. @param {Match} match */
export function byLaw({ law, moves }) {
  return law && !moves.some(({ of, kind }) => of === "server" && ["ban", "pick"].includes(kind)) && say("law.by", { league: law.league });
}
