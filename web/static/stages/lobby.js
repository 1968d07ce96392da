// The lobby: who is here and where they come from, how the next person comes in, and what the group
// looks for.

import { countryName } from "../choice.js";
import { button, h, svg } from "../dom.js";
import { offers } from "../estimate.js";
import { besideTicket, firstTicket, gameName, invitation, playsHere, settings, silent, voice, welcome, wish } from "../gather.js";
import { next } from "../next.js";
import { inOrder } from "../people.js";
import { said, say } from "../say.js";
import { sign } from "../sign.js";
import * as sound from "../sound.js";
import { hasMenu, opener, showMenu, signMenu } from "./menu.js";
import { meeting } from "./meeting.js";
import { isMapped, isPlaced, namesFit, place, spotOf, stands } from "./onmap.js";
import { go, onItsSide } from "./parts.js";
import { bubbles, reactions, rising } from "./reactions.js";
import { sentence } from "./stages.js";
import { wallTime } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../app.js").View} View */

/** What everybody in the lobby is drawn with. @typedef {{state: State, view: View, me: Person | undefined, named: boolean, rising: ReturnType<typeof rising>}} Scene */

/** How long a person is new, ms. */
const newFor = 10_000;

/** The number of letters from which a name is narrow, and narrower. */
const longName = 9;
const longerName = 14;

/** What a sign with its name needs on the map, px²: usually, on a small screen, and on a low one. */
const [roomy, small, low] = [30_000, 18_000, 24_000];

/** The number of names that people read at a glance. */
const glance = 3;

/** The sides of a match, once they are loaded. @type {{drawn: typeof import("./camplobby.js") | null, isLoading: boolean}} */
const sides = { drawn: null, isLoading: false };

/** Loads what a match's lobby needs. @param {View} view */
function loadSides(view) {
  if (sides.isLoading) return;
  sides.isLoading = true;
  const style = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[href$='match-lobby.css']"));
  if (style) style.disabled = false;
  void import("./camplobby.js").then((drawn) => ((sides.drawn = drawn), view.changed()), () => (sides.isLoading = false));
}

/** @param {import("../live.js").Live} live @param {View} view */
export function lobby(live, view) {
  const state = /** @type {State} */ (live.state);
  const people = inOrder(state.people);
  const me = view.tv ? undefined : whoIs(state);
  meet(people, view);
  if (state.match && !sides.drawn) loadSides(view);
  if (isForTheFirst(state, view)) return first(state, view, people);
  const mapped = !state.match && isMapped(people, view.changed);
  const least = view.tv ? roomy : matchMedia(onItsSide).matches ? low : matchMedia("(max-width: 63.99rem)").matches ? small : roomy;
  const scene = { state, view, me, named: !mapped || namesFit(people.length, least), rising: rising(state, live.now()) };
  const [onMap, beside] = mapped ? [people.filter(isPlaced), people.filter((person) => !isPlaced(person))] : [people, []];
  const invite = !view.tv && playsHere(state) && button("invite", [seat(), h("span", { class: "name" }, say("lobby.invite"))], { class: "inviting", "data-key": "invite them", "data-copy-text": state.you.link });
  const here = [
    hello(state, view, me),
    state.match && sides.drawn ? sides.drawn.sides(state, view, me) : h(
      "div",
      { class: mapped ? "room mapped" : "room", "data-key": mapped ? "map" : "room", "data-named": String(scene.named) },
      mapped && h("div", { class: "flat", "data-key": "flat", "data-keep": true, "aria-hidden": "true" }),
      h("ul", { class: "here", "data-key": "here", "data-many": many(people.length), "aria-label": say("lobby.here") }, onMap.map((person) => one(scene, person, mapped)), !mapped && invite && h("li", { class: "one", "data-key": "invite them" }, invite)),
    ),
    ...(mapped ? below(scene, people, beside) : []),
    !state.you.name && !view.tv && h("section", { id: "welcome", class: "card", "data-key": "welcome" }, welcome(state)),
    start(state, view, me, people, (mapped || Boolean(state.match)) && invite),
  ];
  return [
    h("div", { class: "gathered", "data-key": "gathered" }, here),
    h("section", { id: "invite", class: playsHere(state) || view.tv ? "ticket" : "ticket along", "data-key": "invite" }, invitation(state, view)),
  ];
}

/**
 * Whether the organiser looks at a room where nobody plays yet. Then the only thing to do is to
 * invite people.
 * @param {State} state @param {View} view
 */
function isForTheFirst(state, view) {
  return Boolean(state.you.organiser) && !view.tv && !state.match && !state.people.some((person) => person.peer);
}

