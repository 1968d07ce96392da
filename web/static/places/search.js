// The search for a place: who has measured, where it is best so far, and the three places that lead.

import { figure } from "../count.js";
import { button, h } from "../dom.js";
import { guess } from "../estimate.js";
import { flag } from "../flag.js";
import { playsHere } from "../gather.js";
import { inOrder, meOf } from "../people.js";
import { millis, said, say } from "../say.js";
import { go } from "../stages/parts.js";
import { decides, leads, measure, paced, shown as climbs, stairs } from "../stages/search.js";
import { PlaceMap, spotsOf } from "./map.js";
import { offersOf } from "./offers.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {import("../types.js").Places} Places */
/** @typedef {import("../types.js").Leader} Leader */

const placesOf = (/** @type {State} */ state) => /** @type {Places} */ (state.places);

/** The players, and the guests who are counted in. @param {State} state */
const counted = (state) => inOrder(state.people.filter((person) => (person.peer ? !person.left_out : person.estimate?.counted)));

/** @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function search(live, view) {
  const state = paced(live);
  const [first] = leads(state);
  const name = first && (first.name || say("search.nameless"));
  const place = first && h("b", { class: "leading" }, h("bdi", { dir: "auto" }, name));
  return [
    h(
      "section",
      { class: "telling of-places", "data-key": "telling" },
      h("h1", { class: "headline" }, say("place.looking")),
      first && h("p", { class: "best", "data-key": "best" }, figure(decides(state, first), "big"), " ", h("span", {}, ...(state.room.by === "mean" ? said("place.best", { place }) : said("place.best-by", { figure: measure(state, first), place })))),
      h("p", { class: "about", id: "answered" }, ...progress(state)),
      !view.tv && mine(state),
      !view.tv && h("p", { class: "buttons", "data-key": "buttons" }, state.you.organiser && Object.values(placesOf(state).people).some(({ answered }) => answered > 0) && go(state, say("place.choose")), (state.you.organiser || playsHere(state)) && button("send-link", say("lobby.invite"), { "data-copy-text": state.you.link })),
    ),
    spotsOf(placesOf(state).candidates).length > 0 && h("div", { class: "world placemap", "data-keep": "", "data-key": "world" }),
    stairs(state, counted(state), leads(state), (leader) => called(state, leader)),
  ];
}

/** A city with its flag, and who has machines there. @param {State} state @param {Leader} leader */
function called(state, leader) {
  const place = placesOf(state).candidates.find(({ name }) => name === leader.name);
  return [h("span", { class: "title" }, h("bdi", { dir: "auto" }, leader.name || say("search.nameless")), " ", flag(leader.country)), h("small", {}, ...offersOf(place))];
}

/** Who has measured, who is at it, and who is estimated, and how far off that can be. @param {State} state */
function progress(state) {
  const { people } = placesOf(state);
  const bold = (/** @type {string} */ name) => h("b", {}, h("bdi", { dir: "auto" }, name));
  const done = inOrder(state.people).filter(({ name }) => people[name]?.done);
  const busy = inOrder(state.people).filter(({ name, peer, left_out: isOut }) => peer && !isOut && people[name] && !people[name].done);
  const guests = state.people.filter((person) => !person.peer && person.estimate?.counted);
  const off = Math.max(0, ...guests.map(({ estimate }) => estimate?.error_ms ?? 0));
  const parts = [
    done.length > 0 && said("place.have-measured", { players: done.map(({ name }) => bold(name)), n: done.length }),
    ...busy.map(({ name }) => said("place.so-far", { player: bold(name), n: people[name].answered, of: people[name].asked })),
    guests.length > 0 && said("place.estimated", { players: guests.map(({ name }) => bold(name)), n: guests.length, ms: h("b", { class: "give-or-take" }, millis(off)) }),
  ].filter((part) => part !== false);
  if (parts.length === 0) return [say("place.nobody-yet")];
  return parts.flatMap((part, i) => [i > 0 && " ", ...part]);
}

/** What the reader can still do who has not measured, or whom nothing answered. @param {State} state */
function mine(state) {
  const me = meOf(state);
  if (playsHere(state)) {
    const own = placesOf(state).people[me?.name ?? ""];
    return own?.done && own.answered === 0 && h("p", { class: "bad", "data-key": "mine" }, say("place.none-answered"));
  }
  return h("div", { class: "mine", "data-key": "mine" }, h("p", {}, say(me?.estimate?.counted ? "place.you-estimated" : "place.you-watch")), button("measure", say("place.measure"), { class: "primary" }));
}

/** The map on the page. @type {{place: Element | null, map: PlaceMap | null}} */
const drawn = { place: null, map: null };

/** Runs once the children are on the page. @param {HTMLElement} stage @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(stage, live, view) {
  climbs(stage, live, view);
  const place = stage.querySelector(".placemap");
  if (!(place instanceof HTMLElement)) return;
  if (drawn.place !== place) [drawn.place, drawn.map] = [place, new PlaceMap(place)];
  const state = paced(live);
  const { candidates, people } = placesOf(state);
  const leaders = leads(state);
  const marks = counted(state).map((person) => {
    const ms = leaders[0]?.rtt_ms[person.name];
    const isGuess = !person.peer;
    const own = people[person.name];
    return { person: isGuess ? { ...person, peer: true, connected: true } : person, isGuess, share: own ? (own.done ? 1 : own.answered / Math.max(1, own.asked)) : 0, ...(ms !== undefined && { text: isGuess ? guess(ms) : millis(ms) }) };
  });
  drawn.map?.show({ spots: spotsOf(candidates), leaders: leaders.flatMap(({ name }) => candidates.find((one) => one.name === name)?.at ?? []), marks });
}

/** What people hear who listen to the page. @param {State} state */
export function says(state) {
  const [first] = leads(state);
  return first ? `${say("place.looking")}. ${say("place.leads", { place: first.name || say("search.nameless"), ms: millis(decides(state, first)) })}` : `${say("place.looking")}.`;
}
