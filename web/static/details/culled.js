// Why the other servers are out: a count for each reason, with its list one click away.

import { button, count, h, show } from "../dom.js";
import { heat } from "../colours.js";
import { culled as fetchCulled } from "../api.js";

/** @type {Record<string, string>} */
const causes = {
  unreachable: "unreachable for someone",
  unmeasured: "not measured by everyone",
  over_threshold: "over the limit for someone",
  full: "without enough free seats",
  filtered: "another map, mode or mod",
  vetoed: "vetoed",
  hidden: "hidden by someone",
  hygiene: "no real server",
  blacklisted: "blacklisted",
  unknown: "silent about themselves",
  password: "with a password",
  version: "another version",
  ping_limits: "closed to someone's ping",
};

/** @param {import("../types.js").State} state */
export function culled(state) {
  const choice = state.choice;
  if (!choice) return [];
  const reasons = Object.entries(choice.selection.culled).filter(([, n]) => n > 0);
  if (reasons.length === 0) return [];
  return [
    h("ul", { class: "chips" }, reasons.map(([cause, n]) => h("li", { "data-key": cause }, button("culled", h("span", {}, h("strong", {}, n.toLocaleString("en")), ` ${causes[cause] ?? cause}`), { "data-cause": cause })))),
  ];
}

/** Shows the list of a cause. @param {HTMLDialogElement} dialog @param {string} cause @param {import("../types.js").State | null} state */
export async function openCulled(dialog, cause, state) {
  const mayWait = cause === "full" && Boolean(state?.you.organiser) && (state?.room.stage === "failed" || Boolean(state?.agreement.open));
  const close = h("form", { method: "dialog" }, h("button", {}, "Close"));
  show(dialog, h("p", { role: "status" }, "Fetching the list …"), close);
  dialog.showModal();
  try {
    const list = await fetchCulled(cause);
    show(dialog, h("h2", {}, `${count(list.total, "server")} ${causes[cause] ?? cause}`), list.total > list.servers.length && h("p", { class: "quiet" }, `The first ${list.servers.length}:`), table(list, mayWait), close);
  } catch (error) {
    show(dialog, h("p", { role: "alert" }, `The list cannot be had: ${/** @type {Error} */ (error).message}.`), close);
  }
}

/** @param {{servers: {addr: string, name: string, map?: string, players: number, max_players: number, as_listed?: boolean, on?: string[], rtt_ms: Record<string, number>}[]}} list @param {boolean} mayWait */
function table(list, mayWait) {
  const players = [...new Set(list.servers.flatMap((server) => Object.keys(server.rtt_ms)))].sort();
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Servers" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["Server", "Because of", ...players].map((name) => h("th", { scope: "col" }, h("bdi", {}, name))))),
      h("tbody", {}, list.servers.map((server) => h(
        "tr",
        {},
        h("th", { scope: "row" }, h("bdi", { class: "name" }, server.name || server.addr), h("small", {}, h("bdi", {}, [server.name && server.addr, server.map, server.max_players ? `${server.players}/${server.max_players}` : "", server.as_listed && "as the list says"].filter(Boolean).join(" · ")))),
        h("td", {}, mayWait ? button("wait-on", "Wait for seats here", { "data-addr": server.addr }) : h("bdi", {}, (server.on ?? []).join(", "))),
        players.map((player) => (server.rtt_ms[player] === undefined ? h("td", { class: "heat" }, "–") : h("td", { class: `heat ${heat(server.rtt_ms[player])}` }, Math.round(server.rtt_ms[player])))),
      ))),
    ),
  );
}
