// Where the signs around a server stand, as pure functions. A picture has the server somewhere,
// and every player in their direction. Places are on the globe that is turned to the
// server.
//
//	ways ─▶ turned: no two spokes on each other ─▶ distanced: no sign on another ─▶ fitted: into the room

import { far } from "./projection.js";

/** @typedef {import("./projection.js").Way} Way */
/** @typedef {{x: number, y: number, r: number, turn: number}} Stand a sign, relative to the server, px; r and turn are the same as polar coordinates, clockwise from above */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box px */

/** The least angle between two spokes. */
const between = (16 * Math.PI) / 180;
/** How far from the server a sign stands at least, how far from another sign, and how far from another's spoke, in its sizes. */
const near = 1.9;
const apart = 1.16;
const clear = 0.62;
/** The least distance that the picture shows: nearer players do not enlarge it further, radians. */
const leastReach = 0.35;
/** The least share of their size to which signs shrink where there is no room. */
const smallest = 0.45;

/** How far away light in fibre is after half a round trip, radians. @param {number} ms */
export const lightReach = (ms) => (ms * 100) / 6371;

/** How much longer than straight lines the ways of packets are, usually. */
const detour = 1.8;
/** The farthest that somebody may be, radians. */
const farthest = 2.4;

/** The way to a player whose place nobody knows: as far as their ping usually means. @param {number} ms @returns {Way} */
export const someWay = (ms) => ({ angle: Math.min(farthest, lightReach(ms) / detour) });

/**
 * The direction of each spoke. Those without one of their own go where there is most room, and those
 * that are too near each other move apart, in their order.
 * @param {Way[]} ways @param {number} [least] radians between two
 */
export function turned(ways, least = between) {
  const full = 2 * Math.PI;
  const gap = Math.min(least, (0.96 * full) / Math.max(1, ways.length));
  const known = ways.flatMap(({ bearing }, i) => (bearing === undefined ? [] : [{ i, turn: (bearing + full) % full }]));
  const unknown = ways.flatMap(({ bearing }, i) => (bearing === undefined ? [i] : []));
  if (known.length === 0) known.push(...unknown.splice(0).map((i, nth, all) => ({ i, turn: (full * (nth + 0.6)) / all.length })));
  const order = () => known.sort((a, b) => a.turn - b.turn || a.i - b.i);
  for (const i of unknown) {
    const rooms = order().map(({ turn }, nth) => ({ turn, room: nth + 1 < known.length ? known[nth + 1].turn - turn : known[0].turn + full - turn }));
    const widest = rooms.reduce((best, one) => (one.room > best.room + 1e-9 ? one : best));
    known.push({ i, turn: (widest.turn + widest.room / 2) % full });
  }
  order();
  for (let round = 0; round < 400 && known.length > 1; round++) {
    let moved = false;
    for (const [nth, one] of known.entries()) {
      const isLast = nth + 1 === known.length;
      const next = isLast ? known[0] : known[nth + 1];
      const lacks = gap - (next.turn + (isLast ? full : 0) - one.turn);
      if (lacks < 1e-4) continue;
      one.turn -= lacks / 2;
      next.turn += lacks / 2;
      moved = true;
    }
    if (!moved) break;
  }
  const turns = new Array(ways.length).fill(0);
  for (const { i, turn } of known) turns[i] = turn;
  return turns;
}

/**
 * Where signs stand at a scale: on the map if there is room, and otherwise farther out on their
 * spokes, so that no sign is on another or on another's spoke.
 * @param {Way[]} ways @param {number[]} turns @param {number} scale px @param {number} size of signs, px @param {number} [least] distance from the server, px
 * @returns {Stand[]}
 */
function distanced(ways, turns, scale, size, least = near * size) {
  const order = turns.map((_, i) => i).sort((a, b) => turns[a] - turns[b]);
  const all = ways.map(({ angle }, i) => ({ i, turn: turns[i], r: Math.max(least, scale * far(angle)) }));
  for (const [nth, i] of order.entries()) {
    const next = order[(nth + 1) % order.length];
    const open = Math.abs(Math.sin(turns[next] - turns[i]));
    if (next === i || Math.cos(turns[next] - turns[i]) < 0) continue;
    for (const one of [all[i], all[next]]) one.r = Math.max(one.r, (clear * size) / Math.max(open, 0.1));
  }
  all.sort((a, b) => a.r - b.r || a.i - b.i);
  for (const [nth, one] of all.entries()) {
    for (let again = 0; again < all.length; again++) {
      const blocked = all.slice(0, nth).find((other) => distance(one, other) < apart * size - 0.01);
      if (!blocked) break;
      const open = one.turn - blocked.turn;
      one.r = blocked.r * Math.cos(open) + Math.sqrt(Math.max(0, (apart * size) ** 2 - (blocked.r * Math.sin(open)) ** 2));
    }
  }
  return all.toSorted((a, b) => a.i - b.i).map(({ turn, r }) => ({ turn, r, x: r * Math.sin(turn), y: -r * Math.cos(turn) }));
}

/** @param {{turn: number, r: number}} a @param {{turn: number, r: number}} b */
const distance = (a, b) => Math.hypot(a.r * Math.sin(a.turn) - b.r * Math.sin(b.turn), a.r * Math.cos(a.turn) - b.r * Math.cos(b.turn));

/** The box around the server and all signs. @param {Stand[]} stands @param {number} size @returns {Box} */
function boxOf(stands, size) {
  const [xs, ys] = [[0, ...stands.map(({ x }) => x)], [0, ...stands.map(({ y }) => y)]];
  return { left: Math.min(...xs) - size / 2, right: Math.max(...xs) + size / 2, top: Math.min(...ys) - size / 2, bottom: Math.max(...ys) + size / 2 };
}

/**
 * The whole picture: the map's scale, the server's position, and the signs', as large as the room
 * allows. It fits the box of the signs, so the server may stand off the middle.
 * @param {Way[]} ways @param {Box} room where signs may be @param {number} size of signs, px @param {{between?: number, least?: number}} [more] the least angle between two spokes, and distance from the server in sizes
 */
export function fitted(ways, room, size, more = {}) {
  const turns = turned(ways, more.between);
  const [width, height] = [room.right - room.left, room.bottom - room.top];
  const closest = Math.min(width, height) / 2 / far(leastReach);
  for (let share = 1; ; share -= 0.05) {
    const signs = size * share;
    const at = (/** @type {number} */ scale) => {
      const stands = distanced(ways, turns, scale, signs, (more.least ?? near) * signs);
      const box = boxOf(stands, signs);
      return { stands, box, fits: box.right - box.left <= width && box.bottom - box.top <= height };
    };
    let [low, high] = [0, closest];
    if (!at(1).fits && share > smallest) continue;
    for (let step = 0; step < 24; step++) {
      const middle = (low + high) / 2;
      if (at(middle).fits) low = middle;
      else high = middle;
    }
    const scale = at(closest).fits ? closest : Math.max(1, low);
    const { stands, box } = at(scale);
    return { scale, size: signs, x: (room.left + room.right - box.left - box.right) / 2, y: (room.top + room.bottom - box.top - box.bottom) / 2, stands };
  }
}
