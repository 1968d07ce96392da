// The chosen server: its name and facts, everyone's ping to it, and how to join it.

import { h } from "./dom.js";
import { colourOf } from "./colours.js";
import { isEstimated, ping } from "./estimate.js";
import { country, millis, said, say, tell } from "./say.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Choice} Choice */
/** @typedef {import("./types.js").Ranked} Ranked */

/** The headline when there is a choice. @param {State} state */
export function verdict(state) {
  const { choice, way } = state;
  const target = choice && targetOf(choice);
  if (!choice || !target) return [];
  const server = choice.servers[target.addr];
  return [
    h("p", { class: "eyebrow" }, say(way ? "go.everyone-to" : state.agreement.open ? "choice.ahead" : "choice.once-more")),
    h("h1", { class: "server" }, h("bdi", {}, serverName(choice, target.addr))),
    h("p", { class: "about" }, about(state, server, target)),
    strange(server),
  ];
}

/** Each player's RTT to the chosen server. @param {State} state */
export function rtts(state) {
  const target = state.choice && targetOf(state.choice);
  return state.choice && target && bars(state, state.choice, target);
}

/** The server that people go to, or would go to. @param {Choice} choice */
export function targetOf(choice) {
  return choice.selection.ranking.find(({ addr }) => addr === choice.target) ?? choice.selection.chosen;
}

/** @param {Choice} choice @param {string} addr */
export function serverName(choice, addr) {
  return choice.servers[addr]?.name || addr;
}

/** The address that follows a server's name. */
const address = / \([\w.:[\]-]+:\d+\)$/;

/** The name without the address that the host adds. @param {string} named */
export function nameOnly(named) {
  return named.replace(address, "");
}

/** @param {State} state @param {import("./types.js").Server | undefined} server @param {Ranked} ranked */
function about(state, server, ranked) {
  const facts = [say("ping.on-average", { ms: millis(ranked.mean_ms) }), say("vote.worst", { ms: millis(ranked.max_ms) })];
  if (server?.map) facts.push(server.map);
  if (server?.version && server.other_version) facts.push(server.version);
  if (server?.mod && server.mod !== server.mode) facts.push(say("server.mod", { mod: server.mod }));
  if (server?.max_players) facts.push(say("server.taken", { taken: server.players, n: server.max_players }));
  else if (server?.players) facts.push(say("seats.unknown"));
  if (server?.country) facts.push(country(server.country));
  if (server?.as_listed) facts.push(asListed(state));
  return facts.map((fact, i) => [i > 0 && " · ", h("bdi", {}, fact)]).flat();
}

/** The age from which a list's information is shown with it, minutes. */
const oldList = 3;

/** Names the list as the source if a server says little itself. @param {State} state */
export function asListed(state) {
  const age = state.room.said ? Math.floor((state.now - Date.parse(state.room.said)) / 60_000) : 0;
  if (age < oldList) return say("server.as-listed");
  return age < 120 ? say("server.as-listed-min", { n: age }) : say("server.as-listed-h", { n: Math.floor(age / 60) });
}

/** Names players whose version of the game differs from the server's. @param {import("./types.js").Server | undefined} server */
export function strange(server) {
  if (!server?.other_version?.length) return false;
  const shut = server.shut_out ?? [];
  const others = server.other_version.filter((name) => !shut.includes(name));
  const away = { key: "server.shut-out", with: { players: shut, n: shut.length } };
  const differing = { key: "server.other-version", with: { players: others, n: others.length } };
  const words = shut.length > 0 && others.length > 0 ? said("list.clauses", { first: away, next: differing }) : tell(shut.length > 0 ? away : differing);
  return h("span", { class: "strange" }, words);
}

export { country as countryName } from "./say.js";

/** A bar for each player's RTT, and the limit. @param {State} state @param {Choice} choice @param {Ranked} ranked */
function bars(state, choice, ranked) {
  const limit = choice.selection.limit_ms ?? 0;
  const longest = Math.max(limit, ranked.max_ms, 100) * 1.08;
  return h(
    "ul",
    { class: "bars", "--limit": limit > 0 ? `${(100 * limit) / longest}%` : undefined, "aria-label": say("choice.pings") },
    choice.selection.players.map((player) => bar(state, choice.selection, ranked, player, longest)),
    limit > 0 && h("li", { class: "limit" }, h("span", {}, say("choice.limit", { ms: millis(limit) }))),
  );
}

/** @param {State} state @param {import("./types.js").Selection} selection @param {Ranked} ranked @param {string} player @param {number} longest */
function bar(state, selection, ranked, player, longest) {
  const rtt = ranked.rtt_ms[player] ?? 0;
  const loss = ranked.loss?.[player] ?? 0;
  const jitter = ranked.jitter_ms?.[player] ?? 0;
  const extra = [isEstimated(selection, player) && say("choice.estimated"), jitter >= 1 && say("unit.jitter", { ms: millis(jitter) }), loss > 0 && say("choice.lost", { n: Math.round(100 * loss) })].filter(Boolean).join(", ");
  return h(
    "li",
    { class: colourOf(state.people, player), "--length": `${(100 * rtt) / longest}%` },
    h("bdi", { class: "who" }, player),
    h("span", { class: "track" }, h("span", { class: "bar" })),
    h("span", { class: "figure" }, ping(selection, player, rtt), extra && h("small", {}, ` ${extra}`)),
  );
}

/** How much worse than their own best ping somebody gets there, if the rule uses that; otherwise empty. @param {Ranked} ranked */
export function givenUp(ranked) {
  if (!ranked.extra_ms) return "";
  const most = Math.max(0, ...Object.values(ranked.extra_ms));
  return most < 0.5 ? say("choice.own-best") : say("choice.given-up", { ms: millis(most) });
}

/** Whether an address only tells an entry from the others, as that of a region which the game measures: nobody is there. @param {string} addr */
export function isKey(addr) {
  return addr.startsWith("[2001:db8:6d75:");
}
