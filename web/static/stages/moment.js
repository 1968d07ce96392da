// The reveal's choreography as a pure function: what is visible at a time after its beginning.
//
//	0     lights dim
//	400   the server's pin, alone                  a low note
//	800   the world turns to it, until 2200
//	2200  spokes shoot in, the farthest last       a pluck each
//	3000  country and flag                         a chord
//	3400  name
//	3800  pings count up, until 4200

/** When things happen, ms after the reveal began. */
export const moments = { pin: 400, turn: 800, spokes: 2200, place: 3000, name: 3400, pings: 3800, over: 4200 };

/** How long the last frame stays before the session goes on, ms. */
export const rest = 1300;

/** How long a spoke shoots, ms. */
const shot = 260;

/** When each spoke begins, ms, nearest first. @param {number} i @param {number} spokes */
export function spokeAt(i, spokes) {
  return moments.spokes + ((moments.place - shot - moments.spokes) * i) / Math.max(1, spokes - 1);
}

/** @param {number} from @param {number} to @param {number} ms */
const part = (from, to, ms) => Math.min(1, Math.max(0, (ms - from) / (to - from)));

/** Fast at first, and gentle at the end. @param {number} x */
const eased = (x) => 1 - (1 - x) ** 3;

/**
 * What is visible: each value from 0, not yet, to 1, completely.
 * @param {number} ms since it began @param {number} spokes how many
 */
export function seenAt(ms, spokes) {
  return {
    dim: part(0, moments.pin, ms),
    pin: part(moments.pin, moments.turn, ms),
    turn: eased(part(moments.turn, moments.spokes, ms)),
    spokes: Array.from({ length: spokes }, (_, i) => eased(part(spokeAt(i, spokes), spokeAt(i, spokes) + shot, ms))),
    place: eased(part(moments.place, moments.name, ms)),
    name: eased(part(moments.name, moments.pings, ms)),
    pings: part(moments.pings, moments.over, ms),
    over: ms >= moments.over,
  };
}
