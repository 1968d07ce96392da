// Links into a room that the system opened. The person is asked, and nothing else happens.

import { button, h } from "../dom.js";
import { capital, say, told } from "../say.js";
import { alarm } from "./alarm.js";
import { ask } from "./api.js";
import { mayHost, regions, remembered, self, tab } from "./forms.js";
import { runTime } from "../time.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Invitation} Invitation */

/** How long a question must be visible before a yes counts, ms: the second click on a link elsewhere is no answer. */
const readFor = 700;
/** When each invitation appeared. @type {Map<number, number>} */
const since = new Map();

/** @param {State} s @param {import("./types.js").Game[]} games @returns {HTMLElement[]} */
export function questions(s, games) {
  for (const id of since.keys()) if (!s.invitations.some((i) => i.id === id)) since.delete(id);
  return s.invitations.map((i) => {
    if (!since.has(i.id)) since.set(i.id, runTime());
    return i.wrong ? refused(i, i.wrong) : invitation(i, s, games);
  });
}

/** The title of the tab. @param {State} s */
export function title(s) {
  return s.invitations.length === 0 ? "" : s.invitations.some((i) => !i.wrong) ? say("invited.join-title") : say("invited.nowhere-title");
}

/** @param {Invitation} i @param {State} s @param {import("./types.js").Game[]} games */
function invitation(i, s, games) {
  const id = `invited-name-${i.id}`;
  const leaves = s.room.running && say(s.room.what === "host" ? "invited.closes" : "invited.leaves");
  return h(
    "form",
    { class: "question invited", "data-key": `invited-${i.id}`, "data-invited": i.id, "aria-labelledby": `${id}-title` },
    h("p", { id: `${id}-title` }, h("strong", {}, say(i.taken ? "invited.download" : "invited.link"))),
    h("dl", {}, h("dt", {}, say("invited.room")), h("dd", {}, h("bdi", {}, i.code ?? "")), h("dt", {}, say("invited.at")), h("dd", {}, h("bdi", {}, i.host ?? ""))),
    h("p", { class: "quiet" }, !i.taken && [say("invited.careful"), " "], leaves),
    h("div", { class: "field" }, h("label", { for: id }, say("invited.your-name")), h("input", { id, name: "player", value: remembered("name") || s.name, maxlength: 32, required: true, autocomplete: "nickname" })),
    mayHost(),
    regions(`invited-regions-${i.id}`, games.find((game) => game.dump)),
    h("p", { class: "buttons" }, h("button", { class: "primary" }, say("home.join-now")), button("decline", say("home.not-now"), { "data-id": String(i.id) })),
  );
}

/** @param {Invitation} i @param {import("./types.js").Sentence[]} wrong */
function refused(i, wrong) {
  return h(
    "div",
    { class: "question invited wrong", "data-key": `invited-${i.id}`, role: "group", "aria-label": say("invited.nowhere") },
    h("p", {}, h("strong", {}, say(i.taken ? "invited.no-room" : "invited.link-nowhere"))),
    wrong.map((line) => h("p", { class: "quiet" }, h("bdi", {}, capital(told(line))))),
    h("p", { class: "buttons" }, button("decline", say("home.ok"), { "data-id": String(i.id) })),
  );
}

/** Joins, and shows the room in its own tab. @param {HTMLFormElement} form */
export async function join(form) {
  const id = Number(form.dataset.invited);
  if (runTime() - (since.get(id) ?? runTime()) < readFor) return;
  const mine = self(form);
  alarm.allow();
  tab();
  await ask("invited", { id, yes: true, ...mine });
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = { decline: ({ id }) => ask("invited", { id: Number(id) }) };
