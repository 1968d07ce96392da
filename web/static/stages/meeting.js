// A standing room: when the group meets next, who comes, and how the last session was.

import { ask, evenings } from "../api.js";
import { isKey, nameOnly } from "../choice.js";
import { button, h, saveFile, show } from "../dom.js";
import { country, date, locale, millis, said, say, time } from "../say.js";
import { isOpponent } from "../people.js";
import { sign } from "../sign.js";
import { sure } from "../sure.js";
import { removal } from "./menu.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Comer} Comer */
/** @typedef {import("../types.js").Evening} Evening */

const day = 24 * 3600_000;

/** How many names a person counts at a glance. */
const counted = 3;

/** A time in the reader's time zone, as people say it. @param {string} at @param {number} now ms */
function dateOf(at, now) {
  const then = new Date(at);
  const when = { date: date(then), time: time(then) };
  const days = Math.round((new Date(then).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0)) / day);
  return say(days < 0 ? "meeting.date" : days === 0 ? "meeting.date-today" : days === 1 ? "meeting.date-tomorrow" : "meeting.date-in", { ...when, n: days });
}

/** @param {State} state @param {import("../app.js").View} view */
export function meeting(state, view) {
  const { meeting: m, you } = state;
  if (!m) return false;
  const me = m.who.find((one) => one.name === you.name);
  const mayTouch = !view.tv;
  return h(
    "section",
    { class: "meeting", "data-key": "meeting", "aria-label": say("meeting.label") },
    m.next ? h("p", { class: "date" }, ...said("meeting.next", { quiet: (...held) => h("span", { class: "quiet" }, ...held), date: h("strong", {}, h("time", { datetime: m.next }, dateOf(m.next, state.now))) })) : h("p", { class: "date quiet" }, say("meeting.no-date")),
    m.quorum && h("p", {}, say("meeting.quorum", { n: m.pledged ?? 0, of: m.quorum })),
    (m.next || m.quorum) && coming(m.who),
    (m.next || m.quorum) && mayTouch && you.name && h("p", { class: "buttons" }, choice("come", say("meeting.come"), "true", me?.comes === true), choice("come", say("meeting.not-come"), "false", me?.comes === false)),
    m.last && last(m, me, mayTouch),
    m.evenings > 0 && mayTouch && (you.organiser || me) && h("p", { class: "buttons" }, button("evenings", say("meeting.history", { n: m.evenings }))),
  );
}

/** One of two switches; pressing it again withdraws the answer. @param {string} action @param {string} text @param {string} value @param {boolean} isSaid */
function choice(action, text, value, isSaid) {
  return button(action, text, { "data-value": isSaid ? "null" : value, "aria-pressed": String(isSaid) });
}

/** @param {Comer[]} who */
function coming(who) {
  const come = who.filter((one) => one.comes === true);
  const stay = who.filter((one) => one.comes === false);
  const open = who.filter((one) => one.comes === undefined);
  const part = (/** @type {string} */ few, /** @type {string} */ many, /** @type {Comer[]} */ some) => some.length > 0 && h("p", {}, ...said(some.length > counted ? many : few, { quiet: (...held) => h("span", { class: "quiet" }, ...held), n: some.length, players: some.map((one) => one.name) }));
  return [part("meeting.coming", "meeting.coming-many", come), part("meeting.not-coming", "meeting.not-coming-many", stay), part("meeting.open", "meeting.open-many", open)].filter((one) => one !== false);
}

/** @param {import("../types.js").Meeting} m @param {Comer | undefined} me @param {boolean} mayTouch */
function last(m, me, mayTouch) {
  const l = /** @type {import("../types.js").Last} */ (m.last);
  const liked = m.who.filter((one) => one.liked === true).length;
  const disliked = m.who.filter((one) => one.liked === false).length;
  return [
    h("p", { class: "last" }, ...said(l.country ? "meeting.last-in" : "meeting.last", { quiet: (...held) => h("span", { class: "quiet" }, ...held), server: nameOnly(l.server), country: country(l.country), ms: millis(l.mean_ms) }), liked + disliked > 0 && [" · ", say("meeting.liked-by", { liked, n: liked + disliked })]),
    mayTouch && me?.played && h("p", { class: "buttons" }, h("span", { class: "quiet" }, say("meeting.how-was-it"), " "), choice("like", say("meeting.good"), "true", me.liked === true), choice("like", say("meeting.not-again"), "false", me.liked === false)),
  ];
}

