// Requests to Home's program, and its answers. The browser sends a cookie for us.

import { capital, language, say, told } from "../say.js";
import { setTimer, sleep } from "../time.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("../types.js").Sentence} Sentence */

/** In which language the program answers. */
const headers = { "Accept-Language": language };

/** Sends a request. Errors are worded for people. @param {string} what @param {unknown} [wish] @returns {Promise<any>} */
export async function ask(what, wish = {}) {
  return read(await fetch(`/api/${what}`, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(wish) }).catch(away));
}

/** Reads a document. @param {string} what @returns {Promise<any>} */
export async function get(what) {
  return read(await fetch(`/api/${what}`, { cache: "no-store", headers }).catch(away));
}

/** @returns {never} */
function away() {
  throw new Error(say("home.not-running"));
}

/** @param {Response} reply */
async function read(reply) {
  if (reply.ok) return reply.json();
  const text = await reply.text();
  let message = text;
  try {
    message = sentences(JSON.parse(text).says);
  } catch {
    // a plain line
  }
  throw new Error(message);
}

/** The program's message, sentence by sentence. @param {Sentence[]} all */
export function sentences(all) {
  return all.map((one) => capital(told(one))).join(" ");
}

const soonest = 500;
const latest = 5000;

/**
 * Reads a document, and repeats that until the program answers. When the network changes, browsers
 * drop requests, even to the same computer.
 * @param {string} what @param {(trouble: Error) => void} failed @returns {Promise<any>}
 */
export async function insist(what, failed) {
  for (let wait = soonest; ; wait = Math.min(latest, wait * 2)) {
    try {
      return await get(what);
    } catch (error) {
      failed(/** @type {Error} */ (error));
      await sleep(wait);
    }
  }
}

/**
 * Follows the program's state, and reconnects by itself.
 * @param {(state: State) => void} changed @param {(find: number, rows: Row[]) => void} found @param {(lost: boolean) => void} connected
 */
export function follow(changed, found, connected) {
  let wait = soonest;
  const connect = () => {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.kind === "rows") return found(frame.find, frame.rows);
      wait = soonest;
      connected(false);
      changed(frame);
    };
    socket.onclose = () => {
      connected(true);
      setTimer(connect, wait);
      wait = Math.min(latest, wait * 2);
    };
  };
  connect();
}
