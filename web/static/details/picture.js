// The plot from the papers: RTT against probe time, a point for each server. uPlot draws the axes.
// There may be a quarter of a million points, so they are written into an image pixel by pixel.

import { css, packed } from "../colours.js";
import { h } from "../dom.js";
import { millis, say } from "../say.js";
import { LOST } from "../trace.js";

/** uPlot is a classic script: vendor/VERSIONS. @type {any} */
const scripts = globalThis;

let isFetched = false;

/** Reports whether plots can be drawn, and loads uPlot when somebody first looks at one. @param {() => void} then is called when it has come */
export function canPlot(then) {
  if ("uPlot" in scripts) return true;
  if (isFetched) return false;
  isFetched = true;
  const from = (/** @type {string} */ name) => new URL(`../vendor/${name}`, import.meta.url).href;
  const script = h("script", { src: from("uPlot.iife.min.js") });
  script.onload = then;
  document.head.append(h("link", { rel: "stylesheet", href: from("uPlot.min.css") }), script);
  return false;
}

/** @typedef {{colour: string, cloud: import("../trace.js").Cloud}} Painted */

/** How much a point hides what is below it. */
const opacity = 0.85;

export class Picture {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Painted[]} */
    this.players = [];
    this.limit = 0;
    this.stops = false;
    this.ratio = 0;
    /** @type {any} */
    this.plot = null;
    this.plot = this.build();
    new ResizeObserver(() => this.resize()).observe(place);
  }

  /** A plot for the screen's resolution: fonts and lines depend on it. */
  build() {
    this.plot?.destroy();
    this.ratio = devicePixelRatio;
    return new scripts.uPlot(this.options(), [[0, 1], [null, null]], this.place);
  }

  options() {
    const ink = () => css("quiet");
    const grid = { stroke: () => css("line"), width: 1 };
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: () => [0, this.lastTime()] }, y: { range: () => [0, this.highest()] } },
      axes: [
        { stroke: ink, grid, ticks: grid, values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map((s) => say("unit.s", { n: s })), font: font(), space: 4 * rem() },
        { stroke: ink, grid, ticks: grid, size: 5 * rem(), values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map(millis), font: font() },
      ],
      series: [{}, { show: false }],
      hooks: { drawAxes: [() => this.paint()] },
    };
  }

  size() {
    const width = Math.max(200, this.place.clientWidth);
    return { width, height: Math.round(Math.min(Math.max(width * 0.42, 220), innerHeight * 0.55)) };
  }

  resize() {
    const size = this.size();
    if (size.width !== this.plot.width || size.height !== this.plot.height) this.plot.setSize(size);
  }

  lastTime() {
    return Math.max(5, ...this.players.map(({ cloud }) => (cloud.length > 0 ? cloud.time[cloud.length - 1] : 0)));
  }

  /** The axis ends where nearly all points are, because a few slow answers tell nothing. */
  highest() {
    return Math.max(400, 2 * this.limit);
  }

  /** @param {Painted[]} players @param {number} limit ms, 0 for none @param {boolean} stops the plan has an auto-stop */
  draw(players, limit, stops) {
    this.players = players;
    this.limit = limit;
    this.stops = stops;
    if (this.ratio !== devicePixelRatio) this.plot = this.build();
    this.plot.setData(this.plot.data);
  }

  paint() {
    const { left, top, width, height } = this.plot.bbox;
    if (width < 1 || height < 1) return;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const frame = { width, height, dot: Math.max(2, Math.round(1.5 * devicePixelRatio)), perSecond: width / this.lastTime(), perMilli: height / this.highest() };
    for (const { colour, cloud } of this.players) points(pixels, frame, cloud, packed(colour, opacity));
    const layer = new OffscreenCanvas(width, height);
    layer.getContext("2d")?.putImageData(image, 0, 0);
    const context = this.plot.ctx;
    context.drawImage(layer, left, top);
    this.lines(context);
  }

  /** The limit, and each player's auto-stop line. @param {CanvasRenderingContext2D} context */
  lines(context) {
    const x = (/** @type {number} */ s) => this.plot.valToPos(s, "x", true);
    const y = (/** @type {number} */ ms) => this.plot.valToPos(Math.min(ms, this.highest()), "y", true);
    const { left, width } = this.plot.bbox;
    context.save();
    context.lineWidth = 2 * devicePixelRatio;
    if (this.limit > 0) {
      context.setLineDash([8, 6]);
      context.strokeStyle = css("text");
      stroke(context, [[left, y(this.limit)], [left + width, y(this.limit)]]);
      context.setLineDash([]);
    }
    for (const { colour, cloud } of this.stops ? this.players : []) {
      context.strokeStyle = css("card");
      context.lineWidth = 5 * devicePixelRatio;
      const path = cloud.line.map(({ time, rtt }) => [x(time), y(rtt)]);
      stroke(context, path);
      context.strokeStyle = colour;
      context.lineWidth = 2.5 * devicePixelRatio;
      stroke(context, path);
    }
    context.restore();
  }
}

/** @param {CanvasRenderingContext2D} context @param {number[][]} path */
function stroke(context, path) {
  context.beginPath();
  for (const [x, y] of path) context.lineTo(x, y);
  context.stroke();
}

/** The page's rem in px: axes scale with the screen, like the text. */
export function rem() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize);
}

export function font() {
  return `${0.75 * rem()}px system-ui, sans-serif`;
}

/**
 * Writes a cloud's points: full squares for probes in order, hollow ones for calibration, larger
 * ones for refining.
 * @param {Uint32Array} pixels
 * @param {{width: number, height: number, dot: number, perSecond: number, perMilli: number}} frame
 * @param {import("../trace.js").Cloud} cloud @param {number} colour
 */
function points(pixels, frame, cloud, colour) {
  const { width, height, perSecond, perMilli } = frame;
  for (let i = 0; i < cloud.length; i++) {
    const rtt = cloud.rtt[i];
    if (rtt === LOST) continue;
    const phase = cloud.phase[i];
    const side = phase === 0 ? frame.dot : 2 * frame.dot + 1;
    const x = Math.min(width - side, Math.floor(cloud.time[i] * perSecond));
    const y = Math.max(0, height - side - Math.floor(rtt * perMilli));
    for (let dy = 0; dy < side; dy++) {
      for (let dx = 0; dx < side; dx++) {
        const edge = dx === 0 || dy === 0 || dx === side - 1 || dy === side - 1;
        if (phase !== 1 || edge) pixels[(y + dy) * width + x + dx] = colour;
      }
    }
  }
}
