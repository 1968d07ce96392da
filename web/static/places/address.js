// A server's address as people paste it.

import { say } from "../say.js";

/** A name of the domain name system; figures and dots alone are an unfinished IP address. */
const name = /^(?=.*[a-z_])(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+[a-z0-9_][a-z0-9_-]{0,62}$/i;
const four = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const six = /^[\da-f:]*:[\da-f:]*:[\da-f.:]*$/i;

/**
 * An address with its port: that of an IP or a name, where the port may be left out if the game's is known.
 * What else people copy with it goes: blanks, a scheme, a path. It throws an error for people.
 * @param {string} text @param {number} [port]
 */
export function addressOf(text, port) {
  const plain = text.trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/\/.*$/, "");
  const [, held, open, told] = six.test(plain) ? ["", plain] : (/^(?:\[(.*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(plain) ?? []);
  const at = Number(told ?? port ?? 0);
  if (held ? !six.test(held) : !open || !(four.test(open) || name.test(open))) throw new Error(say("place.no-address"));
  if (!(at >= 1 && at <= 65535)) throw new Error(say("place.no-port"));
  return `${held ? `[${held}]` : open}:${at}`;
}
