// A browser has no UDP sockets, but WebRTC sends STUN over UDP. A beacon answers like an ICE-lite agent that
// everybody knows: the page writes its answer for it, and no third party connects the two.
//
//	page                                          beacon
//	  │ ── binding request, signed (~100 bytes) ──▶ │
//	  │ ◀─────────────── success, signed (~64) ──── │
//	  ▼
//	candidate-pair: responsesReceived, totalRoundTripTime
//
// Until it has an answer Chromium asks every 48 ms, then once a second. Firefox asks after 100, 200, 400 ms, and then
// not for five seconds: there the next sample comes from the next connection. Chromium allows a page 500
// connections, closed ones among them until it tidies up, so that it gets one a place. Nothing else is sent: the
// beacon would have to begin the DTLS handshake, and does not.

import { clearTimer, setTimer, sleep } from "../time.js";

/** @typedef {import("./measure.js").Result} Result */

/** What every beacon is called, and the password that it signs with. It protects nothing. */
const fragment = "muster";
const password = "musterAnswersEverybody00";

/** No handshake compares it. */
const fingerprint = Array(32).fill("AB").join(":");

/** Between two looks at the statistics, and two connections, ms. To look costs the browser more than to ask, and a moment that is busy must not spoil all samples. */
const pause = 250;

/** How long an answer is waited for, ms. */
const silence = 2000;

/** Longer round trips are no measurement, ms. */
const longest = 60000;

/** The address and port of an IPv4 or [IPv6] literal, or null. @param {string} text @returns {{address: string, port: number} | null} */
export function literal(text) {
  const [, four, six, port] = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([\da-f:.]+)\]):(\d{1,5})$/i.exec(text) ?? [];
  if (!port || Number(port) < 1 || !URL.canParse(`http://${text}/`)) return null;
  return { address: four ?? six, port: Number(port) };
}

/** The beacon's part of the negotiation. @param {{address: string, port: number}} at */
export function answerOf({ address, port }) {
  return [
    "v=0",
    "o=- 1 1 IN IP4 127.0.0.1",
    "s=-",
    "t=0 0",
    "a=ice-lite",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "c=IN IP4 0.0.0.0",
    "a=mid:0",
    `a=ice-ufrag:${fragment}`,
    `a=ice-pwd:${password}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    "a=setup:active",
    "a=sctp-port:5000",
    `a=candidate:1 1 udp 2130706431 ${address} ${port} typ host`,
    "a=end-of-candidates",
    "",
  ].join("\r\n");
}

/** The part of a candidate pair's statistics that counts. @typedef {{state?: string, requestsSent?: number, responsesReceived?: number, totalRoundTripTime?: number, currentRoundTripTime?: number}} Pair times in s */

/**
 * What a connection has told: round trips in ms, of so many responses that took so many seconds. isSent says that a
 * request has left, isOnce that this browser is one that asks rarely, isUntold that it does not tell round trips.
 * @typedef {{rtts: number[], responses: number, total: number, isSent: boolean, isOnce: boolean, isUntold: boolean}} Told
 */

/** @type {Told} */
const nothing = { rtts: [], responses: 0, total: 0, isSent: false, isOnce: false, isUntold: false };

/** What a connection tells by its next report. Behind a router a pair gets another id with its first answer, and counts on: the pair with most answers counts. @param {Iterable<any>} report @param {Told} [before] @returns {Told} */
export function roundTrips(report, before = nothing) {
  const told = { ...before };
  for (const stats of report) {
    if (stats.type !== "candidate-pair") continue;
    /** @type {Pair} */
    const { state, requestsSent, responsesReceived: n = 0, totalRoundTripTime: total } = stats;
    told.isOnce ||= requestsSent === undefined;
    told.isSent ||= requestsSent !== 0;
    told.isUntold ||= total === undefined && (n > 0 || state === "succeeded");
    if (total === undefined || n <= told.responses) continue;
    Object.assign(told, { rtts: [...before.rtts, ...between(before, stats)], responses: n, total });
  }
  return told;
}

/** The new round trips, ms: of several the last one is known, and the mean of the others. @param {Told} before @param {Pair} pair @returns {number[]} */
function between(before, { responsesReceived = 0, totalRoundTripTime = 0, currentRoundTripTime: last }) {
  const n = responsesReceived - before.responses;
  const sum = totalRoundTripTime - before.total;
  const isSplit = n > 1 && last !== undefined && last <= sum;
  const each = isSplit ? [(sum - last) / (n - 1), last] : [sum / n];
  return each.map((s) => Math.round(1e5 * s) / 100).filter((ms) => ms >= 0 && ms <= longest);
}

/**
 * Measures the beacon at a literal ADDRESS:PORT. It is forbidden where the browser has no WebRTC, lets it
 * send nothing, or does not tell round trips.
 * @param {string} addr
 * @param {{samples?: number, patience?: number, signal?: AbortSignal, Peer?: typeof RTCPeerConnection}} [options] patience in ms
 * @returns {Promise<Result>}
 */
export async function ice(addr, { samples = 5, patience = 4000, signal, Peer = globalThis.RTCPeerConnection } = {}) {
  const at = literal(addr);
  /** @type {Told[]} */
  const told = [];
  if (!at || !Peer || signal?.aborted) return resultOf(told, samples);
  let isOver = false;
  let timer = 0;
  /** @type {Promise<void>} */
  const over = new Promise((ends) => {
    timer = setTimer(ends, patience);
    signal?.addEventListener("abort", () => ends(), { once: true });
  });
  /** @type {RTCPeerConnection | undefined} */
  let connection;
  const isEnough = () => told.flatMap(({ rtts }) => rtts).length >= samples;
  /** Measures by one more connection, and says whether another one is worth while. */
  const connect = async () => {
    if (isOver) return false;
    connection = new Peer();
    connection.createDataChannel("ping");
    await connection.setLocalDescription(await connection.createOffer());
    await connection.setRemoteDescription({ type: "answer", sdp: answerOf(at) });
    let now = nothing;
    const nth = told.push(now) - 1;
    for (let waited = 0; !isOver && !isEnough() && (now.rtts.length > 0 ? !now.isOnce : waited < silence); waited += pause) {
      await sleep(pause);
      told[nth] = now = roundTrips((await connection.getStats()).values(), now);
      if (now.isUntold) break;
    }
    connection.close();
    return now.rtts.length > 0;
  };
  const work = async () => {
    while ((await connect()) && !isEnough()) await sleep(pause);
  };
  await Promise.race([work().catch(() => {}), over]); // what was measured before an error counts
  isOver = true;
  clearTimer(timer);
  connection?.close();
  return resultOf(told, samples);
}

/** @param {Told[]} told by each connection @param {number} samples @returns {Result} */
function resultOf(told, samples) {
  const rtts = told.flatMap((trips) => trips.rtts).slice(0, samples);
  if (rtts.length > 0) return { state: "answered", rtts_ms: rtts, sent: rtts.length };
  const isAsked = told.some(({ isSent, isUntold }) => isSent && !isUntold);
  return isAsked ? { state: "lost", rtts_ms: [], sent: samples } : { state: "forbidden", rtts_ms: [], sent: 0 };
}
