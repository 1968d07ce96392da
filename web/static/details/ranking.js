// The best servers as a table of players × servers.

import { button, h } from "../dom.js";
import { heat } from "../colours.js";
import { isEstimated } from "../estimate.js";
import { asListed, countryName, isKey, serverName, strange, targetOf } from "../choice.js";
import { hasMoved, hasSay, meOf } from "../people.js";
import { millis, number, said, say } from "../say.js";
import { isArmed, sure } from "../sure.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Ranked} Ranked */

/** @typedef {{by: string, down: boolean}} Order */

/** The value of a choice by which the table is sorted. @param {Ranked} ranked @param {string} by */
function valueOf(ranked, by) {
  if (by === "average") return ranked.mean_ms;
  if (by === "worst") return ranked.max_ms;
  if (by === "spread") return ranked.stdev_ms;
  return by.startsWith("player ") ? (ranked.rtt_ms[by.slice(7)] ?? Infinity) : 0;
}

/** @param {State} state @param {Order} order */
export function ranking(state, order) {
  const choice = state.whatif ?? state.choice;
  if (!choice || choice.selection.ranking.length === 0) return [];
  const places = new Map(choice.selection.ranking.map((ranked, i) => [ranked.addr, i + 1]));
  const rows = choice.selection.ranking.toSorted((a, b) => (order.down ? -1 : 1) * (valueOf(a, order.by) - valueOf(b, order.by)));
  const players = choice.selection.players;
  const versions = differing(choice);
  return [
    state.whatif && h("h2", {}, say("ranking.what-if")),
    versions.size > 1 && h("p", { class: "quiet" }, ...said("ranking.versions", { versions: [...versions].map(([version, n]) => ({ key: "ranking.version-count", with: { version, n } })) })),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": say("ranking.label") },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, head("rank", "#", order), h("th", { scope: "col" }, say("table.server")), head("average", say("table.average"), order), head("worst", say("ranking.worst"), order), head("spread", say("ranking.spread"), order), players.map((player) => head(`player ${player}`, player, order)))),
        h("tbody", {}, rows.map((ranked) => row(state, choice, ranked, places.get(ranked.addr) ?? 0))),
      ),
    ),
    state.you.organiser && !hasMoved(state) && hide(choice),
  ];
}

/** A form to hide a server from the room. It is one field for all servers, because a field in each row would make many stops for Tab. @param {import("../types.js").Choice} choice */
function hide(choice) {
  const options = choice.selection.ranking.map(({ addr }) => h("option", { value: addr }, serverName(choice, addr)));
  return h("p", { class: "hide-here buttons", "data-key": "hide" }, h("label", { for: "hide-which" }, say("ranking.never")), h("select", { id: "hide-which" }, options), ...sure("hide-here", say("ranking.hide"), "lists.hide-sure"));
}

/** @param {string} by @param {string} label @param {Order} order */
function head(by, label, order) {
  const sorted = order.by === by ? (order.down ? "descending" : "ascending") : undefined;
  const arrow = sorted ? (order.down ? " ↓" : " ↑") : "";
  return h("th", { scope: "col", "aria-sort": sorted, "data-key": by }, button("sort", h("span", {}, h("bdi", {}, label), arrow), { "data-by": by }));
}

/** @param {State} state @param {import("../types.js").Choice} choice @param {Ranked} ranked @param {number} place */
function row(state, choice, ranked, place) {
  const chosen = targetOf(choice)?.addr === ranked.addr;
  const server = choice.servers[ranked.addr];
  return h(
    "tr",
    { "data-key": ranked.addr, class: chosen ? "chosen" : "" },
    h("td", { class: "place" }, place),
    h("th", { scope: "row" }, ranked.ours && h("span", { class: "ours", title: say("ranking.one-of-ours"), role: "img", "aria-label": say("ranking.one-of-ours") }, "♥ "), h("bdi", { class: "name" }, serverName(choice, ranked.addr)), h("small", {}, h("bdi", {}, details(state, ranked, server, differing(choice).size > 1))), strange(server), state.agreement.open && h("span", { class: "say" }, ballot(state, ranked.addr, server))),
    h("td", {}, millis(ranked.mean_ms)),
    h("td", {}, millis(ranked.max_ms)),
    h("td", {}, millis(ranked.stdev_ms)),
    choice.selection.players.map((player) => cell(ranked.rtt_ms[player], isEstimated(choice.selection, player))),
  );
}

/** @param {number | undefined} ms @param {boolean} estimated */
function cell(ms, estimated) {
  return ms === undefined ? h("td", { class: "heat" }, "–") : h("td", { class: `heat ${heat(ms)}` }, estimated ? say("unit.guess", { ms: Math.round(ms) }) : number(Math.round(ms)));
}

/** How many of the best servers have each version, the most frequent first. @param {import("../types.js").Choice} choice */
function differing(choice) {
  /** @type {Map<string, number>} */
  const versions = new Map();
  for (const { addr } of choice.selection.ranking) {
    const version = choice.servers[addr]?.version;
    if (version) versions.set(version, (versions.get(version) ?? 0) + 1);
  }
  return new Map([...versions].toSorted(([, a], [, b]) => b - a).slice(0, 5));
}

/** @param {State} state @param {Ranked} ranked @param {import("../types.js").Server | undefined} server @param {boolean} versioned */
function details(state, ranked, server, versioned) {
  const looked = Object.keys(ranked.worst_ms ?? {});
  const facts = [looked.length > 0 ? quality(ranked, looked) : "", server?.name && !isKey(ranked.addr) ? ranked.addr : "", server?.map ?? "", versioned ? (server?.version ?? "") : "", server?.mod && server.mod !== server.mode ? say("server.mod", { mod: server.mod }) : "", server?.max_players ? `${server.players}/${server.max_players}` : "", countryName(server?.country), server?.as_listed ? asListed(state) : ""];
  return facts.filter(Boolean).join(" · ");
}

/** The quality that a long look showed. @param {Ranked} ranked @param {string[]} players */
function quality(ranked, players) {
  const mean = (/** @type {Record<string, number> | undefined} */ of) => players.reduce((sum, name) => sum + (of?.[name] ?? 0), 0) / players.length;
  return say("ranking.quality", { lost: 100 * mean(ranked.loss), n: mean(ranked.jitter_ms) });
}

/** Voting and vetoing. @param {State} state @param {string} addr @param {import("../types.js").Server | undefined} server */
function ballot(state, addr, server) {
  const votes = state.people.filter((person) => person.vote === addr).length;
  const me = meOf(state);
  if (!me || !hasSay(state, me)) return votes > 0 ? say("ranking.votes", { n: votes }) : "";
  const mine = me.vote === addr;
  return [
    state.agreement.ballot.includes(addr) && button("vote", votes > 0 ? say("ranking.vote-count", { n: votes }) : say("vote.cast"), { "data-addr": mine ? "" : addr, "aria-pressed": String(mine) }),
    !me.vetoed && button("veto", say(isArmed(addr) ? "pick.veto-now" : "vote.veto"), { "data-addr": addr, class: "danger" }),
    !me.vetoed && server?.map && button("veto", isArmed(server.map) ? say("pick.veto-now") : said("ranking.veto-map", { map: server.map }), { "data-map": server.map, class: "danger" }),
  ].filter(Boolean);
}
