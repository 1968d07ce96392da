// Even pings in the game: before the launch captains agree to them, and afterwards everybody sees who
// has how much. Any player of the match ends them.

import { button, h } from "../dom.js";
import { millis, said, say } from "../say.js";
import { campName } from "./camps.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Match} Match */

/** What captains have agreed to, with the reader's button if they are one. Between bans it is short. @param {State} state @param {import("../app.js").View} view @param {Match} match @param {boolean} [isShort] */
export function consent(state, view, match, isShort) {
  const { agreed = [] } = match.evened ?? {};
  if (agreed.length === 0 && !state.people.some(({ delays }) => delays)) return false;
  const own = match.camps.find(({ captain }) => captain && captain === state.you.name);
  const isOn = Boolean(own && agreed.includes(own.side));
  const who = match.camps.filter(({ side }) => agreed.includes(side)).map(campName);
  return h(
    "p",
    { class: "evened", "data-key": "evened" },
    h("span", { class: "quiet" }, !isShort && `${say("even.how")} `, who.length > 0 && h("b", {}, say(who.length > 1 ? "even.both-agree" : "even.side-agrees", { side: who[0] }))),
    !view.tv && own && button("even", say(isOn ? "even.take-back" : "even.agree"), { title: say("even.how"), "data-on": isOn ? "" : "yes", "aria-pressed": String(isOn), "data-key": "even" }),
  );
}

/** Who has how much, while people play. @param {State} state @param {import("../app.js").View} view @param {Match} match @returns {HTMLElement | false} */
export function running(state, view, match) {
  const { added_ms: added, ended } = match.evened ?? {};
  if (ended) return h("p", { class: "evened quiet", "data-key": "evened" }, ...said("even.ended", { player: h("bdi", { dir: "auto" }, ended) }));
  if (!added) return false;
  const mayEnd = !view.tv && (state.you.organiser || match.camps.some(({ players }) => players.includes(state.you.name ?? "")));
  return h(
    "div",
    { class: "evened even", "data-key": "evened" },
    h("p", { class: "quiet" }, say("even.running")),
    h("ul", {}, Object.entries(added).map(([player, ms]) => h("li", { "data-key": player }, ...said("even.added", { player: h("bdi", { dir: "auto" }, player), ms: millis(ms) })))),
    mayEnd && button("even", say("even.end"), { "data-on": "", "data-key": "end even" }),
  );
}
