// The distribution of each player's RTTs, with the chosen server marked (MUSST,
// Figure 4).

import { css } from "../colours.js";
import { millis, say } from "../say.js";
import { font, rem } from "./picture.js";

/** @type {any} */
const scripts = globalThis;

const longest = 400;

/** @typedef {{name: string, colour: string, rtts: Float32Array, chosen?: number}} Line */

export class Spread {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Line[]} */
    this.lines = [];
    this.plot = null;
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(place);
  }

  size() {
    const width = Math.max(200, this.place.clientWidth);
    return { width, height: Math.round(Math.max(200, width * 0.4)) };
  }

  /** @param {Line[]} lines */
  draw(lines) {
    this.lines = lines;
    this.plot?.destroy();
    const x = Array.from({ length: longest + 1 }, (_, ms) => ms);
    const ys = lines.map(({ rtts }) => x.map((ms) => (rtts.length > 0 ? (100 * upTo(rtts, ms)) / rtts.length : null)));
    this.plot = new scripts.uPlot(this.options(), [x, ...ys], this.place);
  }

  options() {
    const grid = { stroke: css("line"), width: 1 };
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: [0, 100] } },
      axes: [
        { stroke: css("quiet"), grid, ticks: grid, font: font(), space: 4 * rem(), values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map(millis) },
        { stroke: css("quiet"), grid, ticks: grid, font: font(), space: 4 * rem(), size: 5 * rem(), values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map((share) => say("unit.percent", { n: share })) },
      ],
      series: [{}, ...this.lines.map(({ colour }) => ({ stroke: colour, width: 2.5, points: { show: false } }))],
      hooks: { draw: [(/** @type {any} */ plot) => this.mark(plot)] },
    };
  }

  /** Marks each player's RTT to the chosen server. @param {any} plot */
  mark(plot) {
    for (const { colour, rtts, chosen } of this.lines) {
      if (chosen === undefined) continue;
      const x = plot.valToPos(Math.min(chosen, longest), "x", true);
      const y = plot.valToPos((100 * upTo(rtts, chosen)) / Math.max(1, rtts.length), "y", true);
      plot.ctx.beginPath();
      plot.ctx.arc(x, y, 6 * devicePixelRatio, 0, 2 * Math.PI);
      plot.ctx.fillStyle = css("card");
      plot.ctx.fill();
      plot.ctx.lineWidth = 3 * devicePixelRatio;
      plot.ctx.strokeStyle = colour;
      plot.ctx.stroke();
    }
  }
}

/** How many of the ascending RTTs are at most ms. @param {Float32Array} rtts @param {number} ms */
function upTo(rtts, ms) {
  let low = 0;
  let high = rtts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rtts[middle] <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
