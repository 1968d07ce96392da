// Where the room stands: the head of the page, in large.

import { button, count, duration, h } from "./dom.js";
import { rtts, verdict, wayIn } from "./choice.js";
import { gameName } from "./gather.js";
import { next } from "./next.js";
import { hasSay } from "./people.js";

/** @typedef {import("./types.js").State} State */

const steps = /** @type {const} */ ([
  ["gathering", "Gather"],
  ["measuring", "Measure"],
  ["chosen", "Agree"],
  ["launching", "Play"],
]);

/** The way of the round, as steps. @param {State} state */
export function way(state) {
  const stage = ["listing", "refining", "failed"].includes(state.room.stage) ? "measuring" : state.room.stage;
  const now = steps.findIndex(([id]) => id === stage);
  return steps.map(([id, name], i) => h("li", { class: i < now ? "past" : i === now ? "now" : "", "aria-current": i === now ? "step" : undefined, "data-id": id }, id === "chosen" && state.room.agree === false ? "Check" : name));
}

/** One sentence that says where the room stands: screen readers hear it. @param {State} state */
export function sentence(state) {
  const { room, people } = state;
  const players = people.filter((person) => person.peer && person.connected).length;
  switch (room.stage) {
    case "gathering":
      return room.players > 0 ? `Waiting for ${count(Math.max(0, room.players - players), "more player")}` : players === 0 ? "Waiting for the first player" : `${count(players, "player")} here`;
    case "listing":
      return "Fetching the server list";
    case "measuring":
      return "Everyone is measuring";
    case "refining":
      return "Looking for the best server for everyone";
    case "chosen":
      if (state.agreement.launch_at) return "Off we go in a few seconds";
      return state.agreement.open ? "Vote, veto, and say when you are ready" : "Everyone looks at the best again";
    case "launching":
      return state.way ? `Everyone to ${state.way.server}` : "Everyone on the way";
    case "failed":
      return "No server for everyone this time";
    default:
      return room.stage;
  }
}

/** @param {import("./live.js").Live} live */
export function hero(live) {
  const state = /** @type {State} */ (live.state);
  switch (state.room.stage) {
    case "gathering":
      return gathering(state);
    case "listing":
      return [headline(state), h("p", { class: "wait" }, "The host asks the masters who is out there …")];
    case "measuring":
    case "refining":
      return measuring(live);
    case "failed":
      return failed(state);
    default:
      return [...verdict(state), wayIn(state), next(state), outlook(state), agreeing(live), rtts(state), again(state)];
  }
}

/**
 * The organiser's word. It is meant for what stands there when it is given: the
 * room may have gone on.
 * @param {State} state @param {string} label @param {Record<string, string | boolean>} [attributes]
 */
function go(state, label, attributes) {
  return button("go", label, { "data-stage": state.room.stage, "data-key": `go ${state.room.stage}`, ...attributes });
}

/** @param {State} state */
function headline(state) {
  return h("h2", { class: "headline" }, sentence(state));
}

/** @param {State} state */
function gathering(state) {
  const here = state.people.filter((person) => person.peer && person.connected).length;
  return [
    h("p", { class: "eyebrow" }, h("bdi", {}, gameName(state))),
    headline(state),
    next(state),
    state.you.organiser && h("p", { class: "buttons" }, go(state, here > 0 ? "Start now" : "Start", { class: "primary large", disabled: here === 0 })),
  ];
}

/** @param {import("./live.js").Live} live */
function measuring(live) {
  const state = /** @type {State} */ (live.state);
  const players = state.people.filter((person) => person.peer && !person.left_out);
  const asked = players.reduce((sum, person) => sum + person.probed, 0);
  const limit = Math.max(0, ...state.room.limits_ms) || 200;
  const near = players.reduce((sum, person) => sum + live.clouds.of(person.name).near(limit), 0);
  return [
    h("p", { class: "eyebrow" }, h("bdi", {}, gameName(state))),
    headline(state),
    outlook(state),
    next(state),
    h("dl", { class: "numbers" }, figure("servers", state.room.listed), figure("asked so far", asked), figure(`within ${limit} ms`, near), figure("passed", duration(live.elapsed()))),
    state.you.organiser && h("p", { class: "buttons" }, go(state, "Choose from what there is")),
  ];
}

/** How far a search is that the host coordinates. @param {State} state */
function outlook(state) {
  return state.room.outlook && h("p", { class: "about", id: "outlook" }, upper(state.room.outlook) + ".");
}

/** @param {string} text */
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {string} name @param {number | string} value */
function figure(name, value) {
  return h("div", {}, h("dd", {}, typeof value === "number" ? value.toLocaleString("en") : value), h("dt", {}, name));
}

/** @param {State} state */
function failed(state) {
  const why = state.choice?.explain ?? [state.log.at(-1)?.text ?? ""];
  return [headline(state), h("ul", { class: "reasons" }, why.map((text) => h("li", {}, h("bdi", { dir: "ltr" }, text)))), next(state), again(state, "Try again")];
}

/** @param {State} state */
function again(state, label = "Next round") {
  const over = state.room.stage === "launching" || state.room.stage === "failed";
  return state.you.organiser && over && h("p", { class: "buttons" }, go(state, label, { class: state.room.stage === "failed" ? "primary" : "" }));
}

/** The ready check and the countdown. @param {import("./live.js").Live} live */
function agreeing(live) {
  const state = /** @type {State} */ (live.state);
  if (!state.agreement.open) return null;
  const me = state.people.find((person) => person.name === state.you.name);
  const launchAt = state.agreement.launch_at ? Date.parse(state.agreement.launch_at) : 0;
  const left = Math.max(0, Math.ceil((launchAt - live.now()) / 1000));
  return h(
    "div",
    { class: "agreeing" },
    state.agreement.vetoes.length > 0 && h("p", { class: "quiet" }, "Vetoes: ", state.agreement.vetoes.map((veto, i) => [i > 0 && ", ", h("bdi", {}, veto)]).flat()),
    h(
      "p",
      { class: "buttons" },
      me && hasSay(state, me) && button("ready", me.ready ? (launchAt > 0 ? "Wait!" : "Not ready after all") : "I am ready", { class: me.ready ? "large" : "primary large", "data-ready": String(!me.ready) }),
      state.you.organiser && launchAt === 0 && go(state, "Launch without waiting"),
      launchAt > 0 && h("span", { class: "countdown", role: "timer", "aria-label": `Launch in ${left} seconds` }, left),
    ),
  );
}
