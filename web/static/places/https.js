// Where no beacon is, a place is a web server that its provider offers for tests. The first request opens the
// connection and is discarded; each of the next takes a round trip, and the server's time.

import { clearTimer, setTimer, sleep, wallTime, workTime } from "../time.js";

/** @typedef {import("./measure.js").Result} Result */
/** The part of localStorage that counts. @typedef {{getItem: (key: string) => string | null, setItem: (key: string, text: string) => void}} Kept */

/** How many requests an address may get from one person in an hour of the clock. */
const most = 8;
const hour = 3600 * 1000;
const key = "muster asked";

/** How long the connection may take to open, ms: a lost packet costs one second of it. */
const opening = 2500;

/** Between two requests, ms: the end of the page that came must not be on its way any more, or the browser opens another connection. */
const pause = 50;

/** An answer that is sooner comes from a blocker or an error, ms. */
const soonest = 2;

/** What the browser keeps, if it may. @type {Kept} */
const browser = { getItem: (key) => localStorage.getItem(key), setItem: (key, text) => localStorage.setItem(key, text) };

/** The tab counts, too: browsers may keep nothing. */
let counted = "";
/** @type {Kept} */
const memory = { getItem: () => counted, setItem: (_, text) => void (counted = text) };

/** The address as it is asked, or null: other pages than those of the web are not, nor those that need a name. @param {string} text @param {boolean} isLocal whether this computer's own servers may do without TLS */
function addressOf(text, isLocal) {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain = isLocal && url.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if ((url.protocol !== "https:" && !isPlain) || url.username || url.password) return null;
  url.hash = "";
  return url.href;
}

/** Takes requests from what an address may still get in this hour, or says no. @param {string} url @param {number} n @param {number} now ms since 1970 @param {Kept} storage @returns {boolean} */
function takes(url, n, now, storage) {
  const counts = [storage, memory].map((kept) => ({ kept, asked: askedIn(Math.floor(now / hour), kept) }));
  const before = Math.max(...counts.map(({ asked }) => Number(asked.urls[url] ?? 0)));
  if (before + n > most) return false;
  for (const { kept, asked } of counts) {
    asked.urls[url] = before + n;
    keep(asked, kept);
  }
  return true;
}

/** What an address took at best in this hour, ms, or 0. It counts once the address may be asked no more. @param {string} url @param {number} now @param {Kept} storage */
function foundAt(url, now, storage) {
  const known = [storage, memory].map((kept) => Number(askedIn(Math.floor(now / hour), kept).found[url] ?? 0)).filter((ms) => ms > 0);
  return known.length > 0 ? Math.min(...known) : 0;
}

/** Keeps what an address took at best. @param {string} url @param {number} ms @param {number} now @param {Kept} storage */
function finds(url, ms, now, storage) {
  for (const kept of [storage, memory]) {
    const asked = askedIn(Math.floor(now / hour), kept);
    asked.found[url] = ms;
    keep(asked, kept);
  }
}

/** @typedef {{hour: number, urls: Record<string, number>, found: Record<string, number>}} Asked */

/** @param {Asked} asked @param {Kept} kept */
function keep(asked, kept) {
  try {
    kept.setItem(key, JSON.stringify(asked));
  } catch {
    // the other one counts
  }
}

/** How often addresses were asked in an hour, counted from 1970, and what they took. @param {number} now @param {Kept} kept @returns {Asked} */
function askedIn(now, kept) {
  try {
    const { hour, urls, found } = JSON.parse(kept.getItem(key) ?? "");
    if (hour === now && urls) return { hour, urls, found: found ?? {} };
  } catch {
    // nothing is kept, or it is not ours
  }
  return { hour: now, urls: {}, found: {} };
}

/**
 * Measures the web server at a URL. It is forbidden if the URL is no https. If it has been asked enough in this hour,
 * what it took then counts.
 * @param {string} address
 * @param {{samples?: number, floor?: number, patience?: number, signal?: AbortSignal, isLocal?: boolean, storage?: Kept, ask?: typeof fetch, now?: () => number, clock?: () => number}} [options]
 * times in ms; clock counts from 1970, now from anywhere
 * @returns {Promise<Result>}
 */
export async function https(address, options = {}) {
  const { samples = 5, floor = soonest, patience = 4000, isLocal = false, ask = fetch, now = workTime, clock = wallTime } = options;
  const url = addressOf(address, isLocal);
  const n = Math.min(samples, most - 1);
  const storage = options.storage ?? browser;
  if (!url || options.signal?.aborted || !takes(url, 1 + n, clock(), storage)) {
    const ms = url && !options.signal?.aborted ? foundAt(url, clock(), storage) : 0;
    return ms > 0 ? { state: "answered", rtts_ms: [ms], sent: 1 } : { state: "forbidden", rtts_ms: [], sent: 0 };
  }
  const ends = new AbortController();
  const end = () => ends.abort();
  options.signal?.addEventListener("abort", end);
  let isOpen = false;
  const timers = [setTimer(end, patience), setTimer(() => isOpen || end(), Math.min(opening, patience))];
  /** @type {RequestInit} */
  const request = { mode: "no-cors", cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer", signal: ends.signal };
  /** How long an answer took, ms, or -1 without one. */
  const times = async () => {
    const began = now();
    try {
      await ask(url, request);
      return now() - began;
    } catch {
      return -1;
    }
  };
  const rtts = [];
  let sent = 0;
  isOpen = (await times()) >= 0;
  while (isOpen && sent < n && !ends.signal.aborted) {
    await sleep(pause);
    sent++;
    const rtt = await times();
    if (rtt >= Math.max(0, floor)) rtts.push(Math.round(100 * rtt) / 100);
  }
  timers.forEach(clearTimer);
  options.signal?.removeEventListener("abort", end);
  if (rtts.length > 0) finds(url, Math.min(...rtts), clock(), storage);
  return { state: rtts.length > 0 ? "answered" : "lost", rtts_ms: rtts, sent };
}
