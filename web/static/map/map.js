// The search's map: the servers as lights, the leaders as pins, the players as signs with
// an arc to the leader.
//
//	canvas  land ─ lights: dim are listed, pale have answered, gold could still win
//	svg     arcs and pulses ─ leashes ─ pins 1 2 3 ─ signs in rings
//
// A place is a country's: everything stands about there.

import { svg } from "../dom.js";
import { sign } from "../sign.js";
import { share } from "../stages/pace.js";
import { flagOf, nameOf, placeOf, world } from "./world.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {{x: number, y: number, trueX: number, trueY: number, size: number}} Mark */

/** By how much the map's cut turns at a time, degrees. */
const cutStep = 30;
/** How often a light is thrown until it is on land. */
const throws = 6;
/** How wide the picture is that says where land is, px: a light is no nearer than that. */
const maskWidth = 600;
/** How long lights are drawn in a frame, ms, and how often they are at most. */
const lightTime = 6;
const lightEvery = 1000;
/** Km of a degree of latitude. */
const degree = 111;
/** Pulses go there and back in so many times the true ping. */
const slower = 10;
/** From so many times their size on marks do not hide each other. */
const apart = 1.15;

export class WorldMap {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.land = document.createElement("canvas"); // out of sight: land and borders, drawn once
    this.canvas = document.createElement("canvas");
    this.svg = svg("svg", { class: "marks", "aria-hidden": "true" });
    this.canvas.setAttribute("aria-hidden", "true");
    place.replaceChildren(this.canvas, this.svg);
    this.drawn = "";
    this.lit = "";
    this.litAt = 0;
    this.marked = "";
    /** @type {unknown} */
    this.lighting = null;
    /** What is land, once that is drawn. @type {ImageData | null} */
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
      () => (this.failed = true), // the podium says all that the map does
    );
  }

  /** @param {State} state */
  show(state) {
    this.state = state;
    const { width, height } = this.size;
    if (!this.world || width < 50 || height < 50) return;
    const rotation = this.cut(state);
    const style = getComputedStyle(this.place); // reads nothing before it is asked: that would have all laid out
    const drawn = `${width} ${height} ${rotation} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.lit = this.marked = "";
      this.lighting = null; // knows the old land
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

  /** Where the map is cut: through the middle of the widest gap between all that stands on it. @param {State} state */
  cut(state) {
    const codes = [...(state.standing?.places ?? []).map((place) => place.country), ...state.people.map((person) => person.country)];
    const steps = 360 / cutStep;
    const used = new Array(steps).fill(false);
    for (const code of codes) {
      const at = placeOf(code);
      if (at) used[Math.floor((at.lon + 180) / cutStep) % steps] = true;
    }
    let best = 0;
    let widest = used[0] || used[steps - 1] ? 0 : 1; // as one knows the world, unless another gap is wider
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
    for (const canvas of [this.land, this.canvas]) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
    }
    this.sharp = sharp;
    const context = /** @type {CanvasRenderingContext2D} */ (this.land.getContext("2d"));
    context.scale(sharp, sharp);
    const path = d3.geoPath(this.projection, context);
    const { drawn } = this;
    const [colour, ground] = [style.getPropertyValue("--land"), style.getPropertyValue("--ground")];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.mask = this.lighting = null; // lights under way were thrown onto the old land
    requestAnimationFrame(() => { // in frames of their own: the page goes on meanwhile
      if (this.drawn !== drawn) return;
      context.fillStyle = colour;
      context.beginPath();
      path(land);
      context.fill();
      requestAnimationFrame(() => this.drawn === drawn && this.drawBorders(context, path, borders, ground, width, height));
    });
  }

  /** @param {CanvasRenderingContext2D} context @param {any} path @param {any} borders @param {string} ground @param {number} width @param {number} height */
  drawBorders(context, path, borders, ground, width, height) {
    const rough = new OffscreenCanvas(maskWidth, Math.round((maskWidth * height) / width));
    const masked = /** @type {OffscreenCanvasRenderingContext2D} */ (rough.getContext("2d", { willReadFrequently: true }));
    masked.drawImage(this.land, 0, 0, rough.width, rough.height);
    this.mask = masked.getImageData(0, 0, rough.width, rough.height); // what is land, for the lights
    context.strokeStyle = ground;
    context.lineWidth = 0.7;
    context.beginPath();
    path(borders);
    context.stroke();
    if (this.state) this.show(this.state);
  }

  /**
   * Draws all lights anew, some in a frame: there may be thirty thousand. What is under way
   * ends when something newer begins.
   * @param {import("../types.js").Place[]} places @param {CSSStyleDeclaration} style
   */
  drawLights(places, style) {
    const next = document.createElement("canvas");
    [next.width, next.height] = [this.canvas.width, this.canvas.height];
    const context = /** @type {CanvasRenderingContext2D} */ (next.getContext("2d"));
    const colours = ["--edge", "--text", "--gold-text"].map((name) => style.getPropertyValue(name));
    context.drawImage(this.land, 0, 0);
    const lights = this.lights(places);
    this.lighting = lights;
    const frame = () => {
      if (this.lighting !== lights) return;
      const began = performance.now();
      for (let n = 0; ; n++) {
        if (n % 100 === 99 && performance.now() - began > lightTime) return requestAnimationFrame(frame);
        const light = lights.next().value;
        if (!light) break;
        const { x, y, kind } = light;
        const size = (kind === 2 ? 2 : 1.4) * (this.sharp ?? 1);
        if (context.fillStyle !== colours[kind]) context.fillStyle = colours[kind];
        context.globalAlpha = [0.45, 0.5, 1][kind];
        context.fillRect(x - size / 2, y - size / 2, size, size);
      }
      const shown = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
      shown.clearRect(0, 0, next.width, next.height);
      shown.drawImage(next, 0, 0);
    };
    frame();
  }

  /** The lights of all servers; of each country those come last, and stand above, that could still win. @param {import("../types.js").Place[]} places @returns {Generator<{x: number, y: number, kind: number}, null>} */
  *lights(places) {
    const sharp = this.sharp ?? 1;
    for (const place of places) {
      const at = placeOf(place.country);
      const centre = at && this.projection([at.lon, at.lat]);
      if (!at || !centre) continue;
      const north = this.projection([at.lon, Math.min(89, at.lat + 1)]);
      const pixels = (Math.hypot(north[0] - centre[0], north[1] - centre[1]) / degree) * at.km * sharp; // of the usual way from the centre
      const [answered, open] = [place.answered ?? 0, place.open ?? 0];
      for (let i = place.listed - 1; i >= 0; i--) {
        const [x, y] = this.thrown(i, centre[0] * sharp, centre[1] * sharp, pixels);
        yield { x, y, kind: i < open ? 2 : i < answered ? 1 : 0 };
      }
    }
    return null;
  }

  /** Where a light stands: the same for a server each time, on land if that is near. @param {number} index @param {number} x @param {number} y @param {number} spread */
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
    const [column, row] = [Math.floor((x * width) / this.land.width), Math.floor((y * height) / this.land.height)];
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
    const pin = isSmall ? 16 : Math.max(24, width / 60);
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
    const word = lost.length > 0 ? [svg("text", { class: "somewhere", x: size * 0.3 + lost.length * size * 1.6, y: height - size, "dominant-baseline": "central" }, "somewhere")] : [];
    this.svg.replaceChildren(...glow, ...arcs, ...leashes, ...signs, ...row, ...word);
  }

  /** Puts a mark where a country is. Tells whether that is known. @param {any[]} marks @param {string | undefined} country @param {number} size @param {object} what */
  put(marks, country, size, what) {
    const at = placeOf(country);
    const point = at && this.projection([at.lon, at.lat]);
    if (!point) return false;
    marks.push({ x: point[0], y: point[1], trueX: point[0], trueY: point[1], size, ...what });
    return true;
  }
}

/** A number from 0 to 1 that is the same each time. @param {number} n */
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

export { flagOf, nameOf };
