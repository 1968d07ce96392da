// The room's stream: it connects, reconnects by itself, and reports its state.

import { refused } from "./api.js";
import { capital, told } from "./say.js";
import { Clouds } from "./trace.js";
import { clearTimer, hostTime, setTimer, wallTime } from "./time.js";

const firstPause = 250;
const lastPause = 5000;
/** The host sends something every 2 s: a silence this long means that the connection is lost. */
const patience = 7000;
/** How long the connection may be lost, or the room without a host, before people are told. */
const unsaid = 5000;
/** Over how long pages spread their return to a room that has moved. All at once would be too many. */
const movedWithin = 1000;
/** When a page retries after it gave way to another; sooner it would push that one out. */
const crowdedPause = 60000;

/** @typedef {"connecting" | "live" | "lost" | "limited" | "crowded" | "gone" | "over"} Connection */

export class Live {
  /**
   * @param {string} code
   * @param {string} key the room's link key, or empty
   * @param {() => string} credential returns the token or secret to send
   * @param {() => void} changed is called when anything is new
   */
  constructor(code, key, credential, changed) {
    this.code = code;
    this.key = key;
    this.credential = credential;
    this.changed = changed;
    this.clouds = new Clouds();
    /** @type {import("./types.js").State | null} */
    this.state = null;
    /** @type {Connection} */
    this.connection = "connecting";
    /** The newest connection's credential, and the last one for which the host has said who we
     * are. */
    this.shown = "";
    this.answered = "";
    /** Why the host let nobody in, in its words. */
    this.why = "";
    /** Whether the room has been closed, as `why` says. */
    this.isClosed = false;
    this.pause = firstPause;
    /** Since when the room is silent, 0 while it is not. */
    this.silent = 0;
    this.bytes = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.watchdog = 0;
    this.retry = 0;
    addEventListener("online", () => this.comeBack());
    document.addEventListener("visibilitychange", () => document.hidden || this.comeBack());
  }

  /** Connects at once if it waits or has given up. */
  comeBack() {
    if (this.code && this.connection !== "live" && this.connection !== "over" && this.socket === null) this.connect();
  }

  connect() {
    clearTimer(this.retry);
    this.drop();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    this.shown = this.credential();
    socket.onopen = () => socket.send(JSON.stringify({ code: this.code, key: this.key, token: this.shown }));
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => this.lost();
    this.socket = socket;
    this.watch();
  }

  /** Closes the socket silently. */
  drop() {
    if (!this.socket) return;
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
    this.socket = null;
  }

  watch() {
    clearTimer(this.watchdog);
    this.watchdog = setTimer(() => this.lost(), patience);
  }

  /** @param {string | ArrayBuffer} data */
  receive(data) {
    this.watch();
    if (typeof data === "string") {
      this.bytes += data.length;
      const news = JSON.parse(data);
      if (news.type === "refused") {
        this.why = refused(news).map(capital).concat(news.link ?? []).join(" ");
        return this.refused(news.reason);
      }
      if (news.type === "wait") return this.wait(told(news.says) || (news.message ?? ""));
      this.merge(news);
    } else {
      this.bytes += data.byteLength;
      this.clouds.read(data);
    }
    this.connection = "live";
    this.silent = 0;
    this.pause = firstPause;
    this.changed();
  }

  /** The connection stands, but the room has no host at the moment. @param {string} why for people, if they need to know */
  wait(why) {
    this.silent ||= wallTime();
    if (why && this.state) this.state.waits = why;
    this.why = why || this.why;
    this.changed();
  }

  /** The connection's state as people see it; short interruptions do not show. @returns {Connection} */
  shownAs() {
    const waits = this.silent > 0 && (this.connection === "live" || this.connection === "lost");
    if (!waits) return this.connection;
    return this.state && (this.state.waits || wallTime() - this.silent < unsaid) ? "live" : "lost";
  }

  /** A new connection brings every section; later frames bring only those that changed. @param {any} news */
  merge(news) {
    if (news.whole) this.clouds.clear(); // a new host may know less than the one before
    this.state = { ...this.state, waits: "", ...news, heard: wallTime() };
    if (news.you) this.answered = this.shown;
    if (news.room) this.clouds.enter(news.room.round);
  }

  /** @param {string} reason */
  refused(reason) {
    this.isClosed = reason === "closed";
    if (reason === "code" || this.isClosed) return this.giveUp();
    this.pause = reason === "moved" ? movedWithin * Math.random() : reason === "crowded" ? crowdedPause : lastPause; // otherwise too many requests came from here
    const waits = reason === "moved" && this.state?.waits;
    this.lost();
    if (waits && this.state) this.state.waits = waits; // until there is other news
    if (reason === "limited" || reason === "crowded") this.connection = reason;
  }

  lost() {
    if (this.state?.room?.ended && !this.state.meeting) return this.giveUp(); // nothing more will come
    this.drop();
    clearTimer(this.watchdog);
    if (this.connection === "gone") return;
    this.connection = "lost";
    this.silent ||= wallTime();
    if (this.state) this.state.waits = "";
    this.retry = setTimer(() => this.connect(), this.pause);
    this.pause = Math.min(Math.max(2 * this.pause, firstPause), lastPause);
    this.changed();
  }

  /** Stops, because more requests would count as guessing codes, for everybody at this address. */
  giveUp() {
    this.drop();
    clearTimer(this.watchdog);
    clearTimer(this.retry);
    this.retry = 0;
    this.silent = 0;
    this.connection = this.state?.room?.ended ? "over" : "gone";
    this.changed();
  }

  /** The host's clock now, ms. */
  now() {
    return this.state ? hostTime(this.state) : wallTime();
  }

  /** Seconds since the round's measuring began. */
  elapsed() {
    const began = this.state?.room?.began;
    return began ? (this.now() - Date.parse(began)) / 1000 : 0;
  }
}