/** That room: the ticket comes first. @param {State} state @param {View} view @param {Person[]} people */
function first(state, view, people) {
  const scene = { state, view, me: whoIs(state), named: true, rising: rising(state, 0) };
  return [
    hello(state, view, scene.me),
    h("section", { id: "invite", class: "ticket first", "data-key": "invite" }, firstTicket(state, view)),
    h(
      "div",
      { class: "beside-ticket", "data-key": "beside" },
      people.length > 0 && h("ul", { class: "unplaced", "data-key": "here", "aria-label": say("lobby.here") }, people.map((person) => one(scene, person, false))),
      !state.you.name && h("section", { id: "welcome", "data-key": "welcome" }, welcome(state)),
      besideTicket(state, view),
    ),
    start(state, view, scene.me, people, false),
  ];
}

/** Runs once the children are on the page. @param {HTMLElement} stage @param {import("../live.js").Live} live @param {View} view */
export function shown(stage, live, view) {
  const room = stage.querySelector(".room.mapped");
  if (room instanceof HTMLElement && live.state) place(room, inOrder(live.state.people).filter(isPlaced), view.changed);
  showMenu(stage);
}

/** @param {Person} person */
const plays = (person) => person.peer && person.connected;

/** @param {Person} person */
const canPlay = (person) => plays(person) && !person.unable;

/** The viewer, if they have a sign on the map. @param {State} state */
function whoIs(state) {
  const { name, organiser } = state.you;
  return state.people.find((person) => (name ? person.name === name : organiser && person.peer && person.organiser));
}

/** The size class for a number of people. @param {number} n */
function many(n) {
  return n <= 4 ? "few" : n <= 8 ? "some" : n <= 18 ? "many" : "crowd";
}

/** Notes when people arrive, and lets it be heard. People who were here before the page are not new. @param {Person[]} people @param {View} view */
function meet(people, view) {
  const at = view.met.size > 0 ? wallTime() : 0;
  const came = people.filter(({ arrival = 0 }) => !view.met.has(arrival));
  for (const { arrival = 0 } of came) view.met.set(arrival, at);
  if (came.length > 0 && at > 0) sound.come();
  if (people.length === 0) view.met.set(-1, 0); // the first person is new, too
}

/** The title, and what the group looks for. On a phone the title is about the person who holds it. @param {State} state @param {View} view @param {Person | undefined} me */
function hello(state, view, me) {
  const isOwn = me && plays(me) && matchMedia("(max-width: 47.99rem)").matches;
  return h(
    "div",
    { class: "hello", "data-key": "hello" },
    isOwn ? h("h1", { "data-key": "title" }, ...said("lobby.you-are-in", { player: me.name })) : h("h1", { "data-key": "title", "--letters": say("lobby.who").length }, ...(state.match && sides.drawn ? sides.drawn.title(state.match) : said("lobby.who"))),
    state.match && sides.drawn?.terms(state),
    me && plays(me) && (isOwn || me.unable) && ownGame(state, me),
    looks(state, view),
  );
}

/** What stands under the map: people whose place is unknown, and names that have no room on the map. @param {Scene} scene @param {Person[]} people @param {Person[]} beside */
function below(scene, people, beside) {
  return [
    beside.length > 0 && h("ul", { class: "unplaced", "data-key": "unplaced", "aria-label": say("map.somewhere") }, beside.map((person) => one(scene, person, false))),
    !scene.named && h("ul", { class: "names", "data-key": "names" }, people.filter(isPlaced).map((person) => h("li", { "data-key": person.name }, sign(person, 20), h("bdi", { class: "name" }, person.name), h("span", { class: "unseen" }, doing(scene, person, false, true))))),
  ];
}

/** @param {Scene} scene @param {Person} person @param {boolean} mapped */
function one(scene, person, mapped) {
  const { state, view, me, named } = scene;
  const isNew = wallTime() - (view.met.get(person.arrival ?? 0) ?? 0) < newFor;
  const isMe = person === me;
  const letters = [...person.name].length;
  const opens = !view.tv && hasMenu(state, person, isMe);
  const inside = [sign(person, mapped ? 66 : 88), ...bubbles(scene.rising, person)];
  return h(
    "li",
    { class: `one p${(person.arrival ?? 0) % 16}${isNew ? " new" : ""}${isMe ? " me" : ""}${mapped ? " placed" : ""}${mapped && stands(person) ? " stands" : ""}`, "data-key": `person ${person.name}`, "data-name": person.name, ...(mapped ? spotOf(person) : {}) },
    mapped && h("span", { class: "tether", "data-key": "tether", "aria-hidden": "true" }),
    opens ? h("button", { type: "button", "data-action": "menu", class: "face", ...opener(person) }, inside) : h("span", { class: "face", "data-key": "face", ...(named || view.tv ? {} : { tabindex: 0, role: "img", "aria-label": person.name }) }, inside),
    h(
      "span",
      { class: "label", "data-key": "label" },
      h("bdi", { class: "name", "data-long": letters >= longerName ? "very" : letters >= longName ? "quite" : undefined }, person.name),
      doing(scene, person, isNew, mapped),
    ),
    opens && signMenu(state, person, isMe),
  );
}

