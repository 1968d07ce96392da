// A page that measures is a browser peer: with its owner's consent it joins the room at /peer as a program
// does, and answers surveys of places, and nothing else.
//
//	page                                        host
//	  │ ── hello (browser) ──────────────────────▶ │
//	  │ ◀────────────── welcome, survey (places) ── │
//	  │ ── surveyed, more: true (4 times a second) ▶│
//	  │ ── surveyed ──────────────────────────────▶ │   the rest

import { clearTimer, setTicker, setTimer } from "../time.js";
import { measure } from "./measure.js";

/** @typedef {import("./measure.js").Venue} Venue */
/** @typedef {import("./measure.js").Result} Result */

/** A request of the host to measure. @typedef {{attempt: number, places: Venue[], samples?: number, after_ms?: number}} Survey */
/**
 * What the page shows: of the newest survey how many places there are, have ended and have answered. reason,
 * says and advises are the host's, once it has ended.
 * @typedef {{state: "connecting" | "in" | "measuring" | "lost" | "ended", places: number, seen: number, answered: number, reason?: string, says?: any, advises?: any}} News
 */

const version = 2;
const firstPause = 250;
const lastPause = 5000;
/** Over how long browsers spread their return to a room that has moved, ms. */
const movedWithin = 1000;
/** Between two batches of results, ms. */
const batch = 250;

/** After these refusals the peer comes back. */
const passing = ["limited", "busy", "moved"];

/** The proof that the seat is ours: a tab keeps it for the room. @param {string} code @param {Storage | undefined} storage */
function tokenFor(code, storage) {
  const key = `muster ${code.toUpperCase().replaceAll("-", "")} measures`;
  try {
    const kept = (storage ?? sessionStorage).getItem(key);
    if (kept) return kept;
  } catch {
    // the token lasts until the page loads again
  }
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const made = [...crypto.getRandomValues(new Uint8Array(26))].map((byte) => letters[byte % 32]).join("");
  try {
    (storage ?? sessionStorage).setItem(key, made);
  } catch {
    // see above
  }
  return made;
}

/** One survey: its results so far, and which of them this connection has said. */
class Run {
  /** @param {Survey} survey @param {string} means */
  constructor(survey, means) {
    this.survey = survey;
    this.means = means;
    /** @type {(Result & {server: number})[]} */
    this.results = [];
    this.said = 0;
    this.isOver = false;
    this.isSaid = false;
    this.ends = new AbortController();
  }

  /** The next message, or null if there is nothing new. */
  next() {
    if (this.isSaid || (!this.isOver && this.said === this.results.length)) return null;
    const places = this.results.slice(this.said);
    this.said = this.results.length;
    this.isSaid = this.isOver;
    return { type: "surveyed", attempt: this.survey.attempt, places, ...(!this.isOver && { more: true }) };
  }
}

class BrowserPeer {
  /** @param {Parameters<typeof start>[0]} options */
  constructor({ code, key = "", name, ticket = "", url, onState = () => {}, Socket = WebSocket, storage, measures = measure }) {
    this.hello = { type: "hello", version, code, key, name, token: tokenFor(code, storage), as: ticket, browser: true };
    this.url = url;
    this.onState = onState;
    this.Socket = Socket;
    this.measures = measures;
    this.pause = firstPause;
    this.epoch = 0;
    this.isIn = false;
    this.isEnded = false;
    this.retry = 0;
    this.turn = 0;
    this.ticker = setTicker(() => this.flush(), batch);
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Run | null} */
    this.run = null;
    this.connect();
  }

  connect() {
    const socket = new this.Socket(this.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.say(this.hello);
    socket.onmessage = ({ data }) => typeof data === "string" && this.hear(JSON.parse(data));
    socket.onclose = () => this.lost();
    this.socket = socket;
    this.tell("connecting");
  }

  /** @param {object} message */
  say(message) {
    this.socket?.send(JSON.stringify(message));
  }

  /** @param {any} message */
  hear(message) {
    if (message.type === "welcome") this.welcome(message);
    else if (message.type === "survey") this.asked(message);
    else if (message.type === "refused") this.refused(message);
  }

  /** @param {{epoch?: number}} message */
  welcome({ epoch = 0 }) {
    if (epoch < this.epoch) return this.lost(); // from a host that no longer has the room
    if (this.isIn) this.say({ type: "again" }); // another host has it
    this.isIn = true;
    this.epoch = epoch;
    this.pause = firstPause;
    this.tell(this.run?.isOver === false ? "measuring" : "in");
  }

  /** A host that repeats its request hears what it missed; a newer request ends the one before. @param {Survey} survey */
  asked(survey) {
    const means = JSON.stringify([survey.attempt, survey.places]);
    if (this.run?.means === means) {
      this.run.said = 0;
      this.run.isSaid = false;
      return this.flush();
    }
    this.run?.ends.abort();
    clearTimer(this.turn);
    const run = new Run(survey, means);
    this.run = run;
    this.turn = setTimer(() => this.work(run), survey.after_ms ?? 0);
    this.tell("measuring");
  }

  /** @param {Run} run */
  async work(run) {
    const { places, samples } = run.survey;
    const seen = (/** @type {number} */ server, /** @type {Result} */ result) => {
      run.results.push({ server, ...result });
      if (run === this.run && !this.isEnded) this.tell("measuring");
    };
    await this.measures(places, { samples, seen, signal: run.ends.signal });
    run.isOver = true;
    if (run !== this.run || this.isEnded) return;
    this.flush();
    this.tell(this.isIn ? "in" : "lost");
  }

  flush() {
    const news = this.isIn && this.run?.next();
    if (news) this.say(news);
  }

  /** @param {{reason: string, says?: any, advises?: any}} refusal */
  refused({ reason, says, advises }) {
    if (!passing.includes(reason)) return this.end({ reason, says, advises });
    this.pause = reason === "moved" ? movedWithin * Math.random() : lastPause;
    this.lost();
  }

  lost() {
    this.drop();
    clearTimer(this.retry);
    this.retry = setTimer(() => this.connect(), this.pause);
    this.pause = Math.min(Math.max(2 * this.pause, firstPause), lastPause);
    this.tell("lost");
  }

  /** Closes the socket silently. What it has said may not have arrived. */
  drop() {
    this.isIn = false;
    if (this.run) this.run.isSaid = true; // until the host asks again
    if (!this.socket) return;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.socket = null;
  }

  /** @param {{reason?: string, says?: any, advises?: any}} [why] */
  end(why = {}) {
    if (this.isEnded) return;
    this.isEnded = true;
    this.drop();
    this.run?.ends.abort();
    clearTimer(this.retry);
    clearTimer(this.turn);
    clearTimer(this.ticker);
    this.tell("ended", why);
  }

  /** @param {News["state"]} state @param {Partial<News>} [why] */
  tell(state, why) {
    const results = this.run?.results ?? [];
    const answered = results.filter((result) => result.state === "answered").length;
    this.onState({ state, places: this.run?.survey.places.length ?? 0, seen: results.length, answered, ...why });
  }
}

/**
 * Joins a room as a browser peer, and measures whenever the host asks: the owner has agreed to it for this room.
 * @param {{code: string, key?: string, name: string, ticket?: string, url: string, onState?: (news: News) => void, Socket?: typeof WebSocket, storage?: Storage, measures?: typeof measure}} options
 * ticket is the guest's credential, url the host's /peer as ws: or wss:
 * @returns {{stop: () => void}}
 */
export function start(options) {
  const peer = new BrowserPeer(options);
  return { stop: () => peer.end() };
}
