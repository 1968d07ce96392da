// Where the words beside signs stand: a pure function. They cover no sign, no spoke and no other
// words, and stay within the picture.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{width: number, height: number}} Words px */
/** @typedef {{x: number, y: number, anchor: "start" | "middle" | "end"}} Place the edge or the middle of the words, and the middle of their height, px */
/** @typedef {import("./lay.js").Box} Box */

/** The distance of words from their sign's middle, in its sizes. */
const beside = 0.7;
/** How much worse each of these is than a place on the sign's inner side. */
const worse = { beyond: 60, sign: 12, words: 10, spoke: 5 };
/** Words that are worse than this are left out, if something else says the same. */
const bad = 4;

/** The sides of a sign: right, left, below, above, and the corners. @type {[across: number, down: number][]} */
const sides = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]];

/**
 * A place for each sign's words, or none where there is no room.
 * @param {Point} server @param {Point[]} signs @param {number} size of signs @param {Words[]} words @param {Box} room @param {{taken?: Box[], whole?: boolean, from?: Point[]}} [more] what else is there, whether words may not be left out, and where each sign's line begins, if not at the server
 * @returns {(Place | null)[]}
 */
export function labelled(server, signs, size, words, room, { taken = [], whole = false, from = signs.map(() => server) } = {}) {
  const gap = size * beside;
  /** @type {{place: Place, box: Box, cost: number}[][]} */
  const choices = signs.map((sign, i) => sides.map(([across, down]) => {
    const { place, box } = standing(sign, words[i], across, down, gap, size);
    return { place, box, cost: settled(box, across, down, i, server, signs, from, size, room, taken) };
  }));
  let chosen = choices.map((all) => all.reduce((best, one) => (one.cost < best.cost ? one : best)));
  const around = (/** @type {number} */ i, /** @type {Box} */ box, /** @type {typeof chosen} */ now) => now.reduce((sum, other, j) => sum + (j === i ? 0 : worse.words * overlap(box, other.box)), 0);
  for (let round = 0; round < 4; round++) { // each finds a better side beside the others
    chosen.forEach((_, i) => {
      chosen[i] = choices[i].reduce((best, one) => (one.cost + around(i, one.box, chosen) < best.cost + around(i, best.box, chosen) - 1e-6 ? one : best));
    });
  }
  /** @type {(Place | null)[]} */
  const places = chosen.map(({ place }) => place);
  if (whole) return places;
  let left = chosen.map((one, i) => ({ ...one, i }));
  for (;;) { // the worst goes first, because others may be good without it
    const costs = left.map((one) => one.cost + left.reduce((sum, other) => sum + (other.i === one.i ? 0 : worse.words * overlap(one.box, other.box)), 0));
    const most = Math.max(...costs, 0);
    if (most <= bad) return places;
    const { i } = left[costs.indexOf(most)];
    places[i] = null;
    left = left.filter((one) => one.i !== i);
  }
}

/** Words on a side of their sign. @param {Point} sign @param {Words} words @param {number} across @param {number} down @param {number} gap @param {number} size @returns {{place: Place, box: Box}} */
function standing(sign, { width, height }, across, down, gap, size) {
  const isCorner = across !== 0 && down !== 0;
  const y = sign.y + down * (isCorner ? size * 0.3 + height / 2 : size * 0.6 + height / 2);
  const x = sign.x + across * (isCorner ? size * 0.42 : gap);
  const left = across === 0 ? x - width / 2 : across > 0 ? x : x - width;
  return { place: { x, y, anchor: across === 0 ? "middle" : across > 0 ? "start" : "end" }, box: { left, right: left + width, top: y - height / 2, bottom: y + height / 2 } };
}

/** How bad a place is, apart from other words. @param {Box} box @param {number} across @param {number} down @param {number} own @param {Point} server @param {Point[]} signs @param {Point[]} from @param {number} size @param {Box} room @param {Box[]} taken */
function settled(box, across, down, own, server, signs, from, size, room, taken) {
  const area = Math.max(1, (box.right - box.left) * (box.bottom - box.top));
  const inside = Math.max(0, Math.min(box.right, room.right) - Math.max(box.left, room.left)) * Math.max(0, Math.min(box.bottom, room.bottom) - Math.max(box.top, room.top));
  let cost = worse.beyond * (1 - inside / area);
  signs.forEach((sign, i) => {
    const half = size * 0.56;
    if (i !== own) cost += worse.sign * overlap(box, { left: sign.x - half, right: sign.x + half, top: sign.y - half, bottom: sign.y + half });
    cost += worse.spoke * crossing(box, from[i], sign, size * 0.12) * (i === own ? 0.6 : 1);
  });
  const core = size * 0.75;
  for (const other of [...taken, { left: server.x - core, right: server.x + core, top: server.y - core, bottom: server.y + core }]) cost += worse.sign * overlap(box, other);
  const [dx, dy] = [signs[own].x - server.x, signs[own].y - server.y];
  const outward = (across * dx + down * dy) / (Math.hypot(dx, dy) || 1) / Math.hypot(across, down);
  return cost + 0.5 * (1 - outward) + (down === 0 ? 0 : across === 0 ? 0.25 : 0.4); // beside reads best
}

/** The share of a box that another covers, from 0 to 1, and somewhat more than nothing for a touch. @param {Box} a @param {Box} b */
export function overlap(a, b) {
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (across <= 0 || down <= 0) return 0;
  return 0.4 + (across * down) / Math.max(1, Math.min((a.right - a.left) * (a.bottom - a.top), (b.right - b.left) * (b.bottom - b.top)));
}

/** The share of a box's width and height that a line crosses, from 0 to 1. @param {Box} box @param {Point} from @param {Point} to @param {number} wide */
function crossing(box, from, to, wide) {
  const [left, right, top, bottom] = [box.left - wide, box.right + wide, box.top - wide, box.bottom + wide];
  let [begin, end] = [0, 1];
  for (const [at, by, low, high] of [[from.x, to.x - from.x, left, right], [from.y, to.y - from.y, top, bottom]]) {
    if (Math.abs(by) < 1e-9) {
      if (at < low || at > high) return 0;
      continue;
    }
    const [a, b] = [(low - at) / by, (high - at) / by];
    begin = Math.max(begin, Math.min(a, b));
    end = Math.min(end, Math.max(a, b));
  }
  if (end <= begin) return 0;
  return Math.min(1, 0.3 + ((end - begin) * Math.hypot(to.x - from.x, to.y - from.y)) / Math.max(1, right - left));
}
