// Moving on: what the room proposes to people who play, and where everyone is.

import { ask } from "../api.js";
import { button, h } from "../dom.js";
import { said, say, tell } from "../say.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */

/** The way to the server where a person is: people who stayed keep the old one. @param {State} state @param {Person | undefined} me @returns {State["way"]} */
export function wayOf(state, me) {
  return state.moving?.places.find((place) => me && place.players.includes(me.name))?.way ?? state.way;
}

/** The proposal, with the reader's answer, and the servers with their people. @param {State} state @param {Person | undefined} me */
export function moving(state, me) {
  const { proposal, places } = state.moving ?? { places: [] };
  if (!proposal && places.length === 0) return false;
  const mine = me && proposal?.answers[me.name];
  const answers = Object.values(proposal?.answers ?? {});
  const asked = Boolean(proposal && me && proposal.asked.includes(me.name) && me.connected && me.launch !== "declined");
  const choice = (/** @type {string} */ answer, /** @type {string} */ text, /** @type {boolean} */ first) =>
    button("moveon", text, { class: first ? "primary" : "", "data-addr": proposal?.addr, "data-answer": mine === answer ? "" : answer, "aria-pressed": String(mine === answer) });
  return h(
    "section",
    { class: "moving card", "data-key": "moving", "aria-label": say("moving.label") },
    proposal && h("p", { class: "about" }, ...tell(proposal.why)),
    asked && h("p", { class: "buttons" }, proposal?.tells_map && choice("after-map", say("moving.after-map"), true), choice("now", say("moving.now"), !proposal?.tells_map), choice("no", say("moving.stay"), false)),
    proposal && answers.length > 0 && h("p", { class: "quiet" }, say("moving.answers", { go: answers.filter((one) => one === "after-map").length, stay: answers.filter((one) => one === "no").length })),
    transfers(state),
    places.length > 0 && h("ul", {}, places.map((place) => h("li", { "data-key": place.way.connect }, ...said("moving.place", { server: place.way.server, players: place.players })))),
  );
}

// A name that goes into a command may hold nothing that ends it.
const plainName = /^\w{1,16}$/;

/** What the organiser types on the old server, if it is theirs, to send on who said yes. @param {State} state */
function transfers(state) {
  const { proposal, places } = state.moving ?? { places: [] };
  const template = state.way?.transfer;
  const at = proposal?.addr.match(/^\[?(.*?)\]?:(\d+)$/);
  if (!proposal || !template || !at || !state.you.organiser) return false;
  const gone = places.find(({ way }) => way.connect === proposal.addr)?.players ?? [];
  const names = [...gone, ...proposal.asked.filter((name) => proposal.answers[name] === "after-map")].filter((name) => plainName.test(name));
  const host = at[1].includes(":") ? `"${at[1]}"` : at[1];
  const all = names.map((name) => template.replace("{host}", host).replace("{port}", at[2]).replace("{player}", name));
  return all.length > 0 && h("div", {}, h("p", { class: "quiet" }, say("moving.transfer")), all.map((command) => h("p", { "data-key": command }, h("code", {}, command), " ", button("copy", say("share.copy"), { "data-copy-text": command, "aria-label": `${say("share.copy")}: ${command}` }))));
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = { moveon: ({ addr, answer }) => ask("moveon", { addr, answer }) };
