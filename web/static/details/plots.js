// Draws the plots of the round that are visible.

import { targetOf } from "../choice.js";
import { colourOf, css } from "../colours.js";
import { byId, h, show } from "../dom.js";
import { Picture, canPlot } from "./picture.js";
import { Spread } from "./spread.js";
import { nextFrame } from "../time.js";

/** @typedef {import("../types.js").State} State */

/** The plots on the page, and their contents. */
const drawn = {
  /** @type {Picture | null} */
  picture: null,
  pictured: "",
  /** @type {Spread | null} */
  spread: null,
  spreadOf: "",
};

/** Draws each answer as a point. @param {import("../live.js").Live} live */
export function drawPicture({ state, clouds, changed }) {
  const players = state?.people.filter((person) => person.peer) ?? [];
  const place = byId("picture");
  place.hidden = !players.some((person) => clouds.of(person.name).length > 0);
  if (!state || !isOpen(place)) return; // before colours are asked for, which makes the browser lay the page out
  const version = `${clouds.edition} ${players.length} ${state.room.limits_ms} ${look()}`;
  if (drawn.pictured === version || !canPlot(changed)) return;
  drawn.pictured = version;
  nextFrame(() => { // in a frame of its own: there may be a quarter of a million points
    drawn.picture ??= new Picture(byId("picture-plot"));
    const painted = players.map((person) => ({ colour: css(colourOf(state.people, person.name)), cloud: clouds.of(person.name) }));
    drawn.picture.draw(painted, state.room.limits_ms.at(-1) ?? 0, state.room.strategy !== "conventional");
  });
  show(byId("picture-key"), key(state, players.map((person) => person.name)));
}

/** Draws the distribution of everyone's answers. @param {import("../live.js").Live} live */
export function drawSpread({ state, clouds, changed }) {
  const choice = state?.choice;
  const players = choice?.selection.players ?? [];
  const place = byId("spread");
  place.hidden = !players.some((player) => clouds.of(player).length > 0);
  const target = choice && targetOf(choice);
  if (!state || !isOpen(place)) return;
  const version = `${clouds.edition} ${target?.addr} ${look()}`;
  if (drawn.spreadOf === version || !canPlot(changed)) return;
  drawn.spreadOf = version;
  drawn.spread ??= new Spread(byId("spread-plot"));
  drawn.spread.draw(players.map((player) => ({ name: player, colour: css(colourOf(state.people, player)), rtts: clouds.of(player).sorted(), chosen: target?.rtt_ms[player] })));
  show(byId("spread-key"), key(state, players));
}

/** Reports whether a detail is visible. @param {HTMLElement} place */
function isOpen(place) {
  return !place.hidden && place instanceof HTMLDetailsElement && place.open && place.closest("details#details[open]") !== null;
}

/** The colours and the resolution that canvases are drawn for. */
function look() {
  return `${css("card")} ${devicePixelRatio}`;
}

/** The legend: each player's colour. @param {State} state @param {string[]} names */
function key(state, names) {
  return names.map((name) => h("li", { class: colourOf(state.people, name) }, h("span", { class: "dot" }), h("bdi", {}, name)));
}