/** The people who keep a place while they are away, for the organiser. @param {State} state */
export function regulars(state) {
  const away = (state.meeting?.who ?? []).filter((one) => !state.people.some((person) => person.name === one.name));
  if (away.length === 0) return [];
  return [
    h("h3", { "aria-level": 2 }, say("meeting.regulars")),
    h("ul", { class: "people" }, away.map((one) => h("li", { class: "person away", "data-key": one.name }, sign({ ...one, peer: true, connected: false, page: false, probed: 0, answered: 0 }, 28), h("span", { class: "who" }, h("bdi", {}, one.name)), state.you.organiser && !isOpponent(state, one.name) && h("span", { class: "buttons" }, ...removal(one.name, say("people.remove-player", { player: one.name })), ...sure("forget", say("people.forget"), "people.forget-player-sure", { player: one.name }, { "data-name": one.name, "aria-label": say("people.forget-player", { player: one.name }) }))))),
  ];
}

/** The history that the dialog shows, the newest evening first. @type {Evening[] | undefined} */
let history;

const close = () => h("form", { method: "dialog" }, h("button", {}, say("dialog.close")));

/** Shows the history. @param {HTMLDialogElement} dialog */
export async function openEvenings(dialog) {
  show(dialog, h("p", { role: "status" }, say("meeting.fetching")), close());
  dialog.showModal();
  dialog.addEventListener("close", () => (history = undefined), { once: true });
  try {
    history = JSON.parse(await (await evenings("json")).text()).evenings.toReversed();
    drawEvenings(dialog);
  } catch (error) {
    show(dialog, h("p", { role: "alert" }, say("meeting.not-shown", { why: /** @type {Error} */ (error).message })), close());
  }
}

/** Draws the history again if it is shown. @param {HTMLDialogElement} dialog */
export function drawEvenings(dialog) {
  if (!history) return;
  show(
    dialog,
    h("h2", {}, say("meeting.where")),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say("meeting.evenings") }, table(history)),
    h("p", { class: "buttons" }, button("save-evenings", say("meeting.save-table"), { "data-format": "csv" }), button("save-evenings", say("meeting.save-json"), { "data-format": "json" }), sure("forget", say("people.forget-me"), "people.forget-me-sure", {}, { class: "danger" })),
    close(),
  );
}

/** A table. On a phone it looks like a list, but its roles keep it a table for screen readers. @param {Evening[]} all the newest first */
function table(all) {
  return h(
    "table",
    { class: "evenings", role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, [say("table.when"), say("table.where"), say("table.average"), say("table.who")].map((name) => h("th", { scope: "col", role: "columnheader" }, name)))),
    h("tbody", { role: "rowgroup" }, all.flatMap((evening) => evening.stays.toReversed().map((stay) => h(
      "tr",
      { role: "row" },
      h("td", { role: "cell", class: "when" }, new Date(stay.at).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" })),
      h("th", { scope: "row", role: "rowheader" }, h("bdi", { class: "name" }, nameOnly(stay.server)), h("small", {}, h("bdi", {}, [isKey(stay.connect) ? "" : stay.connect, stay.map].filter(Boolean).join(" · ")))),
      h("td", { role: "cell", class: "ms" }, millis(stay.mean_ms)),
      h("td", { role: "cell", class: "with" }, stay.players.flatMap((one, i) => [i > 0 && ", ", h("bdi", {}, one.name), one.ping_ms ? ` ${millis(one.ping_ms)}` : "", one.liked === undefined ? "" : [" ", say(one.liked ? "meeting.liked-it" : "meeting.disliked-it")]].flat())),
    )))),
  );
}

/** The actions of the buttons here. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = {
  come: ({ value }) => ask("come", { comes: JSON.parse(value ?? "null") }),
  like: ({ value }) => ask("like", { liked: JSON.parse(value ?? "null") }),
  wake: () => ask("wake"),
  forget: ({ name }) => ask("forget", name ? { name } : {}),
  "save-evenings": async ({ format = "csv" }) => saveFile(await (await evenings(format)).blob(), `evenings.${format}`),
};
