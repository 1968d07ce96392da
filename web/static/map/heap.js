// The ping line as a pure function: signs on one scale at their pings, heaped upwards where they
// would touch.

/** Ticks are this far apart, ms, and there are at most so many spaces between them. */
const steps = [5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000];
const spaces = 4;

/** The ticks of a scale for pings up to the longest, ms. @param {number} longest */
export function ticksFor(longest) {
  const step = steps.find((one) => one * spaces >= longest) ?? Math.ceil(longest / spaces / 1000) * 1000;
  return Array.from({ length: Math.max(1, Math.ceil(longest / step)) + 1 }, (_, i) => i * step);
}

/**
 * The place of each ping on a line: x from its beginning, and how many signs are below it. The order
 * of the pings does not matter: the nearer one is lower.
 * @param {number[]} pings ms @param {number} most the end of the line, ms @param {number} width of the line @param {number} size of signs, in the same unit
 */
export function heaped(pings, most, width, size) {
  const all = pings.map((ms, i) => ({ i, x: (width * Math.min(most, Math.max(0, ms))) / Math.max(1, most), level: 0 })).sort((a, b) => a.x - b.x || a.i - b.i);
  for (const [nth, one] of all.entries()) {
    const near = new Set(all.slice(0, nth).filter((other) => one.x - other.x < size).map(({ level }) => level));
    while (near.has(one.level)) one.level++;
  }
  return all.toSorted((a, b) => a.i - b.i).map(({ x, level }) => ({ x, level }));
}
