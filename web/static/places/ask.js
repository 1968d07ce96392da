// The page asks its reader to measure the places, and says first who will see their address. Then it shows
// the answers as they come.

import { button, h } from "../dom.js";
import { count, figure } from "../count.js";
import { meOf } from "../people.js";
import { millis, said, say } from "../say.js";
import { sign } from "../sign.js";
import { PlaceMap, spotsOf } from "./map.js";
import { isMeasuring, nameFor, ownOf } from "./own.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Places} Places */
/** @typedef {import("../app.js").View} View */

/** How many of the nearest places are listed. */
const listed = 4;

const placesOf = (/** @type {State} */ state) => /** @type {Places} */ (state.places);

/** The reader, or the next free sign. @param {State} state @returns {Person} */
function readerOf(state) {
  const me = meOf(state);
  if (me) return me;
  const taken = new Set(state.people.map((person) => person.arrival));
  let arrival = 0;
  while (taken.has(arrival)) arrival++;
  return { name: nameFor(state), arrival, peer: false, connected: false, page: true, probed: 0, answered: 0 };
}

/** @param {import("../live.js").Live} live @param {View} view */
export function asking(live, view) {
  const state = /** @type {State} */ (live.state);
  return isMeasuring(state, view) ? now(state, view) : question(state, view);
}

/** Whether the page is on a phone, which may be elsewhere than the computer. @param {View} view */
const isPhone = (view) => view.offer?.phone ?? matchMedia("(pointer: coarse) and (max-width: 47.99rem)").matches;

/** @param {State} state @param {View} view */
function question(state, view) {
  const { machines } = placesOf(state);
  const organiser = state.people.find((person) => person.organiser)?.name;
  const asks = state.you.organiser ? said("place.you-ask") : [...(organiser ? [...said("place.asked-by", { player: h("strong", {}, h("bdi", { dir: "auto" }, organiser)) }), " "] : []), ...said("place.how")];
  const phone = isPhone(view);
  return [
    h("div", { class: "lead", "data-key": "lead" }, h("h1", {}, say("place.title")), h("p", { class: "about" }, asks)),
    hasMap(state) && h("div", { class: "placemap", "data-key": "map", "data-keep": true, "aria-hidden": "true" }),
    h(
      "form",
      { class: "agreeing", "data-key": "agreeing", "data-submit": "measure" },
      h("p", { class: "yourself" }, sign({ ...readerOf(state), peer: false }, 52), h("label", { for: "ask-name" }, say("place.your-name")), h("input", { id: "ask-name", name: "name", value: nameFor(state), maxlength: 32, required: true, autocomplete: "nickname", "data-keep": true })),
      h("section", { class: "consent", "aria-labelledby": "consent" }, h("h2", { id: "consent" }, say("place.machines", { n: machines })), providers(placesOf(state)), h("p", { class: "quiet" }, say("place.anyone"))),
      h("div", { class: "acts" },
        button("measure", say("place.measure"), { class: "primary" }),
        button("not-now", say("place.not-now")),
        phone ? button("send", say("place.elsewhere"), { "data-copy-text": state.you.link, "aria-describedby": "elsewhere" }) : state.you.organiser && button("send-link", say("share.copy-link"), { "data-copy-text": state.you.link }),
        phone && h("p", { class: "quiet", id: "elsewhere" }, say("place.elsewhere-why"))),
    ),
  ];
}

/** Whose machines those are. @param {Places} places */
function providers({ machines, providers: all }) {
  const others = machines - all.reduce((sum, { n }) => sum + n, 0);
  const row = (/** @type {import("../dom.js").Child} */ name, /** @type {number} */ n) => h("li", {}, h("bdi", { dir: "auto" }, name), " ", h("span", {}, n));
  return all.length > 0 && h("ul", { class: "machines" }, all.map(({ name, n }) => row(name, n)), others > 0 && row(say("place.others"), others));
}

/** @param {State} state */
const hasMap = (state) => spotsOf(placesOf(state).candidates).length > 0;

/** What has been measured so far: how many places answered, of how many, and the nearest. @param {State} state @param {View} view */
function progress(state, view) {
  const { asked, results } = ownOf(view);
  const answered = [...results].flatMap(([name, { state: how, rtts_ms: rtts }]) => (how === "answered" ? [{ name, ms: Math.min(...rtts) }] : []));
  return { of: Math.max(placesOf(state).machines, asked.size), answered: answered.toSorted((a, b) => a.ms - b.ms) };
}

/** @param {State} state @param {View} view */
function now(state, view) {
  const { of, answered } = progress(state, view);
  const colour = `p${(readerOf(state).arrival ?? 0) % 16}`;
  const nearest = answered.slice(0, listed);
  const longest = Math.max(1, ...nearest.map(({ ms }) => ms));
  const providerOf = (/** @type {string} */ name) => placesOf(state).candidates.find((one) => one.name === name)?.offers?.[0]?.provider;
  return [
    h("div", { class: "lead", "data-key": "lead" }, h("h1", {}, say("place.asking")), h("p", { class: "about" }, say("place.keep-open"))),
    hasMap(state) && h("div", { class: "placemap", "data-key": "map", "data-keep": true, "aria-hidden": "true" }),
    h(
      "div",
      { class: `answering ${colour}`, "data-key": "answering" },
      h("p", { class: "so-far" }, figure(answered.length, "big"), " ", h("span", {}, say("place.of-answered", { of }))),
      h("p", { class: "ticks", "aria-hidden": "true" }, Array.from({ length: of }, (_, i) => h("i", { class: i < answered.length ? "on" : "" }))),
      nearest.length > 0 && h("ol", { class: "nearest", "aria-label": say("place.nearest") }, nearest.map(({ name, ms }) => h("li", { "data-key": name }, h("span", { class: "who" }, h("bdi", { dir: "auto" }, name), " ", h("small", {}, h("bdi", { dir: "auto" }, providerOf(name) ?? ""))), " ", h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "bar", "--length": `${Math.max(3, (100 * ms) / longest)}%` })), h("span", { class: "figure" }, millis(ms))))),
    ),
  ];
}

/** The map on the page. @type {{place: Element | null, map: PlaceMap | null}} */
const drawn = { place: null, map: null };

/** Runs once the children are on the page. @param {HTMLElement} stage @param {import("../live.js").Live} live @param {View} view */
export function shown(stage, live, view) {
  const state = /** @type {State} */ (live.state);
  count(stage);
  const place = stage.querySelector(".placemap");
  if (!(place instanceof HTMLElement)) return;
  if (drawn.place !== place) [drawn.place, drawn.map] = [place, new PlaceMap(place)];
  const { candidates } = placesOf(state);
  const isNow = isMeasuring(state, view);
  const { asked, results } = ownOf(view);
  const atOf = (/** @type {string} */ name) => candidates.find((one) => one.name === name)?.at ?? "";
  const answered = new Map(progress(state, view).answered.map(({ name, ms }) => [atOf(name), ms]));
  const waiting = new Set([...asked].filter((name) => !results.has(name)).map(atOf));
  drawn.map?.show({ spots: spotsOf(candidates), isAsking: !isNow, marks: isNow ? [{ person: { ...readerOf(state), peer: true, connected: true }, share: 0 }] : [], ...(isNow && { own: { answered, waiting } }) });
}

/** What people hear who listen to the page. @param {State} state @param {View} view */
export function says(state, view) {
  if (!isMeasuring(state, view)) return `${say("place.title")} ${say("place.machines", { n: placesOf(state).machines })}.`;
  const { of, answered } = progress(state, view);
  return say("place.says", { n: answered.length, of });
}
