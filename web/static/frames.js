// Long work in short steps, so that the page stays responsive. All such work shares one budget. Two
// tasks at a time take longer, but no frame does.

import { nextFrame, workTime } from "./time.js";

/** The time that a frame spends on such work before it leaves the rest to the next one, ms. */
const budget = 4;

/** What is at work, in turn. @type {{work: Iterator<unknown>, isWanted: () => boolean}[]} */
const queue = [];

/**
 * Works in frames of its own. A frame does at least one step.
 * @param {Iterator<unknown>} work a generator that yields after each step
 * @param {() => boolean} isWanted is asked before each step: what is no longer wanted ends
 */
export function inFrames(work, isWanted) {
  queue.push({ work, isWanted });
  if (queue.length === 1) nextFrame(frame);
}

function frame() {
  const ends = workTime() + budget;
  do {
    const [next] = queue;
    try {
      if (next.isWanted() && !next.work.next().done) queue.push(next);
    } catch (error) {
      reportError(error); // the others go on
    }
    queue.shift(); // only now: what a step adds finds the frame asked for
  } while (queue.length > 0 && workTime() < ends);
  if (queue.length > 0) nextFrame(frame);
}