/** What a person is doing, in a few words; the details say more. On the map one line is enough. @param {Scene} scene @param {Person} person @param {boolean} isNew @param {boolean} mapped */
function doing({ me }, person, isNew, mapped) {
  const home = person.country && !person.somewhere ? countryName(person.country) : "";
  const [word, tone] = condition(person, isNew && plays(person));
  const line = (/** @type {import("../dom.js").Child} */ text, /** @type {string} */ kind = "") => h("span", { class: `sub ${kind}` }, text);
  if (mapped) return line(tone || !canPlay(person) ? word : person === me ? say("person.you") : home && h("bdi", {}, home), tone);
  return [line(person.organiser ? say("lobby.organiser", { doing: word }) : word, tone), home && line(say("country.about", { country: home }))];
}

/** @param {Person} person @param {boolean} isNew @returns {[words: string, tone: string]} */
function condition(person, isNew) {
  if (isNew) return [say("lobby.new"), "strong"];
  if (!person.peer && person.estimate?.counted) return [say("lobby.estimated"), ""];
  if (!person.peer) return [say(person.page ? "lobby.watching" : "person.away"), ""];
  if (!person.connected) return [say("person.away"), ""];
  if (person.left_out) return [say("lobby.left-out"), "strong"];
  if (person.unable) return [say("lobby.unable"), "bad"];
  return [say(person.able ? "lobby.able" : "person.here"), ""];
}

/** An empty seat. */
function seat() {
  return svg("svg", { class: "sign seat", viewBox: "-8 -8 116 116", width: 88, height: 88, "aria-hidden": "true" }, svg("circle", { cx: 50, cy: 50, r: 44 }), svg("path", { d: "M50 28v44M28 50h44" }));
}

/** Whether the person's own computer can start the game. @param {State} state @param {Person} me */
function ownGame(state, me) {
  if (me.unable) return h("p", { class: "own-game bad", "data-key": "own" }, h("span", {}, ...said("lobby.own-unable", { game: gameName(state), why: me.unable })));
  return me.able && h("p", { class: "own-game", "data-key": "own" }, svg("svg", { class: "sign", viewBox: "76 76 32 32", width: 24, height: 24, "aria-hidden": "true" }, svg("g", { class: "can" }, svg("circle", { cx: 92, cy: 92, r: 15 }), svg("path", { d: "m85 92 5 5 9-10" }))), h("span", {}, ...said("lobby.own-able", { game: gameName(state) })));
}

/** What the group looks for, in a sentence; the organiser changes it in place. @param {State} state @param {View} view */
function looks(state, view) {
  const words = said("lobby.look-for", { quiet: (...held) => h("span", { class: "quiet" }, ...held), strong: (...held) => h("strong", {}, ...held), wish: wish(state) });
  if (view.tv) return h("p", { class: "looks", "data-key": "looks" }, words);
  return h(
    "details",
    { id: "settings", class: "looks", "data-key": "settings" },
    h("summary", {}, h("span", {}, words), " ", h("span", { class: "change" }, say(state.you.organiser ? "lobby.change" : "lobby.more"))),
    h("div", { class: "card" }, settings(state)),
  );
}

/** The gold button, one sentence beside it, an empty seat, and the signs to send. @param {State} state @param {View} view @param {Person | undefined} me @param {Person[]} people @param {HTMLElement | false} invite */
function start(state, view, me, people, invite) {
  const isFirst = isForTheFirst(state, view);
  return h(
    "div",
    { class: "start", "data-key": "start" },
    state.you.organiser && !view.tv && go(state, say("lobby.find"), { class: isFirst ? "large awaits" : "primary large", disabled: !people.some((person) => plays(person) && !person.left_out) }),
    h("div", { class: "count", "data-key": "count" }, h("p", { class: "strong" }, isFirst ? sentence(state) : inSentence(state, people)), (!isFirst && !state.places && lack(people)) || (!view.tv && next(state))),
    invite,
    me && !isFirst && h("div", { class: "send", "data-key": "send" }, reactions()),
    h("div", { class: "notes", "data-key": "notes" }, silent(state), !view.tv && voice(state), !view.tv && offers(state), meeting(state, view)),
  );
}

/** How many are in, and how many of them can play. @param {State} state @param {Person[]} people */
function inSentence(state, people) {
  const present = people.filter((person) => plays(person) || person.page);
  const can = present.filter(canPlay);
  return can.length === present.length || state.room.players > 0 || state.places ? sentence(state) : say("lobby.in-and-can", { n: present.length, can: can.length });
}

/** Who cannot play yet for want of a program. @param {Person[]} people */
function lack(people) {
  const without = people.filter((person) => !person.peer && person.page && !person.estimate?.counted);
  if (without.length === 0) return false;
  return h("p", { class: "next" }, ...(without.length > glance ? said("lobby.no-program-many", { n: without.length }) : said("lobby.no-program", { n: without.length, players: without.map(({ name }) => name) })));
}
