// The lobby: who is here, how the next person comes in, and what the group looks for.

import { countryName } from "../choice.js";
import { button, h, svg } from "../dom.js";
import { offers } from "../estimate.js";
import { gameName, invitation, playsHere, settings, silent, voice, welcome, wish } from "../gather.js";
import { next } from "../next.js";
import { said, say } from "../say.js";
import { sign } from "../sign.js";
import { meeting } from "./meeting.js";
import { go } from "./parts.js";
import { sentence } from "./stages.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../app.js").View} View */

/** How long a person is new, ms. */
const newFor = 10_000;

/** The number of letters from which a name is narrow, and narrower. */
const longName = 9;
const longerName = 14;

/** @param {import("../live.js").Live} live @param {View} view */
export function lobby(live, view) {
  const state = /** @type {State} */ (live.state);
  const people = state.people.toSorted((a, b) => (a.arrival ?? 0) - (b.arrival ?? 0));
  const me = view.tv ? undefined : whoIs(state);
  meet(people, view);
  return [
    h("div", { class: "hello", "data-key": "hello" }, me && sign(me, 112), me ? h("h1", {}, ...said("lobby.you-are-in", { player: me.name })) : h("h1", { "--letters": say("lobby.who").length }, say("lobby.who")), me && ownGame(state, me)),
    h(
      "ul",
      { class: "here", "data-key": "here", "data-many": many(people.length), "aria-label": say("lobby.here") },
      people.map((person) => one(state, person, view, person === me)),
      !view.tv && playsHere(state) && h("li", { class: "one", "data-key": "invite them" }, button("invite", [seat(), h("span", { class: "name" }, say("lobby.invite"))], { class: "inviting", "data-copy-text": state.you.link })),
    ),
    !state.you.name && !view.tv && h("section", { id: "welcome", class: "card", "data-key": "welcome" }, welcome(state)),
    looks(state, view),
    h(
      "div",
      { class: "start", "data-key": "start" },
      state.you.organiser && !view.tv && go(state, say("lobby.find"), { class: "primary large", disabled: !people.some(plays) }),
      h("p", { class: "count" }, sentence(state)),
      silent(state),
      !view.tv && next(state),
      !view.tv && voice(state),
      !view.tv && offers(state),
      meeting(state, view),
    ),
    h("section", { id: "invite", class: playsHere(state) || view.tv ? "ticket" : "ticket along", "data-key": "invite" }, invitation(state, view)),
  ];
}

/** Runs once the children are on the page. */
export function shown() {}

/** @param {Person} person */
const plays = (person) => person.peer && person.connected;

/** The person at the page, if they play. @param {State} state */
function whoIs(state) {
  const { name, organiser } = state.you;
  return state.people.find((person) => person.peer && (name ? person.name === name : organiser && person.organiser));
}

/** The size class for a number of people. @param {number} n */
function many(n) {
  return n <= 4 ? "few" : n <= 8 ? "some" : n <= 18 ? "many" : "crowd";
}

/** Notes when people arrive. People who were here before the page are not new. @param {Person[]} people @param {View} view */
function meet(people, view) {
  const at = view.met.size > 0 ? Date.now() : 0;
  for (const { name } of people) if (!view.met.has(name)) view.met.set(name, at);
  if (people.length === 0) view.met.set("", 0); // the first person is new, too
}

/** @param {State} state @param {Person} person @param {View} view @param {boolean} isMe */
function one(state, person, view, isMe) {
  const isNew = Date.now() - (view.met.get(person.name) ?? 0) < newFor;
  const letters = [...person.name].length;
  const [word, tone] = isNew && plays(person) ? [say("lobby.new"), "gold"] : doing(person);
  return h(
    "li",
    { class: `one p${(person.arrival ?? 0) % 16}${isNew ? " new" : ""}${isMe ? " me" : ""}`, "data-key": `person ${person.name}` },
    h("span", { class: "face" }, sign(person, 88)),
    h("bdi", { class: "name", "data-long": letters >= longerName ? "very" : letters >= longName ? "quite" : undefined }, person.name),
    h("span", { class: `sub ${tone}` }, person.organiser ? say("lobby.organiser", { doing: word }) : word),
    person.country && !person.somewhere && h("span", { class: "sub" }, say("country.about", { country: countryName(person.country) })),
  );
}

/** What a person is doing, in a few words; the details say more. @param {Person} person @returns {[words: string, tone: string]} */
function doing(person) {
  if (!person.peer && person.estimate?.counted) return [say("lobby.estimated"), ""];
  if (!person.peer) return [say(person.page ? "lobby.watching" : "person.away"), ""];
  if (!person.connected) return [say("person.away"), ""];
  if (person.unable) return [say("lobby.unable"), "bad"];
  return [say(person.able ? "lobby.able" : "person.here"), ""];
}

/** An empty seat. */
function seat() {
  return svg("svg", { class: "sign seat", viewBox: "-8 -8 116 116", width: 88, height: 88, "aria-hidden": "true" }, svg("circle", { cx: 50, cy: 50, r: 44 }), svg("path", { d: "M50 28v44M28 50h44" }));
}

/** Whether the person's own computer can start the game. @param {State} state @param {Person} me */
function ownGame(state, me) {
  if (me.unable) return h("p", { class: "own-game bad" }, ...said("lobby.own-unable", { game: gameName(state), why: me.unable }));
  return me.able && h("p", { class: "own-game" }, svg("svg", { class: "sign", viewBox: "76 76 32 32", width: 24, height: 24, "aria-hidden": "true" }, svg("g", { class: "can" }, svg("circle", { cx: 92, cy: 92, r: 15 }), svg("path", { d: "m85 92 5 5 9-10" }))), ...said("lobby.own-able", { game: gameName(state) }));
}

/** What the group looks for, in a sentence; the organiser changes it in place. @param {State} state @param {View} view */
function looks(state, view) {
  const words = said("lobby.look-for", { quiet: (...held) => h("span", { class: "quiet" }, ...held), strong: (...held) => h("strong", {}, ...held), wish: wish(state) });
  if (view.tv) return h("p", { class: "looks", "data-key": "looks" }, words);
  return h(
    "details",
    { id: "settings", class: "card looks", "data-key": "settings" },
    h("summary", {}, h("span", {}, words), h("span", { class: "change" }, say(state.you.organiser ? "lobby.change" : "lobby.more"))),
    settings(state),
  );
}
