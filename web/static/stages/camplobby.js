// The lobby of a match: two sides that people choose, or are put on by the organiser. A captain may
// take people who are on neither side, and hand on being captain. A link of a side leads onto it.

import { ask } from "../api.js";
import { button, dotted, h, svg } from "../dom.js";
import { said, say } from "../say.js";
import { sign } from "../sign.js";
import { campName, campOf, onNeither, peopleOf, sizeOf } from "./camps.js";
import { consent } from "./evened.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Match} Match */
/** @typedef {import("../types.js").Camp} Camp */
/** @typedef {import("../app.js").View} View */

/** Whose buttons are open; and whether people can be moved where that takes a press, because rows as high as a finger have no room. */
const opened = { name: "", moves: false };

/** Where sides of many people have low rows. */
const small = "(max-width: 47.99rem), (max-height: 32rem)";

/** The side that the page's link leads to, and whether the page has asked for it. */
const link = { side: new URLSearchParams(globalThis.location?.search).get("side"), asked: false };

/** The sides, and below them the people on neither. @param {State} state @param {View} view @param {Person | undefined} me */
export function sides(state, view, me) {
  const match = /** @type {Match} */ (state.match);
  const neither = onNeither(state, match);
  const many = sizeOf(Math.max(...match.camps.map((camp) => camp.players.length)));
  const isLow = Boolean(many) && !view.tv && matchMedia(small).matches;
  const mayMove = Boolean(state.you.organiser) || match.camps.some(({ captain }) => me && captain === me.name);
  const isStill = isLow && !opened.moves;
  comeIn(state, match, me);
  return h(
    "div",
    { class: `sides${isStill ? " still" : ""}`, "data-key": "sides", "data-many": many },
    match.camps.map((camp) => team(state, view, match, camp, me, isStill)),
    consent(state, view, match),
    (neither.length > 0 || (isLow && mayMove)) && h(
      "section",
      { class: "neither", "data-key": "neither", "aria-label": say("match.neither") },
      neither.length > 0 && [h("h3", {}, say("match.neither")), h("ul", {}, neither.map((person) => member(state, view, match, undefined, person, me, isStill)))].flat(),
      isLow && mayMove && button("move-people", say("match.move-people"), { class: "move-people", "aria-pressed": String(opened.moves) }),
    ),
  );
}

/** The title: who plays whom. @param {Match} match */
export const title = ({ camps: [a, b] }) => said("match.versus", { a: campName(a), b: campName(b) });

/** What kind of match it is, in a few words. @param {State} state */
export function terms(state) {
  const match = /** @type {Match} */ (state.match);
  const maps = match.maps.length;
  const turn = Number(state.room.turn_ms) || 0;
  const kind = `bo${match.best_of || 1}`;
  return h("p", { class: "match-terms quiet", "data-key": "terms" }, dotted(say(`setting.match.${kind}`), maps > 0 && say("match.pool", { n: maps }), turn > 0 && say("match.a-move", { time: say("unit.s", { n: turn / 1000 }) })));
}

/** Goes to the side of the page's link, once, and only from neither side. @param {State} state @param {Match} match @param {Person | undefined} me */
function comeIn(state, match, me) {
  if (link.asked || !me || me.name !== state.you.name || !campOf(match, link.side ?? "")) return;
  link.asked = true;
  if (!sideOf(match, me)) void ask("side", { side: link.side }).catch(() => {}); // the buttons are there, too
}

/** @param {Match} match @param {Person} person */
const sideOf = (match, person) => match.camps.find((camp) => camp.players.includes(person.name))?.side ?? "";

/** @param {State} state @param {View} view @param {Match} match @param {Camp} camp @param {Person | undefined} me @param {boolean} isStill */
function team(state, view, match, camp, me, isStill) {
  const people = peopleOf(state, camp);
  const isOwn = Boolean(me && sideOf(match, me) === camp.side);
  const name = campName(camp);
  const id = `team-${camp.side}`;
  return h(
    "section",
    { class: `team${isOwn ? " own-side" : ""}`, "data-key": id, "aria-labelledby": id },
    h("div", { class: "team-head" }, nameOf(state, view, camp, id), !view.tv && button("send-link", chain(), { class: "copy-side", "aria-label": say("match.copy-side", { side: name }), title: say("match.copy-side", { side: name }), "data-copy-text": state.you.link.replace("/#", `/?side=${camp.side}#`) })),
    h("ul", { class: "team-people" }, people.map((person) => member(state, view, match, camp, person, me, isStill)), people.length === 0 && h("li", { class: "nobody" }, say("match.nobody"))),
    !view.tv && me && foot(state, camp, me, isOwn),
  );
}

