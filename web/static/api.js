// Who we are in the room, and our requests to it.

import { say, told } from "./say.js";
import { sleep } from "./time.js";

// The link's fragment: CODE, then _ and the room's link key unless somebody typed the code. It may
// continue with ~ and the host's fingerprint, which muster join needs. A personal link ends with a
// dot and its owner's credential.
const [room = "", secret = ""] = decoded(location.hash.slice(1)).split(".", 2);
const [named] = room.split("~", 1);
const [code, linkKey = ""] = named.split("_", 2);

/** The decoded fragment; a truncated escape belongs to no room. @param {string} fragment */
function decoded(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return "";
  }
}

/** The room's code and its link key, from the link. */
export const roomCode = code;
export { linkKey };

const key = `muster ${code.toUpperCase().replaceAll("-", "")}`;

/**
 * What this browser remembers about us. Only this tab keeps the end of a personal link, which is
 * all that an organiser has. was is the previous token after the room has forgotten it: with it,
 * the servers that we brought are ours again.
 * @returns {{token?: string, was?: string, secret?: string, name?: string}}
 */
function remembered() {
  try {
    const { secret: _, ...known } = JSON.parse(localStorage.getItem(key) ?? "{}");
    return { ...known, secret: sessionStorage.getItem(key) ?? undefined };
  } catch {
    return {}; // no storage, or it is not ours
  }
}

let me = remembered();

/** Calls changed when another tab of this browser takes or drops a nickname. @param {() => void} changed */
export function onOtherTab(changed) {
  addEventListener("storage", (event) => {
    if (event.key !== key) return;
    me = remembered();
    changed();
  });
}

if (secret) {
  // Other people may see this window: the address must not contain the secret of the link.
  remember({ secret });
  history.replaceState(null, "", `#${room}`);
}

/** @param {Partial<typeof me>} news */
function remember(news) {
  Object.assign(me, news);
  try {
    const { secret: mine, ...known } = me;
    localStorage.setItem(key, JSON.stringify(known));
    if (mine) sessionStorage.setItem(key, mine);
    else sessionStorage.removeItem(key);
  } catch {
    // A private window remembers us until it closes.
  }
}

/** The credential for the host: the nickname's token or, without one, the end of the link. */
export function credential() {
  return me.token ?? me.secret ?? "";
}

/** A stranger's own credential, which nobody knows yet: the program that this page gives away makes it a player's. */
const passKey = `${key} pass`;
const pass = passOf();

function passOf() {
  try {
    const kept = sessionStorage.getItem(passKey);
    if (kept) return kept;
  } catch {
    // a private window has one until it loads again
  }
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const made = [...crypto.getRandomValues(new Uint8Array(26))].map((byte) => letters[byte % 32]).join("");
  try {
    sessionStorage.setItem(passKey, made);
  } catch {
    // see the catch above
  }
  return made;
}

/** What the page shows on its stream: a credential, or a stranger's own. */
export function passOrCredential() {
  return credential() || pass;
}

/** Becomes the page of the player whose program came by this page. */
export async function becomePlayer() {
  const { name: known, token } = await ask("enter", { secret: pass }, pass);
  remember({ name: known, token, was: undefined });
}

/** The last nickname, in this or another room. */
export function lastName() {
  return me.name ?? "";
}

/** Forgets a credential that the room does not know any more, and returns it. */
export function forget() {
  const what = me.token ? "token" : "secret";
  remember(what === "token" ? { token: undefined, was: me.token } : { secret: undefined });
  return what;
}

/** The headers of a request: the caller's credential, and that a link opened the page. */
export function shown(as = credential()) {
  return { Authorization: `Bearer ${as}`, "Muster-Code": code, "Muster-Key": linkKey };
}

/** How often a request is repeated when the host is busy. */
const patience = 3;

/**
 * Fetches from the room. If the host is busy, waits as long as the host says.
 * @param {string} what @param {RequestInit} options
 */
export async function fetched(what, options) {
  for (let tries = 0; ; tries++) {
    const reply = await fetch(`/api/rooms/-/${what}`, options); // proxies must not log the code
    const isPassing = reply.status === 429 || reply.status === 503; // too many requests, or the room has no host at the moment
    if (!isPassing || tries === patience) return reply;
    await sleep(1000 * Number(reply.headers.get("Retry-After") ?? 1));
  }
}

/**
 * Why the host refuses, and what people can do about it. Requests without a sentence have only
 * English texts.
 * @param {{says?: import("./types.js").Sentence, advises?: import("./types.js").Sentence, message?: string, hint?: string}} refusal
 */
export function refused({ says, advises, message = "", hint = "" }) {
  return [told(says) || message, told(advises) || hint].filter(Boolean);
}

/** @param {Response} reply @param {Parameters<typeof refused>[0]} refusal */
export function failure(reply, refusal = {}) {
  const [why] = refused({ ...refusal, advises: undefined, hint: "" });
  return new Error(why ?? say("page.status", { status: String(reply.status) }));
}

/**
 * Sends the room a request. Errors are worded for people.
 * @param {string} action @param {object} [order]
 * @returns {Promise<any>}
 */
export async function ask(action, order = {}, as = credential()) {
  const reply = await fetched(action, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...shown(as) },
    body: JSON.stringify(order),
  }).catch(() => {
    throw new Error(say("page.no-answer"));
  });
  if (reply.status === 204) return null;
  const document = await reply.json().catch(() => ({}));
  if (!reply.ok) throw failure(reply, document);
  return document;
}

/** Takes a nickname. @param {string} name */
export async function enter(name) {
  const { name: known, token } = await ask("enter", { name, was: me.was }, me.secret ?? "");
  remember({ name: known, token, was: undefined });
}

/** Gives the nickname that this browser already has to the owner of the link. */
export async function claim() {
  if (!secret || !me.token) return;
  const { name: known, token } = await ask("enter", { secret });
  remember({ name: known, token });
}

/** Leaves the room, and forgets who we were. An organiser only stops playing. */
export async function leave(stays = false) {
  await ask("leave");
  if (!stays) remember({ token: undefined, secret: undefined });
}

/** Replaces the organiser's link. */
export async function renew() {
  remember(await ask("renew"));
}

/** The QR code of the room's link, as a URL of this page. */
export async function qrCode() {
  const reply = await fetched("qr.svg", { cache: "no-store", headers: shown() });
  return reply.ok ? URL.createObjectURL(await reply.blob()) : "";
}

/** The history of a standing room. @param {string} format json or csv */
export async function evenings(format) {
  const reply = await fetched(`evenings?format=${format}`, { cache: "no-store", headers: shown() });
  if (!reply.ok) throw failure(reply, await reply.json().catch(() => ({})));
  return reply;
}

/** The servers that were left out for a cause. @param {string} cause */
export async function culled(cause) {
  const reply = await fetched(`culled/${cause}`, { cache: "no-store", headers: shown() });
  if (!reply.ok) throw failure(reply);
  return reply.json();
}
