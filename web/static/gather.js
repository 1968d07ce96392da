// Before the start: how to get in, and what the organiser wants.

import { button, h } from "./dom.js";
import { lastName } from "./api.js";
import { input, isSet, label, nameOfGame, settable, term } from "./form.js";
import { getMuster } from "./get.js";
import { saidOf } from "./rules.js";
import { said, say, tell } from "./say.js";
import { sure } from "./sure.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Sentence} Sentence */

/** @param {string} by */
export function ruleName(by) {
  return saidOf(by, "name");
}

/** Choosing a nickname. The organiser's program already has one. @param {State} state */
export function welcome(state) {
  const mine = state.you.organiser ? state.people.find((person) => person.organiser)?.name : undefined;
  return naming(say("lobby.nickname"), say(state.room.guests_vote ? "lobby.guests-vote" : "lobby.guests-watch"), { mine, isGold: !state.you.organiser }); // an organiser has another gold button
}

/** The field for a nickname. @param {string} label @param {string} why @param {{mine?: string, isGold?: boolean}} [how] mine is the name that the person has elsewhere */
export function naming(label, why, { mine, isGold = true } = {}) {
  return h(
    "form",
    { "data-submit": "enter", class: "welcome", "data-key": "naming" },
    h("label", { for: "nickname" }, label),
    h("input", { id: "nickname", name: "name", value: lastName() || mine, maxlength: 32, required: true, autocomplete: "nickname", placeholder: say("lobby.nickname-example") }),
    h("button", { class: isGold ? "primary" : "" }, say("lobby.come-in")),
    why && h("p", { class: "quiet" }, why),
  );
}

/** What people can do about themselves. @param {State} state @param {string} credential @returns {HTMLElement[]} */
export function mine(state, credential) {
  const rename = h(
    "form",
    { "data-submit": "rename", class: "welcome" },
    h("label", { for: "new-name" }, say("details.another-name")),
    h("input", { id: "new-name", name: "name", value: state.you.name, maxlength: 32, required: true, autocomplete: "off" }),
    h("button", {}, say("details.rename")),
  );
  const me = state.people.find((person) => person.peer && person.name === state.you.name);
  const has = me && h(
    "form",
    { "data-submit": "has", class: "welcome" },
    h("label", { for: "own-version" }, said("details.own-version", { game: gameName(state) })),
    h("input", { id: "own-version", name: "version", value: me.version ?? "", maxlength: 64, autocomplete: "off", placeholder: say("details.version-not-said") }),
    h("button", {}, say("details.say-version")),
    h("p", { class: "quiet" }, say("details.own-version-how")),
  );
  const where = me && (me.country || me.somewhere) && h("p", { class: "buttons" }, button("somewhere", say(me.somewhere ? "details.show-country" : "details.show-somewhere"), { "data-somewhere": String(!me.somewhere) }));
  const own = h(
    "details",
    { class: "own", "data-key": "own" },
    h("summary", {}, say("details.own-link")),
    h("p", { class: "quiet" }, say("details.own-link-how")),
    copyable("own-link", `${state.you.link}.${credential}`, say("details.copy-own-link")),
  );
  const most = state.room.most_asked;
  const asking = me?.peer && h("p", { class: "quiet", "data-key": "asking" }, said(most ? "details.asking" : "details.asking-all", { n: most ?? 0, command: h("code", {}, "muster join --discreet 50") }));
  const leave = h("p", { class: "buttons" }, sure("leave", say("details.leave"), "room.leave-sure"));
  return [rename, has, where, asking, own, leave].filter((part) => part !== undefined && part !== "" && part !== false);
}

/** The organiser's switch for newcomers. @param {State} state @returns {import("./dom.js").Child[]} */
export function steering(state) {
  if (!state.you.organiser) return state.room.locked ? [say("details.is-locked")] : [];
  return [
    h(
      "p",
      { class: "buttons" },
      button("lock", say(state.room.locked ? "details.locked" : "details.lock"), { "aria-pressed": String(state.room.locked) }),
      ...sure("renew", say("details.renew"), "room.renew-sure"),
      ...(state.room.ended ? [] : sure("end", say("details.end"), "room.end-sure")),
    ),
  ];
}

