// The reveal: the world turns until the server is its centre, and everybody's way there is
// a straight spoke. Of a server whose country nobody knows there is no map, and the stage
// is over at once.

import { countryName, rtts, serverName, targetOf, verdict } from "../choice.js";
import { h } from "../dom.js";
import { outlook } from "./parts.js";

/** @typedef {import("../types.js").State} State */

/** How long the reveal stands, ms. */
const stands = 4200;

/** The round that is revealed now, and since when, ms. */
const now = { round: 0, since: 0 };

/** The server of the choice and the country that it is in, if that is known. @param {State} state */
function meeting({ choice }) {
  const target = choice && targetOf(choice);
  const code = (target && choice.servers[target.addr]?.country) || "";
  return choice && target && code ? { target, code, name: serverName(choice, target.addr) } : null;
}

/** @param {import("../live.js").Live} live @param {import("../app.js").View} _view */
export function reveal(live, _view) {
  const state = /** @type {State} */ (live.state);
  const there = meeting(state);
  if (!there) return [...verdict(state), outlook(state), rtts(state)];
  return [
    h(
      "section",
      { class: "meeting", "data-key": "meeting" },
      h("h1", {}, h("small", {}, "Tonight we meet in "), countryName(there.code)),
      h("p", { class: "place-name" }, h("bdi", { dir: "auto" }, there.name)),
      h("p", { class: "best" }, h("b", { class: "big" }, Math.round(there.target.mean_ms)), h("span", {}, "ms average")),
      rtts(state),
    ),
    h("div", { class: "turned", "data-keep": "", "data-key": "turned" }),
  ];
}

/** Turns the world, and ends the reveal: view.revealed is its round then. @param {HTMLElement} place @param {import("../live.js").Live} live @param {import("../app.js").View} view */
export function shown(place, live, view) {
  const state = /** @type {State} */ (live.state);
  const { round } = state.room;
  const there = meeting(state);
  const map = place.querySelector(".turned");
  if (!there || !(map instanceof HTMLElement) || (now.round === round && performance.now() - now.since >= stands)) {
    view.revealed = round;
    view.changed();
    return;
  }
  if (now.round === round && map.childElementCount > 0) return;
  if (now.round !== round) {
    [now.round, now.since] = [round, performance.now()];
    setTimeout(view.changed, stands + 50);
  }
  map.append(h("i")); // it is on its way
  const routes = state.people.filter((person) => there.target.rtt_ms[person.name] !== undefined).map((person) => ({ person, ms: there.target.rtt_ms[person.name] }));
  import("../map/turn.js").then(({ turn }) => turn(map, { country: there.code, routes, turns: true })).catch(() => {}); // the words say it all
}
