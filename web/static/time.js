// The page's time, for all modules. A test can replace it: the page asks globalThis.musterTime,
// whenever it is set, instead of the browser.
//
// The page never compares its own clock with the host's. Each state says when it was sent, by the
// host's clock. Live notes when the state arrived, by the page's clock. The time left until an
// instant of the host's is the difference by the host's clock, less what has passed on the page's
// clock since then.

/** What a test puts in the place of the browser's time; its timers are those of a window. @typedef {{now: () => number, setTimeout: (call: () => void, ms: number) => number, setInterval: (call: () => void, ms: number) => number, clearTimeout: (timer: number) => void}} Held */

/** @returns {Held | undefined} */
const held = () => /** @type {{musterTime?: Held}} */ (globalThis).musterTime;

/** The time of day, ms since 1970. */
export const wallTime = () => held()?.now() ?? Date.now();

/** A time that nobody sets, ms: only differences mean something. */
export const runTime = () => held()?.now() ?? performance.now();

/** What the computer needs for its work, ms: nobody holds it. */
export const workTime = () => performance.now();

/** Calls after some time, and returns the timer. @param {() => void} call @param {number} ms @returns {number} */
export const setTimer = (call, ms) => held()?.setTimeout(call, ms) ?? Number(setTimeout(call, ms));

/** Calls each time that some time has passed, and returns the timer. @param {() => void} call @param {number} ms @returns {number} */
export const setTicker = (call, ms) => held()?.setInterval(call, ms) ?? Number(setInterval(call, ms));

/** @param {number} timer */
export function clearTimer(timer) {
  held()?.clearTimeout(timer);
  clearTimeout(timer); // it may be older than the hold
}

/** @param {number} ms @returns {Promise<void>} */
export const sleep = (ms) => new Promise((wakes) => setTimer(wakes, ms));

/** Calls after what the browser does now. No time passes. @param {() => void} call */
export const soon = (call) => void setTimeout(call);

/** Calls before the next frame, with a time like runTime's. Frames come while time stands still. @param {(now: number) => void} call */
export const nextFrame = (call) => requestAnimationFrame((at) => call(held()?.now() ?? at));

/** The host's clock now, ms. @param {{now: number, heard: number}} state */
export const hostTime = ({ now, heard }) => now + (wallTime() - heard);

/** How long it is until an instant by the host's clock, ms; negative if that has passed. @param {{now: number, heard: number}} state @param {string | undefined} at */
export const leftUntil = (state, at) => Date.parse(at ?? "") - hostTime(state);