/** How the next person gets in. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
export function invitation(state, view) {
  return view.tv || playsHere(state) ? invite(state, view) : playAlong(state, view);
}

/** How friends come in, for players and for the wall: the link first, then a picture of it, then what few need. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
function invite(state, view) {
  const scan = [...(view.qr ? [h("p", { class: "qr" }, code(state, view))] : []), spell(state, view)];
  if (view.tv) return [h("h2", {}, say(view.qr ? "share.scan" : "share.come-in")), ...scan];
  return [
    h("h2", {}, say("share.bring")),
    shortLink(state),
    copying(state, "ink"),
    ...ownNetwork(state),
    ...scan,
    h(
      "div",
      { class: "folded", "data-key": "folded" },
      h("details", { class: "own", name: "ticket", "data-key": "line" }, h("summary", {}, say("share.terminal")), h("p", { class: "quiet" }, say("share.line-how")), copyable("join-line", `muster join ${state.you.link}`, say("share.copy-line"))),
      h("details", { class: "own", name: "ticket", "data-key": "wall" }, h("summary", {}, say("share.wall")), ...wall(state)),
    ),
  ];
}

/** The ticket of a room where nobody plays yet, for its organiser: the code to scan, the link, and the code to type. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
export function firstTicket(state, view) {
  return [
    ...(view.qr ? [h("p", { class: "qr", "data-key": "qr" }, code(state, view))] : []),
    h(
      "div",
      { class: "sends", "data-key": "sends" },
      h("h2", {}, say("lobby.nobody")),
      shortLink(state),
      copying(state, "primary"),
      ...ownNetwork(state),
      spell(state, view),
    ),
  ];
}

/** What stands beside the first ticket: how the organiser plays, too, and the page for a wall. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
export function besideTicket(state, view) {
  return [
    h("div", { "data-key": "play" }, h("h2", {}, say("lobby.playing-too")), h("p", { class: "quiet" }, say("lobby.playing-too-how")), getMuster(view.offer, view.getting, view.opening), h("details", { class: "own", "data-key": "line" }, h("summary", {}, say("share.have-muster")), ...joinLine(state))),
    h("div", { "data-key": "wall" }, h("h2", {}, say("share.wall")), ...wall(state)),
  ];
}

/** The link to copy, and to share where the system can. @param {State} state @param {string} kind the copying button's */
function copying(state, kind) {
  return h("p", { class: "copying" }, button("send-link", say("share.copy-link"), { class: kind, "data-copy-text": state.you.link }), Boolean(globalThis.navigator.share) && button("invite", say("share.share"), { "data-copy-text": state.you.link }));
}

/** The page for a wall. @param {State} state */
function wall(state) {
  return [h("p", { class: "quiet" }, say("share.wall-how")), h("p", {}, h("a", { href: state.you.link.replace("/#", "/?tv#"), target: "_blank", rel: "noopener" }, say("share.open-wall")))];
}

/** What the person types who has Muster. @param {State} state */
function joinLine(state) {
  const name = state.you.name ? ` --name ${quoted(state.you.name)}` : "";
  return [h("p", { class: "quiet" }, say("share.paste")), copyable("join-line", `muster join ${state.you.join}${name}`, say("share.copy-line"))];
}

/** The link as people read it: without what only programs need. It leads into the room, too. @param {State} state */
function shortLink(state) {
  return h("p", { class: "link", id: "room-link", dir: "ltr" }, `${new URL(state.you.link).host}/`, h("bdi", {}, h("strong", {}, `#${state.room.code}`)));
}

/** The room's code, for people who type it. @param {State} state @param {import("./app.js").View} view */
function spell(state, view) {
  const { code } = state.room;
  return h("div", { class: "spell" }, h("p", {}, said(view.qr ? "share.or-type" : "share.type", { host: h("strong", {}, new URL(state.you.link).host) })), h("p", { class: "code", "--letters": code.length }, code));
}

/** @param {State} state @param {import("./app.js").View} view */
function code(state, view) {
  return h("img", { src: view.qr || undefined, alt: say("share.qr", { link: state.you.link }), width: 180, height: 180 });
}

/** Addresses in a private network, or behind a carrier's NAT. */
const ownAddress = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[f[cde])/;

/** Tells an organiser whose link is local how friends elsewhere come in. @param {State} state */
function ownNetwork(state) {
  if (state.you.outside) return [h("p", { class: "quiet" }, say("share.outside")), copyable("outside-link", state.you.outside, say("share.copy-outside"))];
  if (!state.you.organiser || !ownAddress.test(new URL(state.you.link).hostname)) return [];
  return [h("p", { class: "quiet" }, say("share.own-network"))];
}

/**
 * How a person who only watches so far can play.
 * @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]}
 */
function playAlong(state, view) {
  const link = copyable("room-link", state.you.link, say("share.copy-link"));
  const line = [...joinLine(state), h("p", { class: "quiet" }, say("share.watch")), link];
  const programs = getMuster(view.offer, view.getting, view.opening);
  const folded = () => [h("details", { class: "own", "data-key": "line" }, h("summary", {}, say("share.have-muster")), ...line)];
  const ways = view.offer?.phone ? [link] : programs.length > 0 ? folded() : line;
  return [h("h2", {}, say("share.play-along")), ...programs, ...ways, forOthers(state, view)];
}

/** The width from which a large code fits next to the rest. */
const roomy = "(min-width: 48rem)";

