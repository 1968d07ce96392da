// The search's map: the servers as lights, the leaders as pins, and the players as signs with an
// arc to the leader.
//
//	canvas  land
//	canvas  lights: dim are listed, pale have answered, bright could still win
//	svg     arcs and pulses ─ leashes ─ pins 1 2 3 ─ signs in rings, with names and pings
//
// A place is known by its country only, so everything stands around the country's centre.

import { packed } from "../colours.js";
import { svg } from "../dom.js";
import { country, millis, say } from "../say.js";
import { shortened, sign } from "../sign.js";
import { share } from "../stages/pace.js";
import { labelled } from "./labels.js";
import { placeOf, world } from "./world.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {{x: number, y: number, trueX: number, trueY: number, size: number}} Mark */

/** The step by which the map's cut turns, degrees. */
const cutStep = 30;
/** How often a light tries another random position until it is on land. */
const throws = 6;
/** The width of the picture that says where land is, px. Lights are no more precise than that. */
const maskWidth = 600;
/** The time a frame may spend on placing lights, ms; how many are placed at a time; and how often lights are drawn at most. */
const lightTime = 4;
const lightsAtATime = 100;
const lightEvery = 1000;
/** Km in a degree of latitude. */
const degree = 111;
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
    /** @type {unknown} */
    this.lighting = null;
    /** The positions of each country's lights: x and y of each, px. @type {Map<string, Float32Array>} */
    this.spots = new Map();
    /** The image that the lights are written into. @type {ImageData | null} */
    this.image = null;
    /** Where land is, once that is drawn. @type {ImageData | null} */
    this.mask = null;
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
    const rotation = this.cut(state);
    const style = getComputedStyle(this.place); // reads nothing yet: that would force a layout
    const drawn = `${width} ${height} ${rotation} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.lit = this.marked = "";
      this.lighting = null; // it knows the old land
      this.drawLand(width, height, rotation, style);
    }
    const { standing } = state;
    const lit = JSON.stringify(standing?.places ?? []);
    if (this.mask && lit !== this.lit && (this.lit === "" || performance.now() - this.litAt > lightEvery)) {
      [this.lit, this.litAt] = [lit, performance.now()];
      this.drawLights(standing?.places ?? [], style);
    }
    this.drawMarks(state, width, height);
  }

  /** The longitude of the map's edge: in the middle of the widest gap between the things on it. @param {State} state */
  cut(state) {
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
    const cutAt = -180 + best * cutStep;
    return ((180 - cutAt + 180) % 360) - 180;
  }

  /** @param {number} width @param {number} height @param {number} rotation @param {CSSStyleDeclaration} style */
  drawLand(width, height, rotation, style) {
    const { d3, land, borders } = /** @type {import("./world.js").World} */ (this.world);
    this.projection = d3.geoEqualEarth().rotate([rotation, 0]).fitExtent([[4, 4], [width - 4, height - 4]], land);
    const sharp = Math.min(2, devicePixelRatio || 1);
    const next = document.createElement("canvas"); // the old one stays until it is drawn
    next.setAttribute("aria-hidden", "true");
    next.width = Math.round(width * sharp);
    next.height = Math.round(height * sharp);
    this.sharp = sharp;
    const context = /** @type {CanvasRenderingContext2D} */ (next.getContext("2d"));
    context.scale(sharp, sharp);
    const path = d3.geoPath(this.projection, context);
    const { drawn } = this;
    const [colour, ground] = [style.getPropertyValue("--land"), style.getPropertyValue("--ground")];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.mask = null;
    requestAnimationFrame(() => { // in frames of their own, so that the page goes on meanwhile
      if (this.drawn !== drawn) return;
      context.fillStyle = colour;
      context.beginPath();
      path(land);
      context.fill();
      requestAnimationFrame(() => {
        if (this.drawn !== drawn) return;
        const mask = landIn(next);
        requestAnimationFrame(() => this.drawn === drawn && this.drawBorders(next, mask, path, borders, ground));
      });
    });
  }

  /** @param {HTMLCanvasElement} next @param {ImageData} mask @param {any} path @param {any} borders @param {string} ground */
  drawBorders(next, mask, path, borders, ground) {
    const context = /** @type {CanvasRenderingContext2D} */ (next.getContext("2d"));
    context.strokeStyle = ground;
    context.lineWidth = 0.7;
    context.beginPath();
    path(borders);
    context.stroke();
    this.land.replaceWith(next);
    this.land = next;
    this.mask = mask;
    [this.canvas.width, this.canvas.height] = [next.width, next.height];
    this.image = new ImageData(next.width, next.height);
    this.spots.clear();
    if (this.state) this.show(this.state);
  }

  /**
   * Draws all lights, in frames of its own. Finding their positions takes longest, because there
   * may be thirty thousand, so that is done once. A newer drawing cancels an older one.
   * @param {import("../types.js").Place[]} places @param {CSSStyleDeclaration} style
   */
  drawLights(places, style) {
    const { image } = this;
    if (!image) return;
    const sharp = this.sharp ?? 1;
    const sizes = [1.4, 1.4, 2].map((size) => Math.max(1, Math.round(size * sharp))); // dim, pale, bright
    const inks = ["--edge", "--quiet", "--text"].map((name, kind) => packed(style.getPropertyValue(name), kind === 2 ? 1 : Math.min(1, (0.7 * sharp * sharp) / sizes[kind] ** 2)));
    const lighting = this.lighting = this.findSpots(places);
    const frame = () => {
      if (this.lighting !== lighting) return;
      const began = performance.now();
      do {
        if (!lighting.next().done) continue;
        this.light(image, places, sizes, inks);
        return;
      } while (performance.now() - began < lightTime);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** @param {ImageData} image @param {import("../types.js").Place[]} places @param {number[]} sizes by kind, px @param {number[]} inks by kind */
  light(image, places, sizes, inks) {
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(0);
    for (const place of places) {
      const spots = this.spots.get(place.country ?? "");
      if (!spots) continue;
      const [answered, open] = [place.answered ?? 0, place.open ?? 0];
      for (let i = place.listed - 1; i >= 0; i--) { // those that could still win come last, on top
        const kind = i < open ? 2 : i < answered ? 1 : 0;
        const size = sizes[kind];
        const left = Math.max(0, Math.round(spots[2 * i] - size / 2));
        const top = Math.max(0, Math.round(spots[2 * i + 1] - size / 2));
        for (let y = top; y < Math.min(top + size, image.height); y++) {
          pixels.fill(inks[kind], y * image.width + left, y * image.width + Math.min(left + size, image.width));
        }
      }
    }
    this.canvas.getContext("2d")?.putImageData(image, 0, 0);
  }

  /** Finds the positions of all lights, a few at a time. @param {import("../types.js").Place[]} places */
  *findSpots(places) {
    const sharp = this.sharp ?? 1;
    for (const { country, listed } of places) {
      const at = placeOf(country);
      const centre = at && this.projection([at.lon, at.lat]);
      if (!at || !centre || (this.spots.get(country ?? "")?.length ?? 0) >= 2 * listed) continue;
      const north = this.projection([at.lon, Math.min(89, at.lat + 1)]);
      const pixels = (Math.hypot(north[0] - centre[0], north[1] - centre[1]) / degree) * at.km * sharp; // relative to the usual distance from the centre
      const spots = new Float32Array(2 * listed);
      for (let i = 0; i < listed; i++) {
        spots.set(this.thrown(i, centre[0] * sharp, centre[1] * sharp, pixels), 2 * i);
        if (i % lightsAtATime === lightsAtATime - 1) yield;
      }
      this.spots.set(country ?? "", spots);
    }
  }

  /** A light's position: always the same for a server, and on land if that is near. @param {number} index @param {number} x @param {number} y @param {number} spread */
  thrown(index, x, y, spread) {
    for (let attempt = 0; attempt < throws; attempt++) {
      const angle = chance(index * throws + attempt) * 2 * Math.PI;
      const far = spread * Math.sqrt(-Math.log(1 - chance(index * throws + attempt + 0.5))) * (attempt === throws - 1 ? 0.2 : 0.9);
      const [tryX, tryY] = [x + far * Math.cos(angle), y + far * Math.sin(angle)];
      if (attempt === throws - 1 || this.isLand(tryX, tryY)) return [tryX, tryY];
    }
    return [x, y];
  }

  /** @param {number} x @param {number} y */
  isLand(x, y) {
    const { width, height, data } = /** @type {ImageData} */ (this.mask);
    const [column, row] = [Math.floor((x * width) / this.canvas.width), Math.floor((y * height) / this.canvas.height)];
    return column >= 0 && row >= 0 && column < width && row < height && data[4 * (row * width + column) + 3] > 0;
  }

  /** @param {State} state @param {number} width @param {number} height */
  drawMarks(state, width, height) {
    const players = state.people.filter((person) => person.peer && !person.left_out);
    const leaders = state.standing?.leaders ?? [];
    const shown = JSON.stringify([
      leaders.map((leader) => [leader.id, leader.country, leader.name]),
      players.map((person) => [person.name, person.arrival, person.country, person.connected, Math.round(24 * share(state, person)), Math.round(leaders[0]?.rtt_ms[person.name] ?? -1)]),
    ]);
    if (shown === this.marked) return;
    this.marked = shown;
    const isSmall = width < 600;
    const size = (isSmall ? 22 : 34) * (players.length > 8 ? 0.8 : 1) * Math.max(1, width / 1600);
    const pin = isSmall ? 20 : Math.max(24, width / 60);
    /** @type {(Mark & {person?: Person, rank?: number})[]} */
    const marks = [];
    leaders.forEach((leader, i) => this.put(marks, leader.country, pin, { rank: i + 1 }));
    const lost = players.filter((person) => !this.put(marks, person.country, size * 1.35, { person }));
    push(marks, width, height);
    const [first] = marks.filter((mark) => mark.rank === 1);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const arcs = marks.flatMap((mark) => (mark.person && first ? arc(mark, first, mark.person, leaders[0].rtt_ms[mark.person.name], still) : []));
    const leashes = marks.filter((mark) => Math.hypot(mark.x - mark.trueX, mark.y - mark.trueY) > mark.size / 2).map((mark) => svg("line", { class: "leash", x1: mark.x, y1: mark.y, x2: mark.trueX, y2: mark.trueY }));
    const glow = first ? [svg("circle", { class: "glow", cx: first.x, cy: first.y, r: pin * 2.4 })] : [];
    const signs = marks.map((mark) => (mark.person ? ringed(mark.person, mark.x, mark.y, size, share(state, mark.person)) : pinned(mark, mark.rank ?? 0)));
    const row = lost.map((person, i) => ringed(person, size + i * size * 1.6, height - size, size, share(state, person)));
    const word = lost.length > 0 ? [svg("text", { class: "somewhere", x: size * 0.3 + lost.length * size * 1.6, y: height - size, "dominant-baseline": "central" }, say("map.somewhere"))] : [];
    this.svg.replaceChildren(...glow, ...arcs, ...leashes, ...signs, ...row, ...word);
    if (!isSmall && first && players.length <= named) this.name(marks, first, leaders[0], size, width, height);
  }

  /** Writes names and pings beside the signs, where there is room. @param {(Mark & {person?: Person, rank?: number})[]} marks @param {Mark} first @param {import("../types.js").Leader} leader @param {number} size @param {number} width @param {number} height */
  name(marks, first, leader, size, width, height) {
    const signs = marks.filter((mark) => mark.person);
    const em = Math.max(15, width / 62);
    const words = signs.map(({ person }) => {
      const ms = leader.rtt_ms[person?.name ?? ""];
      const place = svg("text", { class: "whence", "font-size": em * 0.86, y: em * 0.95 }, country(person?.country));
      const name = svg("text", { class: "called", "font-size": em }, `\u2068${shortened(person?.name ?? "", longestName)}\u2069`, ms !== undefined && svg("tspan", { class: "ms", dx: em * 0.4 }, millis(ms)));
      return svg("g", { class: "named" }, name, place);
    });
    this.svg.append(...words);
    words.forEach((one, i) => {
      const called = /** @type {SVGTextContentElement} */ (one.firstElementChild);
      for (let letters = longestName; letters > 3 && called.getComputedTextLength() > widestName * em;) /** @type {Text} */ (called.firstChild).data = `\u2068${shortened(signs[i].person?.name ?? "", --letters)}\u2069`;
    });
    const boxes = words.map((one) => ({ width: Math.max(...[...one.children].map((text) => /** @type {SVGTextContentElement} */ (text).getComputedTextLength())), height: em * 2 }));
    const pins = marks.filter((mark) => mark.rank).map((pin) => ({ left: pin.x - pin.size / 2, right: pin.x + pin.size / 2, top: pin.y - pin.size / 2, bottom: pin.y + pin.size / 2 }));
    const places = labelled(first, signs, size * 1.5, boxes, { left: 0, right: width, top: 0, bottom: height }, { taken: pins });
    words.forEach((one, i) => {
      const place = places[i];
      if (!place) return one.remove();
      one.setAttribute("text-anchor", place.anchor);
      one.setAttribute("transform", `translate(${place.x} ${place.y - em * 0.22})`);
    });
  }

  /** Puts a mark on a country, and reports whether the country is known. @param {any[]} marks @param {string | undefined} country @param {number} size @param {object} what */
  put(marks, country, size, what) {
    const at = placeOf(country);
    const point = at && this.projection([at.lon, at.lat]);
    if (!point) return false;
    marks.push({ x: point[0], y: point[1], trueX: point[0], trueY: point[1], size, ...what });
    return true;
  }
}

/** A rough picture of where a drawing has land. @param {HTMLCanvasElement} land */
function landIn(land) {
  const rough = new OffscreenCanvas(maskWidth, Math.round((maskWidth * land.height) / land.width));
  const masked = /** @type {OffscreenCanvasRenderingContext2D} */ (rough.getContext("2d", { willReadFrequently: true }));
  masked.drawImage(land, 0, 0, rough.width, rough.height);
  return masked.getImageData(0, 0, rough.width, rough.height);
}

/** A number from 0 to 1 that is always the same for n. @param {number} n */
function chance(n) {
  const x = Math.sin(n * 12.9898 + 78.233) * 43758.5453;
  return x - Math.floor(x);
}

/** Pushes marks apart that would hide each other. @param {Mark[]} marks @param {number} width @param {number} height */
function push(marks, width, height) {
  for (let round = 0; round < 60; round++) {
    let moved = false;
    for (let i = 0; i < marks.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [marks[i], marks[j]];
        const least = ((a.size + b.size) / 2) * apart;
        let [dx, dy] = [a.x - b.x, a.y - b.y];
        const distance = Math.hypot(dx, dy);
        if (distance >= least) continue;
        if (distance < 0.01) [dx, dy] = [Math.cos(i * 2.4), Math.sin(i * 2.4)];
        const by = (least - distance) / 2 / (distance < 0.01 ? 1 : distance);
        a.x += dx * by;
        a.y += dy * by;
        b.x -= dx * by;
        b.y -= dy * by;
        moved = true;
      }
    }
    for (const mark of marks) {
      mark.x = Math.min(width - mark.size / 2, Math.max(mark.size / 2, mark.x));
      mark.y = Math.min(height - mark.size / 2, Math.max(mark.size / 2, mark.y));
    }
    if (!moved) return;
  }
}

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
