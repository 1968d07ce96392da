// The search's map: the servers as lights, the leaders as pins, and the players as signs with an
// arc to the leader.
//
//	canvas  land
//	canvas  lights: dim are listed, pale have answered, bright could still win
//	svg     arcs and pulses ─ connectors ─ pins 1 2 3 ─ signs in rings, with names and pings
//
// A place is known by its country only, so everything stands around the country's centre.

import { packed } from "../colours.js";
import { svg } from "../dom.js";
import { inFrames } from "../frames.js";
import { country, millis, say } from "../say.js";
import { shortened, sign } from "../sign.js";
import { share } from "../stages/pace.js";
import { Ground, strength } from "./ground.js";
import { labelled } from "./labels.js";
import { moveApart } from "./projection.js";
import { placeOf, world } from "./world.js";
import { runTime } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {{x: number, y: number, trueX: number, trueY: number, size: number}} Mark */

/** The map is cut open along a meridian whose longitude is a multiple of this, degrees. */
const cutStep = 30;
/** How often lights are drawn at most, ms. */
const lightEvery = 1000;
/** Pulses take this many times the true ping, there and back. */
const slower = 10;
/** Up to so many players have their names on the map, of so many letters. */
const named = 8;
const longestName = 14;
/** The widest name with its ping, in em. */
const widestName = 9;
/** The distance from which marks do not hide each other, as a multiple of their size. */
const apart = 1.15;

