// A server's address as people paste it.

import { say } from "../say.js";

/**
 * An address with its port: IP:PORT, or an IP alone where the game's port is known. What else people copy
 * with it goes: blanks, a scheme, a path. It throws an error for people.
 * @param {string} text @param {number} [port]
 */
export function addressOf(text, port) {
  const plain = text.trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/\/.*$/, "");
  const [, six, four, said] = /^(?:\[([\da-f:.]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::(\d{1,5}))?$/i.exec(/^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i.test(plain) ? `[${plain}]` : plain) ?? [];
  const at = Number(said ?? port ?? 0);
  if (!six && !four) throw new Error(say("place.no-address"));
  if (at < 1 || at > 65535) throw new Error(say("place.no-port"));
  return `${six ? `[${six}]` : four}:${at}`;
}