/** What other people in the same place do to enter. @param {State} state @param {import("./app.js").View} view */
function forOthers(state, view) {
  const ways = [...(view.qr ? [code(state, view)] : []), spell(state, view)];
  if (matchMedia(roomy).matches) return h("div", { class: "qr", "data-key": "others" }, h("h2", {}, say("share.others-scan")), ...ways);
  return h("details", { class: "qr", "data-key": "qr" }, h("summary", {}, say("share.others")), ...ways);
}

/** Reports whether the person at the page plays: under their nickname, or as the organiser with their own program. @param {State} state */
export function playsHere(state) {
  const { name, organiser } = state.you;
  return state.people.some((person) => person.peer && (name ? person.name === name : organiser && person.organiser));
}

/** A name as one word for a shell. @param {string} name */
function quoted(name) {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

/** A text with a button that copies it. @param {string} id @param {string} text @param {string} label */
export function copyable(id, text, label) {
  return h("div", { class: "copyable" }, h("code", { id, tabindex: 0 }, text), button("copy", say("share.copy"), { "data-copy": id, "aria-label": label }));
}

/** The organiser's settings, editable by the organiser. @param {State} state */
export function settings(state) {
  return (state.you.organiser ? form(state) : terms(state)).filter((part) => part !== null);
}

/** @param {State} state @returns {HTMLElement[]} */
function terms(state) {
  return [
    h("h2", {}, say("settings.title")),
    h("dl", { class: "terms" }, settable("page").filter((field) => !field.rare || isSet(state, field)).map((field) => h("div", {}, h("dt", {}, label(field)), h("dd", {}, h("bdi", {}, term(state, field)))))),
    own(state),
  ].filter((part) => part !== null);
}

/** What the group looks for, as a sentence. @param {State} state @returns {Sentence} */
export function wish(state) {
  const { by, limits_ms: limits, map, mode } = state.room;
  const [first = "", ...others] = limits.map((/** @type {number} */ n) => say("unit.ms", { n }));
  return { key: "lobby.wish", with: { wish: saidOf(by, "wish"), limits: limits.length, first, others, has_map: map ? "yes" : "no", map, has_mode: mode ? "yes" : "no", mode } };
}

/** @param {State} state */
export function gameName(state) {
  return nameOfGame(state, state.room.game);
}

/** Why the servers of the room's game answer nobody, if they do not. @param {State} state */
export function silent(state) {
  const why = state.games?.find((game) => game.id === state.room.game)?.silence;
  return why && h("p", { class: "bad" }, tell(why));
}

/** @param {State} state @returns {HTMLElement[]} */
function form(state) {
  return [h("h2", {}, say("settings.title")), h("form", { "data-change": "settings", class: "settings" }, settable("page").filter((field) => !field.rare).map((field) => input(state, field)), more(state)), own(state), unlisted(state)].filter((part) => part !== null);
}

/** Settings that few people need. @param {State} state */
function more(state) {
  const rare = settable("page").filter((field) => field.rare);
  const isOpen = rare.some((field) => field.key !== "every" && isSet(state, field));
  return rare.length > 0 && h("details", { class: "more", open: isOpen, "data-key": "more" }, h("summary", {}, say("settings.more")), h("div", { class: "settings" }, rare.map((field) => input(state, field))));
}

/** What to do for a game that cannot be chosen. @param {State} state */
function unlisted(state) {
  if ((state.games ?? []).length < 2) return null;
  return h(
    "details",
    { class: "own", "data-key": "unlisted" },
    h("summary", {}, say("settings.unlisted")),
    h("p", { class: "quiet" }, said("settings.unlisted-how", { line: h("code", {}, "muster host --game cs2"), key: (...held) => h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, ...held), command: h("code", {}, "muster games --steam-key") })),
  );
}

/** Says that the organiser brought the list. @param {State} state */
function own(state) {
  return state.room.own ? h("p", { class: "quiet" }, said("settings.own-list", { n: state.room.own })) : null;
}

/** The prefixes of voice links, and their names. Links of other kinds are not shown, whatever the host says. */
const voices = [["mumble://", "Mumble"], ["ts3server://", "TeamSpeak"], ["teamspeak://", "TeamSpeak"], ["https://discord.gg/", "Discord"], ["https://discord.com/", "Discord"], ["https://meet.jit.si/", "Jitsi"], ["https://call.element.io/", "Element"], ["https://meet.google.com/", "Google Meet"], ["https://s.team/", "Steam"]];

/** The link to the group's voice channel. @param {State} state */
export function voice(state) {
  const link = state.room.voice ?? "";
  const name = voices.find(([begins]) => link.startsWith(begins))?.[1];
  return name && h("p", { class: "voice", "data-key": "voice" }, h("a", { class: "button", href: link, rel: "noopener noreferrer", target: link.startsWith("https:") ? "_blank" : undefined }, say("lobby.voice", { name })));
}