/** A side's name, which the organiser changes in place. @param {State} state @param {View} view @param {Camp} camp @param {string} id */
function nameOf(state, view, camp, id) {
  if (!state.you.organiser || view.tv) return h("h2", { id }, h("bdi", { dir: "auto" }, campName(camp)));
  return h(
    "form",
    { "data-change": "settings", class: "team-name" },
    h("h2", { id, class: "unseen" }, h("bdi", {}, campName(camp))),
    h("input", { name: `side_${camp.side}`, "data-kind": "text", value: camp.name, maxlength: 40, placeholder: say(`match.side.${camp.side}`), autocomplete: "off", dir: "auto", "aria-label": say("match.name-side", { side: say(`match.side.${camp.side}`) }) }),
  );
}

/** A link, as a picture. */
function chain() {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: "M10 14a4 4 0 0 0 5.7 0l3.6-3.6a4 4 0 0 0-5.7-5.7L12 6.3M14 10a4 4 0 0 0-5.7 0l-3.6 3.6a4 4 0 0 0 5.7 5.7l1.6-1.6" }));
}

/** @param {State} state @param {Camp} camp @param {Person} me @param {boolean} isOwn */
function foot(state, camp, me, isOwn) {
  const of = me.name === state.you.name ? {} : { "data-name": me.name };
  const mayAsk = isOwn && camp.captain === state.you.name && !camp.asks;
  if (isOwn) return h("p", { class: "team-foot" }, h("span", {}, say("match.on-side")), button("to-side", say("match.leave-side"), { class: "leave-side", "data-side": "", ...of }), mayAsk && button("ask-look", say("match.ask-look"), { class: "ask-look", title: say("match.ask-look-how"), "data-key": "look" }), camp.asks && h("span", { class: "quiet", "data-key": "asked" }, say("match.has-asked")));
  return h("p", { class: "team-foot" }, button("to-side", say("match.join-side"), { class: "join-side", "data-side": camp.side, "aria-label": say("match.join", { side: campName(camp) }), ...of }));
}

/** A person, whose row opens what others may do about them. @param {State} state @param {View} view @param {Match} match @param {Camp | undefined} camp @param {Person} person @param {Person | undefined} me @param {boolean} isStill whether nobody is moved now */
function member(state, view, match, camp, person, me, isStill) {
  const may = view.tv || isStill ? [] : tools(state, match, camp, person, me);
  const isOpen = may.length > 0 && opened.name === person.name;
  const isCaptain = camp?.captain === person.name;
  const row = [sign(person, 40), h("bdi", { class: "who", dir: "auto" }, person.name), isCaptain && h("span", { class: "captain" }, say("match.captain")), may.length > 0 && h("span", { class: "more-of", "aria-hidden": "true" }, "⋯")];
  return h(
    "li",
    { "data-key": person.name, class: isOpen ? "open" : "" },
    may.length > 0 ? h("button", { type: "button", class: "row", "data-action": "team-menu", "data-name": person.name, "aria-expanded": String(isOpen) }, row) : h("span", { class: "row" }, row),
    isOpen && h("span", { class: "team-tools" }, may),
  );
}

/** What the person at the page may do about somebody. @param {State} state @param {Match} match @param {Camp | undefined} camp @param {Person} person @param {Person | undefined} me */
function tools(state, match, camp, person, me) {
  const isOrganiser = Boolean(state.you.organiser);
  const led = match.camps.find((one) => me && one.captain === me.name);
  const to = (/** @type {string} */ side, /** @type {import("../dom.js").Child[]} */ words) => button("to-side", words, { "data-side": side, "data-name": person.name, "data-key": `to ${side}` });
  const others = match.camps.filter((one) => one !== camp && (isOrganiser || (one === led && !camp)));
  return [
    ...others.map((one) => to(one.side, said("match.to-side", { side: campName(one) }))),
    camp && isOrganiser && to("", [say("match.to-neither")]),
    camp && camp.captain !== person.name && (isOrganiser || camp === led) && button("captain", say("match.make-captain"), { "data-name": person.name, "data-key": "captain" }),
  ].filter((one) => one instanceof Node);
}

/** The actions of the buttons here. @param {() => void} changed @returns {Record<string, (data: DOMStringMap) => unknown>} */
export function actions(changed) {
  const close = () => ((opened.name = ""), changed());
  return {
    even: ({ on = "" }) => ask("even", { on: on === "yes" }),
    "ask-look": () => ask("ask_look"),
    "move-people": () => ((opened.moves = !opened.moves), close()),
    "team-menu": ({ name = "" }) => ((opened.name = opened.name === name ? "" : name), changed()),
    "to-side": ({ side = "", name }) => ask("side", { side, ...(name && { name }) }).then(close),
    captain: ({ name }) => ask("captain", { name }).then(close),
  };
}
