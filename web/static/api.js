// Who we are in the room, and what we ask of it.

// The link's fragment: CODE, _ and the room's link key unless somebody typed the code,
// perhaps ~ and the host's fingerprint, which is for muster join, and in a personal
// link a dot and its owner's credential.
const [room = "", secret = ""] = decoded(location.hash.slice(1)).split(".", 2);
const [named] = room.split("~", 1);
const [code, linkKey = ""] = named.split("_", 2);

/** A fragment as it was meant; one that is cut off in a code is of no room. @param {string} fragment */
function decoded(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return "";
  }
}

/** The room's code and its link key, as the link says them. */
export const roomCode = code;
export { linkKey };

const key = `muster ${code.toUpperCase().replaceAll("-", "")}`;

/**
 * What this browser knows of us. The end of a personal link, which is all that an
 * organiser has, is kept by this tab alone, and goes with it.
 * Was is the token of before, if the room knows it no more: what we brought into the room
 * is ours again by it.
 * @returns {{token?: string, was?: string, secret?: string, name?: string}}
 */
function remembered() {
  try {
    const { secret: _, ...known } = JSON.parse(localStorage.getItem(key) ?? "{}");
    return { ...known, secret: sessionStorage.getItem(key) ?? undefined };
  } catch {
    return {}; // no storage, or not ours
  }
}

let me = remembered();

/** Calls when another tab of this browser has become somebody, or nobody. @param {() => void} changed */
export function onOtherTab(changed) {
  addEventListener("storage", (event) => {
    if (event.key !== key) return;
    me = remembered();
    changed();
  });
}

if (secret) {
  // What makes it a personal link must not stand in a window that others look at.
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
    // a private window: we are known until it closes
  }
}

/** What to show the host: the nickname's token or, without one, the end of the link. */
export function credential() {
  return me.token ?? me.secret ?? "";
}

/** The nickname of the last time, here or in another room. */
export function lastName() {
  return me.name ?? "";
}

/** Forgets what the room does not know, or knows no more, and says what that was. */
export function forget() {
  const what = me.token ? "token" : "secret";
  remember(what === "token" ? { token: undefined, was: me.token } : { secret: undefined });
  return what;
}

/** What a request shows: who asks, and that the page was opened by a link. */
export function shown(as = credential()) {
  return { Authorization: `Bearer ${as}`, "Muster-Code": code, "Muster-Key": linkKey };
}

/** How often we ask again when too much was asked at once. */
const patience = 3;

/**
 * Fetches from the room, and waits as long as the host says when it is busy.
 * @param {string} what @param {RequestInit} options
 */
async function fetched(what, options) {
  for (let tries = 0; ; tries++) {
    const reply = await fetch(`/api/rooms/-/${what}`, options); // the code is for no proxy's log
    const isPassing = reply.status === 429 || reply.status === 503; // too much was asked, or the room has no host just now
    if (!isPassing || tries === patience) return reply;
    await new Promise((later) => setTimeout(later, 1000 * Number(reply.headers.get("Retry-After") ?? 1)));
  }
}

/**
 * Asks the room for something; its answer's error is for people to read.
 * @param {string} action @param {object} [order]
 * @returns {Promise<any>}
 */
export async function ask(action, order = {}, as = credential()) {
  const reply = await fetched(action, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...shown(as) },
    body: JSON.stringify(order),
  }).catch(() => {
    throw new Error("the host does not answer; the page comes back by itself");
  });
  if (reply.status === 204) return null;
  const document = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(document.message ?? `the host says ${reply.status}`);
  return document;
}

/** Takes a nickname. @param {string} name */
export async function enter(name) {
  const { name: known, token } = await ask("enter", { name, was: me.was }, me.secret ?? "");
  remember({ name: known, token, was: undefined });
}

/** Makes who has a nickname already the person whose link this is. */
export async function claim() {
  if (!secret || !me.token) return;
  const { name: known, token } = await ask("enter", { secret });
  remember({ name: known, token });
}

/** Leaves the room, and forgets who one was. An organiser only stops playing. */
export async function leave(stays = false) {
  await ask("leave");
  if (!stays) remember({ token: undefined, secret: undefined });
}

/** Makes the organiser's link a new one. */
export async function renew() {
  remember(await ask("renew"));
}

/** The picture of the room's link for phones, as a URL of this page's. */
export async function qrCode() {
  const reply = await fetched("qr.svg", { cache: "no-store", headers: shown() });
  return reply.ok ? URL.createObjectURL(await reply.blob()) : "";
}

/** The history of a room that stays. @param {string} format json or csv */
export async function evenings(format) {
  const reply = await fetched(`evenings?format=${format}`, { cache: "no-store", headers: shown() });
  if (!reply.ok) throw new Error((await reply.json().catch(() => ({}))).message ?? `the host says ${reply.status}`);
  return reply;
}

/** The servers that were left out for a cause. @param {string} cause */
export async function culled(cause) {
  const reply = await fetched(`culled/${cause}`, { cache: "no-store", headers: shown() });
  if (!reply.ok) throw new Error(`the host says ${reply.status}`);
  return reply.json();
}
