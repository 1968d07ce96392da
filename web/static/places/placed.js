// The place is found: where to host, what it beats, who has machines there, and who gets one ready. For
// whoever does that there is the way to a server, which ends with its address.

import { ask } from "../api.js";
import { countryName, targetOf } from "../choice.js";
import { button, h } from "../dom.js";
import { flag } from "../flag.js";
import { gameName, voice } from "../gather.js";
import { inOrder, meOf } from "../people.js";
import { capital, millis, said, say } from "../say.js";
import { shareButton } from "../share.js";
import { sign } from "../sign.js";
import { placeOf } from "../map/world.js";
import { spokesOf } from "../stages/around.js";
import { ways } from "../stages/go.js";
import { late } from "../stages/late.js";
import { bringIn, parting } from "../stages/parting.js";
import { drawRecipe } from "../stages/recipe.js";
import { everyones, shown as turns } from "../stages/reveal.js";
import { addressOf } from "./address.js";
import { ownOf } from "./own.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Candidate} Candidate */
/** @typedef {import("../app.js").View} View */

/** How many of the others are named that the place beats. */
const beaten = 3;

/** @param {import("../live.js").Live} live @param {View} view */
export function placed(live, view) {
  const state = /** @type {State} */ (live.state);
  const place = /** @type {Candidate} */ (state.way?.place);
  if (state.you.organiser && !view.tv && ownOf(view).isSettingUp) return [h("div", { class: "recipe", "data-keep": true, "data-key": "recipe" }), h("p", { class: "buttons", "data-key": "back" }, button("set-down", say("place.back")))];
  const target = state.choice && targetOf(state.choice);
  const spokes = spokesOf(state, target);
  const isOnMap = Boolean(placeOf(place.country));
  const isReady = Boolean(state.way?.connect);
  const words = {
    small: (/** @type {import("../dom.js").Child[]} */ ...held) => h("small", {}, ...held),
    place: h("span", { class: "place" }, h("bdi", { dir: "auto" }, place.name)),
  };
  return [
    isOnMap && h("div", { class: `turning turned of-place${isReady ? " is-ready" : ""}`, "data-keep": true, "data-key": `turning ${state.room.round}` }),
    h(
      "div",
      { class: `tonight at-place${isOnMap ? "" : " mapless"}`, "data-key": `tonight ${state.room.round}` },
      h("div", { class: "where" }, h("h1", {}, ...said(isReady ? "place.go-to" : place.home ? "place.host-it-on" : "place.host-it", words)), place.country && h("p", { class: "named" }, flag(place.country), h("bdi", { dir: "auto" }, countryName(place.country)))),
      ...(target ? everyones(view, spokes, target.mean_ms, isOnMap) : []),
      h("div", { class: "place-then", "data-key": "then" }, isReady ? !view.tv && h("div", { class: "way", "data-key": "way" }, ways(state, meOf(state))) : [beats(state) || null, ...providers(place), ready(state, view)], !view.tv && after(state, isReady)),
    ),
    view.tv && late(state, view),
  ];
}

/** What the place beats, in a sentence. @param {State} state */
function beats(state) {
  const { choice } = state;
  const target = choice && targetOf(choice);
  if (!choice || !target) return false;
  const others = choice.selection.ranking.flatMap(({ addr, mean_ms: mean }) => {
    const by = Math.round(mean - target.mean_ms);
    return addr === target.addr || by < 1 ? [] : [{ place: choice.servers[addr]?.name || say("search.nameless"), by }];
  }).slice(0, beaten);
  return others.length > 0 && h("p", { class: "beats" }, ...said("place.beats", { others: others.map(({ place, by }) => h("span", {}, ...said("place.by", { place, ms: h("b", {}, millis(by)) }))) }));
}

