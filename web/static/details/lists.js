// The servers that people have brought: the group's own, and the ones that it never plays on.

import { button, h } from "../dom.js";
import { hasMoved } from "../people.js";
import { millis, said, say } from "../say.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Brought} Brought */

/** Whether the person may bring servers: players may, and the organiser. @param {State} state */
const brings = (state) => Boolean(state.you.organiser) || state.people.some((person) => person.peer && person.name === state.you.name);

/** @param {State} state */
export function lists(state) {
  const { favourites, hidden } = state.lists;
  const prefer = state.room.prefer_ms ?? 0;
  return [
    h(
      "p",
      { class: "quiet" },
      prefer > 0 ? say("lists.ours-preferred", { ms: millis(prefer) }) : say("lists.ours-marked"),
    ),
    h("h2", {}, say("lists.ours")),
    favourites.length > 0 ? list(state, favourites) : h("p", { class: "quiet" }, say("lists.none")),
    hidden.length > 0 && h("h2", {}, say("lists.hidden")),
    hidden.length > 0 && list(state, hidden),
    favourites.length > 0 && h("p", { class: "buttons" }, button("save-list", say("lists.save"), {})),
    brings(state) && h(
      "details",
      { class: "own", "data-key": "bring" },
      h("summary", {}, say("lists.add-servers")),
      h("form", { "data-submit": "bring" }, h("label", { for: "brought" }, say("lists.one-a-line")), h("textarea", { id: "brought", name: "list", rows: 4, maxlength: 3000, spellcheck: "false", placeholder: say("lists.example") }), h("p", { class: "buttons" }, h("button", {}, say("lists.add")))),
    ),
  ];
}

/** @param {State} state @param {Brought[]} brought */
function list(state, brought) {
  return h(
    "ul",
    { class: "brought" },
    brought.map((one) =>
      h(
        "li",
        { "data-key": one.addr },
        h("bdi", { class: "name" }, one.name || one.addr),
        h("small", {}, " ", ...(one.name ? said("lists.from-at", { address: one.addr, players: one.by ?? [] }) : said("lists.from", { players: one.by ?? [] }))),
        state.you.organiser && !hasMoved(state) && h("span", { class: "say" }, button("strike", say("people.remove"), { "data-addr": one.addr, "aria-label": say("lists.remove", { server: one.name || one.addr }) })),
      ),
    ),
  );
}

/** An address at the start of a line, with its port. */
const line = /^\s*(?:[A-Za-z0-9.]{1,20}\s+)?((?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\]):\d{1,5})(?:\s+([^#]*))?/;

/** The servers that the lines name, and the number of lines without one. @param {string} text @returns {{favourites: {addr: string, name: string}[], others: number}} */
export function broughtOf(text) {
  const lines = text.split("\n").filter((one) => one.trim() && !one.trim().startsWith("#"));
  const favourites = lines.flatMap((one) => {
    const found = line.exec(one);
    return found ? [{ addr: found[1], name: (found[2] ?? "").trim().slice(0, 64) }] : [];
  });
  return { favourites, others: lines.length - favourites.length };
}

/** The room's own servers as a list for programs. @param {State} state */
export function written(state) {
  const lines = state.lists.favourites.map((one) => `${one.addr} ${(one.name ?? "").replaceAll("#", "")}`.trim());
  return `# ${say("lists.file", { n: lines.length, room: state.room.name || state.room.code })}\n${lines.join("\n")}\n`;
}
