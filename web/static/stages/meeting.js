// A room that stays: when the group meets next, who comes, and how it was last time.

import { ask, evenings } from "../api.js";
import { nameOnly, countryName } from "../choice.js";
import { button, count, h, millis, show } from "../dom.js";
import { sign } from "../sign.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Comer} Comer */
/** @typedef {import("../types.js").Evening} Evening */

const day = 24 * 3600_000;

/** How many names one counts at a glance. */
const counted = 3;

/** A moment, by the reader's own clock, as one says it. @param {string} at @param {number} now ms */
export function dateOf(at, now) {
  const then = new Date(at);
  const text = then.toLocaleString([], { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const days = Math.round((new Date(then).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0)) / day);
  const away = days === 0 ? "today" : days === 1 ? "tomorrow" : days > 1 ? `in ${days} days` : "";
  return away ? `${text}, ${away}` : text;
}

/** @param {State} state @param {import("../app.js").View} view */
export function meeting(state, view) {
  const { meeting: m, you } = state;
  if (!m) return false;
  const me = m.who.find((one) => one.name === you.name);
  const mayTouch = !view.tv;
  return h(
    "section",
    { class: "meeting", "data-key": "meeting", "aria-label": "The next evening" },
    m.next ? h("p", { class: "date" }, h("span", { class: "quiet" }, "Next: "), h("strong", {}, h("time", { datetime: m.next }, dateOf(m.next, state.now)))) : h("p", { class: "date quiet" }, "No date is set: the room is here whenever you are."),
    m.next && coming(m.who),
    m.next && mayTouch && you.name && h("p", { class: "buttons" }, choice("come", "I’m in", "true", me?.comes === true), choice("come", "Can’t make it", "false", me?.comes === false)),
    m.last && last(m, me, mayTouch),
    m.evenings > 0 && mayTouch && (you.organiser || me) && h("p", { class: "buttons" }, button("evenings", `History: ${count(m.evenings, "evening")}`)),
  );
}

/** A switch of two: pressed again it says nothing. @param {string} action @param {string} text @param {string} value @param {boolean} isSaid */
function choice(action, text, value, isSaid) {
  return button(action, text, { "data-value": isSaid ? "null" : value, "aria-pressed": String(isSaid) });
}

/** @param {Comer[]} who */
function coming(who) {
  const come = who.filter((one) => one.comes === true);
  const stay = who.filter((one) => one.comes === false);
  const open = who.filter((one) => one.comes === undefined);
  const part = (/** @type {string} */ word, /** @type {Comer[]} */ some) => some.length > 0 && h("p", {}, h("span", { class: "quiet" }, some.length > counted ? `${word} (${some.length}): ` : `${word}: `), names(some));
  return [part("Coming", come), part("Not coming", stay), part("No answer yet", open)].filter((one) => one !== false);
}

/** @param {Comer[]} some */
function names(some) {
  return some.flatMap((one, i) => [i > 0 && ", ", h("bdi", {}, one.name)]);
}

/** @param {import("../types.js").Meeting} m @param {Comer | undefined} me @param {boolean} mayTouch */
function last(m, me, mayTouch) {
  const l = /** @type {import("../types.js").Last} */ (m.last);
  const liked = m.who.filter((one) => one.liked === true).length;
  const disliked = m.who.filter((one) => one.liked === false).length;
  return [
    h("p", { class: "last" }, h("span", { class: "quiet" }, "Last time: "), h("bdi", {}, nameOnly(l.server)), l.country && ` (${countryName(l.country)})`, `, ${millis(l.mean_ms)} average`, liked + disliked > 0 && ` · liked by ${liked} of ${liked + disliked}`),
    mayTouch && me?.played && h("p", { class: "buttons" }, h("span", { class: "quiet" }, "How was it there? "), choice("like", "Good", "true", me.liked === true), choice("like", "Not again", "false", me.liked === false)),
  ];
}

/** Who keeps a place while they are away, for the organiser. @param {State} state */
export function regulars(state) {
  const away = (state.meeting?.who ?? []).filter((one) => !state.people.some((person) => person.name === one.name));
  if (away.length === 0) return [];
  return [
    h("h3", {}, "Away, with a place here"),
    h("ul", { class: "people" }, away.map((one) => h("li", { class: "person away", "data-key": one.name }, sign({ ...one, peer: true, connected: false, page: false, probed: 0, answered: 0 }, 28), h("span", { class: "who" }, h("bdi", {}, one.name)), state.you.organiser && h("span", { class: "buttons" }, button("remove", "Remove", { "data-name": one.name, "aria-label": `Remove ${one.name}` }), button("forget", "Forget", { "data-name": one.name, "aria-label": `Forget ${one.name}, in the history, too` }))))),
  ];
}

/** Shows the history. @param {HTMLDialogElement} dialog */
export async function openEvenings(dialog) {
  const close = h("form", { method: "dialog" }, h("button", {}, "Close"));
  show(dialog, h("p", { role: "status" }, "Fetching the history …"), close);
  dialog.showModal();
  try {
    const document = JSON.parse(await (await evenings("json")).text());
    show(dialog, h("h2", {}, "Where we played"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Evenings" }, table(document.evenings.toReversed())), h("p", { class: "buttons" }, button("save-evenings", "Save as a table", { "data-format": "csv" }), button("save-evenings", "Save as JSON", { "data-format": "json" }), button("forget", "Forget me", { class: "danger" })), close);
  } catch (error) {
    show(dialog, h("p", { role: "alert" }, `The history cannot be shown: ${/** @type {Error} */ (error).message}.`), close);
  }
}

/** A table, which on a phone is a list to look at; its roles have it stay a table to listen to. @param {Evening[]} all the newest first */
function table(all) {
  return h(
    "table",
    { class: "evenings", role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ["When", "Where", "Average", "Who, with which ping"].map((name) => h("th", { scope: "col", role: "columnheader" }, name)))),
    h("tbody", { role: "rowgroup" }, all.flatMap((evening) => evening.stays.toReversed().map((stay) => h(
      "tr",
      { role: "row" },
      h("td", { role: "cell", class: "when" }, new Date(stay.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" })),
      h("th", { scope: "row", role: "rowheader" }, h("bdi", { class: "name" }, nameOnly(stay.server)), h("small", {}, h("bdi", {}, [stay.connect, stay.map].filter(Boolean).join(" · ")))),
      h("td", { role: "cell", class: "ms" }, millis(stay.mean_ms)),
      h("td", { role: "cell", class: "with" }, stay.players.flatMap((one, i) => [i > 0 && ", ", h("bdi", {}, one.name), one.ping_ms ? ` ${millis(one.ping_ms)}` : "", one.liked === undefined ? "" : one.liked ? " (liked it)" : " (not again)"])),
    )))),
  );
}

/** Has the browser keep the history as a file. @param {string} format */
export async function saveEvenings(format) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await (await evenings(format)).blob());
  link.download = `evenings.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** What the buttons here do. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = {
  come: ({ value }) => ask("come", { comes: JSON.parse(value ?? "null") }),
  like: ({ value }) => ask("like", { liked: JSON.parse(value ?? "null") }),
  wake: () => ask("wake"),
  forget: ({ name }) => confirm(name ? `Forget ${name}? The place here is free then, and the name goes from the history and the log.` : "Forget you? Your place here is free then, and your name goes from the history and the log.") && ask("forget", name ? { name } : {}),
  "save-evenings": ({ format }) => saveEvenings(format ?? "csv"),
};
