// A browser measures the places of a survey: web servers a few at a time, because they share the line's first
// packets; beacons all at once, because each gets a packet a second.

import { clearTimer, runTime, setTimer } from "../time.js";
import { https as byHttps } from "./https.js";
import { ice as byIce } from "./ice.js";

/** A candidate place, of which more is told. @typedef {{name: string, addr: string, protocol: string, url?: string}} Venue */
/** Lost means that it was asked and did not answer, forbidden that this browser does not ask or cannot tell. @typedef {{state: "answered" | "lost" | "forbidden", rtts_ms: number[], sent: number}} Result */

/** How many places are asked: those for everybody, and the group's own computers. */
const most = 32;
const webAtOnce = 6;
const beaconsAtOnce = 24;

/** How long one place is waited for, and all of them, ms. */
const patience = 4000;
const whole = 9000;

/** The samples that a browser takes of a place at most. */
const mostSamples = 10;

/** @returns {Result} */
const forbidden = () => ({ state: "forbidden", rtts_ms: [], sent: 0 });

/**
 * Measures places. It takes ten seconds at most.
 * @param {Venue[]} places
 * @param {{samples?: number, seen?: (index: number, result: Result) => void, signal?: AbortSignal, now?: () => number, storage?: import("./https.js").Kept, isLocal?: boolean, floor?: number, ice?: typeof byIce, https?: typeof byHttps}} [options]
 * seen hears each result as it ends; isLocal and floor are for tests, see https.js
 * @returns {Promise<Result[]>} in the order of the places
 */
export async function measure(places, { samples = 5, seen = () => {}, signal, now, storage, isLocal, floor, ice = byIce, https = byHttps } = {}) {
  const ends = new AbortController();
  const end = () => ends.abort();
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  const timer = setTimer(end, whole);
  const began = runTime();
  const left = () => Math.min(patience, whole - (runTime() - began));
  const n = Math.max(1, Math.min(mostSamples, samples));
  /** @type {Result[]} */
  const results = places.map(forbidden);
  /** @param {number} index @param {() => Promise<Result>} ask */
  const one = async (index, ask) => {
    if (!ends.signal.aborted) results[index] = await ask().catch(forbidden);
    seen(index, results[index]);
  };
  const [web, beacons] = [/** @type {(() => Promise<void>)[]} */ ([]), /** @type {(() => Promise<void>)[]} */ ([])];
  for (const [index, { url, addr, protocol }] of places.entries()) {
    const isAsked = web.length + beacons.length < most;
    if (isAsked && url) web.push(() => one(index, () => https(url, { samples: n, patience: left(), signal: ends.signal, storage, now, isLocal, floor })));
    else if (isAsked && protocol === "beacon") beacons.push(() => one(index, () => ice(addr, { samples: n, patience: left(), signal: ends.signal })));
    else seen(index, results[index]);
  }
  await Promise.all([inTurns(web, webAtOnce), inTurns(beacons, beaconsAtOnce)]);
  clearTimer(timer);
  signal?.removeEventListener("abort", end);
  return results;
}

/** Does all tasks, so many at once. @param {(() => Promise<void>)[]} tasks @param {number} atOnce */
async function inTurns(tasks, atOnce) {
  const waiting = tasks.values();
  const works = async () => {
    for (const task of waiting) await task();
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, tasks.length) }, works));
}
