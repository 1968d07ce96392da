// Time that a test holds: what page/held.js leaves to a browser. Nothing happens until the test lets time
// pass, or what has begun settle.

import "../page/held.js";

const { musterTime } = globalThis;

/** @type {(() => void)[]} */
let frames = [];

Object.assign(globalThis, {
  requestAnimationFrame: (run) => frames.push(run),
  setTimeout: setImmediate, // only what comes soon asks for it; it settles, and a millisecond each time would add up
});
performance.now = () => 1; // a frame does its work whole, on a slow machine too

/** Lets promises settle, and draws one frame if somebody asked for it: what moves asks for frames without an end. */
export async function settles() {
  await new Promise((done) => setImmediate(done));
  const due = frames;
  frames = [];
  for (const run of due) run();
  await new Promise((done) => setImmediate(done));
}

/** Lets time pass: each timer runs in its turn, with a frame behind it. @param {number} ms */
export async function passes(ms) {
  const end = musterTime.now() + ms;
  do await settles();
  while (musterTime.step(end));
  await settles();
}
