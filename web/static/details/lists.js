// The servers that people have brought: the group's own, and those that it never plays on.

import { button, count, h } from "../dom.js";

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
      prefer > 0 ? `One of ours is chosen unless another server is better by more than ${prefer} ms.` : "Ours are marked with ♥. The organiser can have one of them preferred: What we look for, More settings.",
    ),
    h("h2", {}, "Ours"),
    favourites.length > 0 ? list(state, favourites) : h("p", { class: "quiet" }, "Nobody has added favourites yet. Your program asks whether to share yours, if you have some for this game; Home keeps them, and so does muster lists."),
    hidden.length > 0 && h("h2", {}, "Hidden"),
    hidden.length > 0 && list(state, hidden),
    favourites.length > 0 && h("p", { class: "buttons" }, button("save-list", "Save as a file", {})),
    brings(state) && h(
      "details",
      { class: "own", "data-key": "bring" },
      h("summary", {}, "Add servers"),
      h("form", { "data-submit": "bring" }, h("label", { for: "brought" }, "One address a line, with its name behind it"), h("textarea", { id: "brought", name: "list", rows: 4, maxlength: 3000, spellcheck: "false", placeholder: "192.0.2.1:27960 our server" }), h("p", { class: "buttons" }, h("button", {}, "Add"))),
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
        h("small", {}, " ", one.name && h("bdi", {}, one.addr), one.name && " · ", "from ", h("bdi", {}, (one.by ?? []).join(", "))),
        state.you.organiser && h("span", { class: "say" }, button("strike", "Remove", { "data-addr": one.addr, "aria-label": `Remove ${one.name || one.addr} from the list` })),
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
  return `# ${count(state.lists.favourites.length, "server")} of the room ${(state.room.name || "").replaceAll(/[\r\n]/g, " ")}\n${lines.join("\n")}\n`;
}
