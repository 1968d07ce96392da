// A browser has no UDP sockets, but WebRTC sends STUN over UDP. A beacon answers like an ICE-lite agent that
// everybody knows: the page writes its answer for it, and no third party connects the two.
//
//	page                                          beacon
//	  │ ── binding request, signed (~100 bytes) ──▶ │
//	  │ ◀─────────────── success, signed (~64) ──── │
//	  ▼
//	candidate-pair: responsesReceived, totalRoundTripTime
//
// Until it has an answer Chromium asks every 48 ms, and Firefox after 100, 200, 400 ms. Then they ask rarely, so
// that the next samples come from the next connection. Nothing else is sent: the beacon would have to begin the
// DTLS handshake, and does not.

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

/** What a connection tells. isSent says that a request has left, and isUntold that answers came whose round trips are not told. @typedef {{rtts: number[], isSent: boolean, isUntold: boolean}} Told */

/** The round trips, ms, in a report of a connection. Of several the last one is known, and the mean of those before. @param {Iterable<any>} report @returns {Told} */
export function roundTrips(report) {
  /** @type {Told} */
  const told = { rtts: [], isSent: false, isUntold: false };
  let most = 0;
  for (const stats of report) {
    if (stats.type !== "candidate-pair") continue;
    /** @type {Pair} */
    const { state, requestsSent = 1, responsesReceived: n = 0, totalRoundTripTime: total, currentRoundTripTime: last } = stats;
    told.isSent ||= requestsSent > 0; // Firefox does not count them
    told.isUntold ||= total === undefined && (n > 0 || state === "succeeded");
    if (total === undefined || n <= most) continue;
    const isSplit = n > 1 && last !== undefined && last <= total;
    const each = isSplit ? [(total - last) / (n - 1), last] : [total / n];
    told.rtts = each.map((s) => Math.round(1e5 * s) / 100).filter((ms) => ms >= 0 && ms <= longest);
    most = n;
  }
  return told;
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
  const count = () => told.reduce((sum, { rtts }) => sum + rtts.length, 0);
  const connect = async () => {
    connection = new Peer();
    connection.createDataChannel("ping");
    await connection.setLocalDescription(await connection.createOffer());
    await connection.setRemoteDescription({ type: "answer", sdp: answerOf(at) });
    const nth = told.push(roundTrips([])) - 1;
    for (let waited = 0; !isOver && !told[nth].isUntold && told[nth].rtts.length === 0 && waited < silence; waited += pause) {
      await sleep(pause);
      told[nth] = roundTrips((await connection.getStats()).values());
    }
    connection.close();
  };
  const work = async () => {
    await connect();
    while (!isOver && count() < samples && told.at(-1)?.rtts.length) {
      await sleep(pause);
      if (!isOver) await connect();
    }
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
