// What Home's program says, and what we ask of it. The browser shows a cookie for us.

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Row} Row */

/** Asks for something; an error is for people to read. @param {string} what @param {unknown} [wish] @returns {Promise<any>} */
export async function ask(what, wish = {}) {
  return read(await fetch(`/api/${what}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) }).catch(away));
}

/** Reads a document. @param {string} what @returns {Promise<any>} */
export async function get(what) {
  return read(await fetch(`/api/${what}`, { cache: "no-store" }).catch(away));
}

/** @returns {never} */
function away() {
  throw new Error("Muster does not run any more: start it again");
}

/** @param {Response} reply */
async function read(reply) {
  if (reply.ok) return reply.json();
  const text = await reply.text();
  let said = text;
  try {
    const { message, hint } = JSON.parse(text);
    said = hint ? `${message}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}` : message;
  } catch {
    // a plain line
  }
  throw new Error(said);
}

const soonest = 500;
const latest = 5000;

/**
 * Reads a document, again until the program answers: where the network changes browsers drop
 * what is asked, on one's own computer, too.
 * @param {string} what @param {(trouble: Error) => void} failed @returns {Promise<any>}
 */
export async function insist(what, failed) {
  for (let wait = soonest; ; wait = Math.min(latest, wait * 2)) {
    try {
      return await get(what);
    } catch (error) {
      failed(/** @type {Error} */ (error));
      await new Promise((later) => setTimeout(later, wait));
    }
  }
}

/**
 * Follows the program, and comes back by itself when the connection breaks.
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
      setTimeout(connect, wait);
      wait = Math.min(latest, wait * 2);
    };
  };
  connect();
}
