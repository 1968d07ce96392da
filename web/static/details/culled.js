// Why the other servers are out: a count for each reason, with its list one click away.

import { isKey } from "../choice.js";
import { button, h, show } from "../dom.js";
import { heat } from "../colours.js";
import { culled as fetchCulled } from "../api.js";
import { said, say } from "../say.js";

/** @param {import("../types.js").State} state */
export function culled(state) {
  const choice = state.choice;
  if (!choice) return [];
  const reasons = Object.entries(choice.selection.culled).filter(([, n]) => n > 0);
  if (reasons.length === 0) return [];
  return [
    h("ul", { class: "chips" }, reasons.map(([cause, n]) => h("li", { "data-key": cause }, button("culled", h("span", {}, ...said(`cause.${cause}.chip`, { n, strong: (...held) => h("strong", {}, ...held) })), { "data-cause": cause })))),
  ];
}

/** Shows the list of a cause. @param {HTMLDialogElement} dialog @param {string} cause @param {import("../types.js").State | null} state */
export async function openCulled(dialog, cause, state) {
  const mayWait = cause === "full" && Boolean(state?.you.organiser) && (state?.room.stage === "failed" || Boolean(state?.agreement.open));
  const close = h("form", { method: "dialog" }, h("button", {}, say("dialog.close")));
  show(dialog, h("p", { role: "status" }, say("culled.fetching")), close);
  dialog.showModal();
  try {
    const list = await fetchCulled(cause);
    show(dialog, h("h2", {}, say(`cause.${cause}.title`, { n: list.total })), list.total > list.servers.length && h("p", { class: "quiet" }, say("culled.first", { n: list.servers.length })), table(list, mayWait), close);
  } catch (error) {
    show(dialog, h("p", { role: "alert" }, ...said("culled.failed", { why: /** @type {Error} */ (error).message })), close);
  }
}

/** @param {{servers: {addr: string, name: string, map?: string, players: number, max_players: number, as_listed?: boolean, on?: string[], rtt_ms: Record<string, number>}[]}} list @param {boolean} mayWait */
function table(list, mayWait) {
  const players = [...new Set(list.servers.flatMap((server) => Object.keys(server.rtt_ms)))].sort();
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": say("table.servers") },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, [say("table.server"), say("culled.because"), ...players].map((name) => h("th", { scope: "col" }, h("bdi", {}, name))))),
      h("tbody", {}, list.servers.map((server) => h(
        "tr",
        {},
        h("th", { scope: "row" }, h("bdi", { class: "name" }, server.name || server.addr), h("small", {}, h("bdi", {}, [server.name && !isKey(server.addr) && server.addr, server.map, server.max_players ? `${server.players}/${server.max_players}` : "", server.as_listed && say("server.as-listed")].filter(Boolean).join(" · ")))),
        h("td", {}, mayWait ? button("wait-on", say("culled.wait-here"), { "data-addr": server.addr }) : said("list.of", { items: server.on ?? [] })),
        players.map((player) => (server.rtt_ms[player] === undefined ? h("td", { class: "heat" }, "–") : h("td", { class: `heat ${heat(server.rtt_ms[player])}` }, Math.round(server.rtt_ms[player])))),
      ))),
    ),
  );
}
