// How a wait for seats stands. The page's head says it, too, before the stage itself has loaded.

import { say } from "../say.js";

/** @typedef {import("../types.js").Seats} Seats */
/** @typedef {import("../types.js").SeatsOn} SeatsOn */

/** How the wait stands, in a few words. @param {Seats} wait */
export function headline(wait) {
  if (wait.launch_at) return say("seats.off", { n: wait.need });
  const first = nearest(wait);
  if (!first || first.free < 0) return wait.for?.length ? say("seats.waiting-for", { n: wait.need, players: wait.for }) : say("seats.waiting", { n: wait.need });
  const free = Math.min(first.free, wait.need);
  return say("seats.free-of", { free, n: wait.need });
}

/** The watched server that comes closest; of equals the first. @param {Seats} wait @returns {SeatsOn | undefined} */
export function nearest(wait) {
  const live = wait.servers.filter((one) => !one.dropped);
  return live.find((one) => one.addr === wait.target) ?? live.reduce((/** @type {SeatsOn | undefined} */ best, one) => (best && best.free >= one.free ? best : one), undefined);
}
