// The details below the stage, which people unfold.

import { credential } from "../api.js";
import { byId, show } from "../dom.js";
import { invitation, mine, settings, steering } from "../gather.js";
import { people } from "../people.js";
import { regulars } from "../stages/meeting.js";
import { culled } from "./culled.js";
import { lists } from "./lists.js";
import { evening, log } from "./notes.js";
import { drawPicture, drawSpread } from "./plots.js";
import { ranking } from "./ranking.js";
import { sites } from "./sites.js";
import { showLimit, whatIf } from "./whatif.js";
import { why } from "./why.js";
import { soon } from "../time.js";

/** @typedef {import("../live.js").Live} Live */
/** @typedef {import("../app.js").View} View */

/** The details whose content is on the page. @type {Set<string>} */
const drawn = new Set();

/**
 * Draws the open details only.
 * @param {Live} live @param {View} view @param {() => void} entitle moves the focus to the stage's title
 */
export function drawDetails(live, view, entitle) {
  const all = /** @type {HTMLDetailsElement} */ (byId("details"));
  for (const [id, isThere, children] of details(live, view)) {
    const detail = /** @type {HTMLDetailsElement} */ (byId(id));
    if (!isThere && !detail.hidden && detail.contains(document.activeElement)) soon(entitle);
    detail.hidden = !isThere;
    if (!isThere && drawn.delete(id)) show(/** @type {Element} */ (detail.lastElementChild), []); // the stage may have the same ids
    if (isThere && all.open && detail.open) (drawn.add(id), show(/** @type {Element} */ (detail.lastElementChild), children()));
  }
  if (document.activeElement instanceof HTMLInputElement && document.activeElement.id === "whatif-limit") showLimit(document.activeElement);
  drawPicture(live);
  drawSpread(live);
  const asked = view.show && document.querySelector(`#details > details#${CSS.escape(view.show)}:not([hidden])`);
  if (!(asked instanceof HTMLDetailsElement)) return;
  view.show = null;
  all.open = asked.open = true;
  asked.scrollIntoView();
}

/** All details: whether each has content, and its children. @param {Live} live @param {View} view @returns {[id: string, isThere: boolean, children: () => any[]][]} */
function details(live, view) {
  const state = /** @type {import("../types.js").State} */ (live.state);
  const { stage } = view;
  const { choice, room, you } = state;
  const isLobby = stage === "lobby";
  const isOver = stage === "night" && !state.meeting;
  const isNight = stage === "night";
  const isOpen = !state.match || Boolean(state.match.decided); // until then nobody's pings are for others
  return [
    ["people", true, () => [...people(live), ...regulars(state)]],
    ["why", isOpen && choice !== null && room.stage !== "failed", () => why(state)],
    ["whatif", choice !== null && !isNight && isOpen, () => whatIf(state)],
    ["ranking", isOpen && ((state.whatif ?? choice)?.selection.ranking.length ?? 0) > 0, () => ranking(state, view.order)],
    ["lists", Boolean(state.lists), () => lists(state)],
    ["culled", isOpen && Object.values(choice?.selection.culled ?? {}).some((n) => n > 0), () => culled(state)],
    ["sites", isOpen && !state.places && ((room.candidates ?? []).length > 0 || Boolean(state.sites)) && !isOver, () => sites(state)],
    ["evening", (state.evening ?? []).length > 0, () => evening(state)],
    ["log", true, () => log(state)],
    ["invitation", !isLobby && !isNight, () => invitation(state, view)],
    ["terms", !isLobby && !isOver && stage !== "failed", () => settings(state)],
    ["me", Boolean(you.name) && !isOver, () => mine(state, credential())],
    ["steer", (Boolean(you.organiser) || room.locked) && !isOver, () => steering(state)],
  ];
}