export class WorldMap {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.land = document.createElement("canvas"); // land and borders, drawn once for each size
    this.canvas = document.createElement("canvas"); // lights
    this.svg = svg("svg", { class: "marks", "aria-hidden": "true" });
    for (const canvas of [this.land, this.canvas]) canvas.setAttribute("aria-hidden", "true");
    place.replaceChildren(this.land, this.canvas, this.svg);
    this.drawn = "";
    this.lit = "";
    this.litAt = 0;
    this.marked = "";
    /** What the lights are being drawn by. @type {unknown} */
    this.lighting = null;
    /** What the marks are being drawn by. @type {unknown} */
    this.marking = null;
    /** What the map stands on, once that is drawn. @type {Ground | null} */
    this.ground = null;
    /** @type {import("./world.js").World | null} */
    this.world = null;
    /** @type {State | null} */
    this.state = null;
    this.failed = false;
    this.size = { width: 0, height: 0 };
    new ResizeObserver(([entry]) => {
      this.size = { width: Math.round(entry.contentRect.width), height: Math.round(entry.contentRect.height) };
      if (this.state) this.show(this.state);
    }).observe(place);
    world().then(
      (loaded) => {
        this.world = loaded;
        if (this.state) this.show(this.state);
      },
      () => (this.failed = true), // the podium says everything that the map does
    );
  }

  /** @param {State} state */
  show(state) {
    this.state = state;
    const { width, height } = this.size;
    if (!this.world || width < 50 || height < 50) return;
    const lon = this.middle(state);
    const drawn = `${width} ${height} ${lon} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      inFrames(this.lay(new Ground(width, height), lon), () => this.drawn === drawn);
    }
    if (!this.ground) return;
    const lit = placesOf(state);
    if (lit !== this.lit && (this.lit === "" || runTime() - this.litAt > lightEvery)) {
      [this.lit, this.litAt] = [lit, runTime()];
      const lighting = this.lighting = this.light(this.ground);
      inFrames(lighting, () => this.lighting === lighting);
    }
    this.drawMarks(state, this.ground);
  }

  /** Draws new ground, and puts it on the page once it is complete, with its lights if the old one has some. @param {Ground} ground @param {number} lon in the middle, degrees */
  *lay(ground, lon) {
    const { state, world } = this;
    if (!state || !world) return;
    const inks = this.inks(ground);
    yield* ground.paint(world, lon, inks);
    const lit = this.ground ? placesOf(state) : "";
    if (lit) yield* ground.light(state.standing?.places ?? [], inks);
    this.svg.setAttribute("viewBox", `0 0 ${ground.width} ${ground.height}`);
    this.land.replaceWith(ground.canvas);
    this.land = ground.canvas;
    [this.canvas.width, this.canvas.height] = [ground.canvas.width, ground.canvas.height];
    this.ground = ground;
    this.lighting = null; // it lights the old ground
    this.lit = lit;
    this.marked = "";
    if (lit) this.shine(ground);
    if (this.state) this.show(this.state);
  }

  /** @param {Ground} ground */
  *light(ground) {
    yield* ground.light(this.state?.standing?.places ?? [], this.inks(ground));
    this.shine(ground);
  }

  /** Shows the lights. @param {Ground} ground */
  shine(ground) {
    if (ground.image) this.canvas.getContext("2d")?.putImageData(ground.image, 0, 0);
  }

  /** The map's colours. @param {Ground} ground @returns {import("./ground.js").Inks} */
  inks(ground) {
    const style = getComputedStyle(this.place);
    const ink = (/** @type {string} */ name) => style.getPropertyValue(name);
    return { land: ink("--land"), ground: ink("--ground"), lights: ["--edge", "--quiet", "--text"].map((name, kind) => packed(ink(name), strength(kind, ground.sharp))) };
  }

  /** The longitude in the middle of the map, which is cut in the middle of the widest gap between the things on it. @param {State} state */
  middle(state) {
    const codes = [...(state.standing?.places ?? []).map((place) => place.country), ...state.people.map((person) => person.country)];
    const steps = 360 / cutStep;
    const used = new Array(steps).fill(false);
    for (const code of codes) {
      const at = placeOf(code);
      if (at) used[Math.floor((at.lon + 180) / cutStep) % steps] = true;
    }
    let best = 0;
    let widest = used[0] || used[steps - 1] ? 0 : 1; // the usual cut, unless another gap is wider
    for (let from = 0; from < steps; from++) {
      let n = 0;
      while (n < steps && !used[(from + n) % steps]) n++;
      if (n > widest + 1 && n < steps) [best, widest] = [from + Math.floor(n / 2), n];
    }
    return (best * cutStep) % 360;
  }

  /** @param {State} state @param {Ground} ground */
  drawMarks(state, { width, height }) {
    const players = state.people.filter((person) => person.peer && !person.left_out);
    const leaders = state.standing?.leaders ?? [];
    const shown = JSON.stringify([
      leaders.map((leader) => [leader.id, leader.country, leader.name]),
      players.map((person) => [person.name, person.arrival, person.country, person.connected, Math.round(24 * share(state, person)), Math.round(leaders[0]?.rtt_ms[person.name] ?? -1)]),
    ]);
    if (shown === this.marked) return;
    this.marked = shown;
    const isFirst = this.svg.childElementCount === 0;
    const marking = this.marking = this.mark(players, leaders, state, width, height);
    if (isFirst) inFrames(marking, () => this.marking === marking);
    else for (const _ of marking); // at once: the names would be gone for a frame
  }

  /** Puts arcs, pins, signs and names on the map. @param {Person[]} players @param {import("../types.js").Leader[]} leaders @param {State} state @param {number} width @param {number} height */
  *mark(players, leaders, state, width, height) {
    const isSmall = width < 600;
    const size = (isSmall ? 22 : 34) * (players.length > 8 ? 0.8 : 1) * Math.max(1, width / 1600);
    const pin = isSmall ? 20 : Math.max(24, width / 60);
    /** @type {(Mark & {person?: Person, rank?: number})[]} */
    const marks = [];
    leaders.forEach((leader, i) => this.put(marks, leader.country, pin, { rank: i + 1 }));
    const lost = players.filter((person) => !this.put(marks, person.country, size * 1.35, { person }));
    moveApart(marks, (a, b) => ((a.size + b.size) / 2) * apart, (mark) => {
      mark.x = Math.min(width - mark.size / 2, Math.max(mark.size / 2, mark.x));
      mark.y = Math.min(height - mark.size / 2, Math.max(mark.size / 2, mark.y));
    });
    const [first] = marks.filter((mark) => mark.rank === 1);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const arcs = marks.flatMap((mark) => (mark.person && first ? arc(mark, first, mark.person, leaders[0].rtt_ms[mark.person.name], still) : []));
    const connectors = marks.filter((mark) => Math.hypot(mark.x - mark.trueX, mark.y - mark.trueY) > mark.size / 2).map((mark) => svg("line", { class: "connector", x1: mark.x, y1: mark.y, x2: mark.trueX, y2: mark.trueY }));
    const glow = first ? [svg("circle", { class: "glow", cx: first.x, cy: first.y, r: pin * 2.4 })] : [];
    const signs = marks.map((mark) => (mark.person ? ringed(mark.person, mark.x, mark.y, size, share(state, mark.person)) : pinned(mark, mark.rank ?? 0)));
    const row = lost.map((person, i) => ringed(person, size + i * size * 1.6, height - size, size, share(state, person)));
    const word = lost.length > 0 ? [svg("text", { class: "somewhere", x: size * 0.3 + lost.length * size * 1.6, y: height - size, "dominant-baseline": "central" }, say("map.somewhere"))] : [];
    this.svg.replaceChildren(...glow, ...arcs, ...connectors, ...signs, ...row, ...word);
    yield;
    if (!isSmall && first && players.length <= named) yield* this.name(marks, first, leaders[0], size, width, height);
  }

  /** Writes names and pings beside the signs, where there is room. @param {(Mark & {person?: Person, rank?: number})[]} marks @param {Mark} first @param {import("../types.js").Leader} leader @param {number} size @param {number} width @param {number} height */
  *name(marks, first, leader, size, width, height) {
    const signs = marks.filter((mark) => mark.person);
    const em = Math.max(15, width / 62);
    const words = signs.map(({ person }) => {
      const ms = leader.rtt_ms[person?.name ?? ""];
      const place = svg("text", { class: "whence", "font-size": em * 0.86, y: em * 0.95 }, country(person?.country));
      const name = svg("text", { class: "called", "font-size": em }, `\u2068${shortened(person?.name ?? "", longestName)}\u2069`, ms !== undefined && svg("tspan", { class: "ms", dx: em * 0.4 }, millis(ms)));
      return svg("g", { class: "named", visibility: "hidden" }, name, place);
    });
    this.svg.append(...words);
    words.forEach((one, i) => {
      const called = /** @type {SVGTextContentElement} */ (one.firstElementChild);
      for (let letters = longestName; letters > 3 && called.getComputedTextLength() > widestName * em;) /** @type {Text} */ (called.firstChild).data = `\u2068${shortened(signs[i].person?.name ?? "", --letters)}\u2069`;
    });
    const boxes = words.map((one) => ({ width: Math.max(...[...one.children].map((text) => /** @type {SVGTextContentElement} */ (text).getComputedTextLength())), height: em * 2 }));
    yield;
    const pins = marks.filter((mark) => mark.rank).map((pin) => ({ left: pin.x - pin.size / 2, right: pin.x + pin.size / 2, top: pin.y - pin.size / 2, bottom: pin.y + pin.size / 2 }));
    const places = labelled(first, signs, size * 1.5, boxes, { left: 0, right: width, top: 0, bottom: height }, { taken: pins });
    words.forEach((one, i) => {
      const place = places[i];
      if (!place) return one.remove();
      one.setAttribute("text-anchor", place.anchor);
      one.setAttribute("transform", `translate(${place.x} ${place.y - em * 0.22})`);
      one.removeAttribute("visibility");
    });
  }

  /** Puts a mark on a country, and reports whether the country is known. @param {any[]} marks @param {string | undefined} country @param {number} size @param {object} what */
  put(marks, country, size, what) {
    const at = placeOf(country);
    const point = at && this.ground?.projection([at.lon, at.lat]);
    if (!point) return false;
    marks.push({ x: point[0], y: point[1], trueX: point[0], trueY: point[1], size, ...what });
    return true;
  }
}

/** The places of a state's servers, as a text to compare. @param {State} state */
const placesOf = (state) => JSON.stringify(state.standing?.places ?? []);

/** The way to the leader, with a pulse that takes ten times the ping. @param {Mark} from @param {Mark} to @param {Person} person @param {number | undefined} ms @param {boolean} still */
function arc(from, to, person, ms, still) {
  const [midX, midY] = [(from.x + to.x) / 2, (from.y + to.y) / 2 - Math.hypot(from.x - to.x, from.y - to.y) * 0.18];
  const d = `M${from.x} ${from.y}Q${midX} ${midY} ${to.x} ${to.y}`;
  const way = svg("path", { class: `arc p${(person.arrival ?? 0) % 16}${ms === undefined ? " unknown" : ""}`, d });
  if (ms === undefined || still) return [way];
  const there = svg("animateMotion", { dur: `${Math.max(0.05, (slower * ms) / 1000)}s`, repeatCount: "indefinite", path: d, keyPoints: "0;1;0", keyTimes: "0;0.5;1", calcMode: "linear" });
  return [way, svg("circle", { class: `pulse p${(person.arrival ?? 0) % 16}`, r: Math.max(3, to.size / 7) }, there)];
}

/** @param {Person} person @param {number} x @param {number} y @param {number} size @param {number} full */
function ringed(person, x, y, size, full) {
  const r = size * 0.66;
  const around = 2 * Math.PI * r;
  const inner = sign(person, size * 0.8);
  inner.setAttribute("x", String(x - size * 0.4));
  inner.setAttribute("y", String(y - size * 0.4));
  return svg(
    "g",
    { class: `p${(person.arrival ?? 0) % 16}` },
    svg("circle", { class: "disc", cx: x, cy: y, r }),
    svg("circle", { class: "ring", cx: x, cy: y, r, "stroke-dasharray": `${full * around} ${around}`, transform: `rotate(-90 ${x} ${y})` }),
    inner,
  );
}

/** @param {Mark} mark @param {number} rank */
function pinned(mark, rank) {
  return svg(
    "g",
    { class: `pin${rank === 1 ? " first" : ""}` },
    svg("circle", { cx: mark.x, cy: mark.y, r: mark.size / 2 }),
    svg("text", { x: mark.x, y: mark.y, "font-size": mark.size * 0.6, "text-anchor": "middle", "dominant-baseline": "central" }, rank),
  );
}