/** Who has machines there; the one that was measured is marked. @param {Candidate} place */
function providers({ offers = [] }) {
  if (offers.length === 0) return [];
  return [
    h("p", { class: "rent" }, offers.length > 1 ? say("place.providers") : say("place.provider")),
    h("ul", { class: "offers", "aria-label": say("place.providers-label") }, offers.map(({ provider }, i) => h("li", { class: i === 0 ? "measured" : "" }, i === 0 && h("span", { "aria-hidden": "true" }, "✓ "), h("bdi", { dir: "auto" }, provider), i === 0 && h("span", { class: "unseen" }, " ", say("place.measured"))))),
  ];
}

/** Who gets a server ready. @param {State} state @param {View} view */
function ready(state, view) {
  const organiser = inOrder(state.people).find((person) => person.organiser);
  if (state.you.organiser && !view.tv) return h("p", { class: "gets-ready" }, button("set-up", say("place.set-up"), { class: "primary large" }), h("span", {}, say("place.you-ready")));
  const small = (/** @type {import("../dom.js").Child[]} */ ...held) => h("span", { class: "quiet" }, ...held);
  return h("p", { class: "gets-ready" }, organiser && sign(organiser, 36), h("span", {}, ...(organiser ? said("place.gets-ready", { player: h("bdi", { dir: "auto" }, organiser.name), small }) : said("place.somebody", { small }))));
}

/** @param {State} state @param {boolean} isReady */
function after(state, isReady) {
  return h("div", { class: "after", "data-key": "after" }, parting(state), isReady && state.you.organiser === true && h("p", { class: "buttons" }, button("set-up", say("place.other-address"))), voice(state), shareButton(state));
}

/** The recipe of the room's game, null if the host has none. @type {{game: string, recipe: import("../recipe.js").Recipe | null} | undefined} */
let known;

/** Loads the recipe. @param {State} state @param {View} view */
async function learnRecipe({ room: { game } }, view) {
  known = { game, recipe: null };
  const reply = await fetch(`/recipe/${encodeURIComponent(game)}`).catch(() => null);
  if (reply?.ok) known = { game, recipe: await reply.json() };
  view.changed();
}

/** Gives the room the address of the server that runs there now. @param {State} state @param {string} text */
function paste(state, text) {
  const port = Number.parseInt(known?.recipe?.open?.[0] ?? "", 10);
  return ask("started", { game: state.room.game, addr: addressOf(text, port) });
}

/** Runs once the children are on the page. @param {HTMLElement} stage @param {import("../live.js").Live} live @param {View} view */
export function shown(stage, live, view) {
  const state = /** @type {State} */ (live.state);
  const way = stage.querySelector(".recipe");
  if (!(way instanceof HTMLElement)) {
    bringIn(stage);
    return turns(stage, live, view);
  }
  const place = /** @type {Candidate} */ (state.way?.place);
  if (known?.game !== state.room.game) void learnRecipe(state, view);
  const mean = state.choice && targetOf(state.choice)?.mean_ms;
  drawRecipe(way, {
    place: { ...place, ...(mean !== undefined && mean !== null && { mean_ms: mean }) },
    recipe: known?.recipe ?? null,
    room: { name: state.room.name, people: state.choice?.selection.players ?? [], game: gameName(state) },
    mine: true,
    paste: (text) => Promise.resolve().then(() => paste(state, text)).then(() => ((ownOf(view).isSettingUp = false), view.changed())).catch((error) => ownOf(view).tell?.(capital(error.message), true)),
  });
}

/** What people hear who listen to the page. @param {State} state */
export function says(state) {
  const place = /** @type {Candidate} */ (state.way?.place);
  const target = state.choice && targetOf(state.choice);
  const own = target?.rtt_ms[state.you.name ?? ""];
  const mean = target ? say("ping.average", { ms: millis(target.mean_ms) }) : "";
  if (state.way?.connect) return say("stage.go", { server: place.name });
  return say("place.says-placed", { place: place.name, country: place.country ? countryName(place.country) : place.name, pings: own === undefined ? mean : say("reveal.says-pings", { own: millis(own), reason: mean }) });
}
