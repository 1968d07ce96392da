// A browser measures places: what the page makes of WebRTC, of web servers, and of what the host asks.

import assert from "node:assert/strict";
import test from "node:test";
import { passes, settles } from "./clock.js";

const of = (/** @type {string} */ module) => import(new URL(`../../web/static/places/${module}.js`, import.meta.url).href);
const { answerOf, ice, literal, roundTrips } = await of("ice");
const { https } = await of("https");
const { measure } = await of("measure");
const { start } = await of("browserpeer");

/** Lets time pass until a promise is fulfilled. @param {Promise<any>} promise @param {number} within ms */
async function inTime(promise, within = 10000) {
  const began = musterTime.now();
  let is = null;
  promise.then((value) => (is = { value, took: musterTime.now() - began }));
  for (let left = within; is === null && left >= 0; left -= 10) await passes(10);
  assert.ok(is, `nothing after ${within} ms`);
  return is;
}

// ---- ICE ----------------------------------------------------------------------------------------------------------

/** A browser's WebRTC: each connection shows its reports one after another, and then the last. @param {(any[] | Error)[]} reports */
function webrtc(...reports) {
  const all = [];
  class Peer {
    constructor() {
      this.reports = [...reports];
      this.isClosed = false;
      all.push(this);
    }
    createDataChannel() {}
    async createOffer() {
      return { type: "offer", sdp: "" };
    }
    async setLocalDescription() {}
    async setRemoteDescription({ sdp }) {
      this.sdp = sdp;
    }
    async getStats() {
      const report = this.reports.length > 1 ? this.reports.shift() : this.reports[0];
      if (report instanceof Error) throw report;
      return new Map(report.map((stats, i) => [i, stats]));
    }
    close() {
      this.isClosed = true;
    }
  }
  return { Peer, all };
}

const pair = (more) => ({ type: "candidate-pair", ...more });

test("an address is a literal, or nothing is asked", async () => {
  for (const [text, want] of [
    ["192.0.2.7:7787", { address: "192.0.2.7", port: 7787 }],
    ["[2001:db8::7]:1", { address: "2001:db8::7", port: 1 }],
    ["192.0.2.7:0", null],
    ["192.0.2.7:65536", null],
    ["192.0.2.7", null],
    ["192.0.2.256:7787", null],
    ["1.2.3:7787", null],
    ["[2001:db8::7::]:1", null],
    ["2001:db8::7:1", null],
    ["beacon.example:7787", null],
    ["192.0.2.7:7787\r\na=candidate:2 1 udp 1 192.0.2.8 1 typ host", null],
    ["192.0.2.7:7787\n", null],
  ]) {
    assert.deepEqual(literal(text), want, text);
  }
  const { Peer, all } = webrtc([]);
  assert.deepEqual(await ice("beacon.example:7787", { Peer }), { state: "forbidden", rtts_ms: [], sent: 0 });
  assert.equal(all.length, 0);
});

test("a report tells round trips in several ways, or not", () => {
  const told = (report, before) => {
    const { rtts, isSent, isOnce, isUntold } = roundTrips(report, before);
    return [rtts, Object.entries({ isSent, isOnce, isUntold }).filter(([, is]) => is).map(([name]) => name).join(" ")];
  };
  for (const [name, report, rtts, is] of [
    ["nothing yet", [], [], ""],
    ["not sent", [pair({ requestsSent: 0, responsesReceived: 0, totalRoundTripTime: 0 })], [], ""],
    ["asked", [pair({ requestsSent: 2, responsesReceived: 0, totalRoundTripTime: 0 })], [], "isSent"],
    ["one", [pair({ requestsSent: 2, responsesReceived: 1, totalRoundTripTime: 0.0623, currentRoundTripTime: 0.0623 })], [62.3], "isSent"],
    ["three: the last, and the mean of two", [pair({ requestsSent: 3, responsesReceived: 3, totalRoundTripTime: 0.19, currentRoundTripTime: 0.06 })], [65, 60], "isSent"],
    ["two, and not the last", [pair({ requestsSent: 3, responsesReceived: 2, totalRoundTripTime: 0.1 })], [50], "isSent"],
    ["Firefox", [pair({ state: "succeeded", responsesReceived: 1, totalRoundTripTime: 0.06, currentRoundTripTime: 0.06 })], [60], "isSent isOnce"],
    ["no totals", [pair({ state: "succeeded", writable: true })], [], "isSent isOnce isUntold"],
    ["no totals yet", [pair({ state: "in-progress" })], [], "isSent isOnce"],
    ["the pair that tells more", [pair({ requestsSent: 3, responsesReceived: 1, totalRoundTripTime: 0.01 }), pair({ requestsSent: 3, responsesReceived: 2, totalRoundTripTime: 0.1 }), { type: "transport" }], [50], "isSent"],
    ["an hour", [pair({ requestsSent: 1, responsesReceived: 1, totalRoundTripTime: 3600 })], [], "isSent"],
  ]) {
    assert.deepEqual(told(report), [rtts, is], name);
  }
  const one = roundTrips([pair({ id: "a", requestsSent: 1, responsesReceived: 1, totalRoundTripTime: 0.04 })]);
  for (const [name, next, rtts] of [
    ["the same", { id: "a", responsesReceived: 1, totalRoundTripTime: 0.04 }, [40]],
    ["one more", { id: "a", responsesReceived: 2, totalRoundTripTime: 0.09 }, [40, 50]],
    ["another id", { id: "b", responsesReceived: 2, totalRoundTripTime: 0.09 }, [40, 50]],
    ["two more", { id: "a", responsesReceived: 3, totalRoundTripTime: 0.15, currentRoundTripTime: 0.05 }, [40, 60, 50]],
    ["less", { id: "a", responsesReceived: 2, totalRoundTripTime: 0.03 }, [40]],
  ]) {
    assert.deepEqual(told([pair({ requestsSent: 3, ...next })], one), [rtts, "isSent"], name);
  }
});

test("a beacon is measured by one connection, or by one after another where each asks once", async () => {
  const answers = (n, more) => [pair({ responsesReceived: n, totalRoundTripTime: 0.02 * n, currentRoundTripTime: 0.02, ...more })];
  const few = answers(0, { requestsSent: 1 });
  for (const [name, reports, connections, rtts] of [
    ["Chromium", [few, answers(3, { requestsSent: 3 }), answers(3, { requestsSent: 3 }), answers(4, { requestsSent: 4 }), answers(5, { requestsSent: 5 }), answers(6, { requestsSent: 6 })], 1, 5],
    ["Chromium, slower", [few, answers(1, { requestsSent: 2 })], 1, 1],
    ["Firefox", [few, answers(1)].map(([one]) => [{ ...one, requestsSent: undefined }]), 5, 5],
  ]) {
    const { Peer, all } = webrtc(...reports);
    const { value, took } = await inTime(ice("[2001:db8::7]:7787", { Peer }));
    assert.deepEqual(value, { state: "answered", rtts_ms: Array(rtts).fill(20), sent: rtts }, name);
    assert.ok(took <= 4100, name);
    assert.equal(all.length, connections, name);
    assert.ok(all.every(({ isClosed }) => isClosed), name);
    assert.ok(all.every(({ sdp }) => sdp === answerOf({ address: "2001:db8::7", port: 7787 })), name);
  }
  const sdp = answerOf({ address: "2001:db8::7", port: 7787 }).split("\r\n");
  for (const line of ["a=ice-lite", "a=ice-ufrag:muster", "a=ice-pwd:musterAnswersEverybody00"]) assert.ok(sdp.includes(line), line);
  const candidates = sdp.filter((line) => line.startsWith("a=candidate"));
  assert.deepEqual(candidates, ["a=candidate:1 1 udp 2130706431 2001:db8::7 7787 typ host"]);
});

test("what a browser forbids is told apart from what does not answer", async () => {
  const asked = [pair({ requestsSent: 9, responsesReceived: 0, totalRoundTripTime: 0 })];
  const untold = [pair({ state: "succeeded", responsesReceived: 2 })];
  class Throws {
    constructor() {
      throw new DOMException("forbidden", "NotAllowedError");
    }
  }
  for (const [name, Peer, state, longest] of [
    ["no WebRTC", null, "forbidden", 0],
    ["WebRTC that throws", Throws, "forbidden", 0],
    ["no UDP", webrtc([]).Peer, "forbidden", 2500],
    ["statistics without totals", webrtc(untold).Peer, "forbidden", 500],
    ["statistics that fail", webrtc(new Error("closed")).Peer, "forbidden", 500],
    ["silence", webrtc(asked).Peer, "lost", 2500],
  ]) {
    const { value, took } = await inTime(ice("192.0.2.7:7787", { Peer }));
    assert.equal(value.state, state, name);
    assert.deepEqual(value.rtts_ms, [], name);
    assert.ok(took <= longest, `${name} takes ${took} ms`);
  }
});

test("a browser that never answers the page, and a signal, end a measurement", async () => {
  const { Peer, all } = webrtc([]);
  Peer.prototype.getStats = () => new Promise(() => {});
  assert.equal((await inTime(ice("192.0.2.7:7787", { Peer }))).value.state, "forbidden");
  const { Peer: Answers, all: answering } = webrtc([pair({ responsesReceived: 1, totalRoundTripTime: 0.02 })]);
  const ends = new AbortController();
  const measuring = ice("192.0.2.7:7787", { Peer: Answers, samples: 10, signal: ends.signal });
  await passes(900);
  ends.abort();
  const { value, took } = await inTime(measuring);
  assert.deepEqual(value, { state: "answered", rtts_ms: [20, 20], sent: 2 });
  assert.ok(took < 50);
  assert.ok([...all, ...answering].every(({ isClosed }) => isClosed));
});

// ---- HTTPS --------------------------------------------------------------------------------------------------------

/** What a browser keeps. */
const storage = () => {
  const texts = new Map();
  return { getItem: (key) => texts.get(key) ?? null, setItem: (key, text) => void texts.set(key, text) };
};

/** A web server whose answers take so many ms in turn; one that is no number fails. @param {(number | string)[]} times */
function web(...times) {
  const requests = [];
  const ask = (url, options) => {
    requests.push({ url, ...options });
    const time = times[Math.min(requests.length, times.length) - 1];
    return new Promise((answers, fails) => {
      options.signal.addEventListener("abort", () => fails(options.signal.reason));
      if (typeof time === "number") musterTime.setTimeout(() => answers({ type: "opaque" }), time);
      else fails(new TypeError(time));
    });
  };
  return { ask, requests, now: () => musterTime.now() };
}

let sites = 0;
/** A web server that nobody has asked. */
const site = () => `https://speed${++sites}.example/`;

test("a web server is asked as a page should, and its first answer is discarded", async () => {
  const server = web(90, 31, 30, 29, 33, 32);
  const url = site();
  const { value } = await inTime(https(url, { ...server, storage: storage() }));
  assert.deepEqual(value, { state: "answered", rtts_ms: [31, 30, 29, 33, 32], sent: 5 });
  assert.equal(server.requests.length, 6);
  for (const { signal, ...request } of server.requests) {
    assert.ok(signal);
    assert.deepEqual(request, { url, mode: "no-cors", cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
  }
});

test("an error, or an answer that is too soon, is no sample", async () => {
  for (const [name, times, options, want] of [
    ["blocked", ["Failed to fetch"], {}, { state: "lost", rtts_ms: [], sent: 0 }],
    ["blocked by an extension that answers", [1], {}, { state: "lost", rtts_ms: [], sent: 5 }],
    ["once too soon, once lost", [90, 30, 1, "Failed to fetch", 2, 31], {}, { state: "answered", rtts_ms: [30, 2, 31], sent: 5 }],
    ["without a floor", [1], { floor: 0 }, { state: "answered", rtts_ms: [1, 1, 1, 1, 1], sent: 5 }],
    ["silent", [60000], {}, { state: "lost", rtts_ms: [], sent: 0 }],
    ["silent later", [90, 30, 60000], {}, { state: "answered", rtts_ms: [30], sent: 2 }],
  ]) {
    const { value, took } = await inTime(https(site(), { ...web(...times), storage: storage(), ...options }));
    assert.deepEqual(value, want, name);
    assert.ok(took <= 4000, `${name} takes ${took} ms`);
  }
});

test("an address is asked eight times an hour, with and without a storage", async () => {
  const broken = {
    getItem() {
      throw new DOMException("denied", "SecurityError");
    },
    setItem() {},
  };
  const hour = 3600 * 1000;
  let now = 7 * hour;
  for (const [name, kept] of [["kept", storage()], ["denied", broken], ["another's", { getItem: () => "[", setItem() {} }]]) {
    const url = site();
    const server = web(30);
    const ask = async (to = url, options = {}) => (await inTime(https(to, { ...server, storage: kept, clock: () => now, ...options }))).value.state;
    assert.equal(await ask(), "answered", name);
    for (const again of [url, `${url}#again`]) { // what it took then counts
      assert.deepEqual((await inTime(https(again, { ...server, storage: kept, clock: () => now }))).value, { state: "answered", rtts_ms: [30], sent: 1 }, name);
    }
    assert.equal(server.requests.length, 6, name);
    assert.equal(await ask(url, { samples: 1 }), "answered", name);
    assert.equal(await ask(site()), "answered", name);
    now += hour;
    assert.equal(await ask(), "answered", `${name}, an hour later`);
  }
  const [other, kept] = [site(), storage()];
  kept.setItem("muster asked", JSON.stringify({ hour: now / hour, urls: { [other]: 6 } }));
  assert.equal((await inTime(https(other, { ...web(30), storage: kept, clock: () => now }))).value.state, "forbidden", "by another tab");
});

test("many samples keep to the bound, too", async () => {
  const server = web(30);
  const { value } = await inTime(https(site(), { ...server, samples: 20, storage: storage() }));
  assert.deepEqual([value.rtts_ms.length, server.requests.length], [7, 8]);
});

test("only https is asked, and http of this computer by a test", async () => {
  for (const [to, isLocal, isAsked] of [
    ["https://speed.example/empty?x=1", false, true],
    ["http://speed.example/", false, false],
    ["http://speed.example/", true, false],
    ["http://localhost:8080/", false, false],
    ["http://localhost:8080/", true, true],
    ["http://localhost.example/", true, false],
    ["https://ann:secret@speed.example/", false, false],
    ["javascript:alert(1)", false, false],
    ["data:text/html,x", false, false],
    ["file:///etc/passwd", true, false],
    ["ws://speed.example/", false, false],
    ["/api/rooms", false, false],
    ["", false, false],
  ]) {
    const server = web(30);
    const { value } = await inTime(https(to, { ...server, isLocal, storage: storage() }));
    assert.equal(value.state, isAsked ? "answered" : "forbidden", to);
    assert.equal(server.requests.length, isAsked ? 6 : 0, to);
  }
});

// ---- A survey -----------------------------------------------------------------------------------------------------

const venue = (i, more) => ({ name: `place ${i}`, addr: `192.0.2.${i}:7787`, protocol: "beacon", ...more });
const many = (n, more) => Array.from({ length: n }, (_, i) => venue(i, more?.(i)));

/** Measures that take some time, and what they were asked. @param {number} ms @param {string} state */
function measures(ms, state = "answered") {
  const asked = [];
  let now = 0;
  const asks = Object.assign(
    async (what, { patience, signal }) => {
      asked.push(what);
      asks.most = Math.max(asks.most, ++now);
      await new Promise((done) => {
        musterTime.setTimeout(done, Math.min(ms, patience));
        signal.addEventListener("abort", done);
      });
      now--;
      return { state, rtts_ms: state === "answered" ? [ms] : [], sent: 1 };
    },
    { asked, most: 0 },
  );
  return asks;
}

test("places are measured by their URL, else as beacons, else not", async () => {
  const [ice, https, seen] = [measures(50), measures(30), []];
  const places = [venue(1), venue(2, { url: "https://a.example/" }), venue(3, { protocol: "tcp" }), venue(4, { protocol: "tcp", url: "https://b.example/" })];
  const { value } = await inTime(measure(places, { ice, https, seen: (index, { state }) => seen.push([index, state]) }));
  assert.deepEqual(value.map(({ state, rtts_ms }) => [state, ...rtts_ms]), [["answered", 50], ["answered", 30], ["forbidden"], ["answered", 30]]);
  assert.deepEqual([ice.asked, https.asked], [["192.0.2.1:7787"], ["https://a.example/", "https://b.example/"]]);
  assert.deepEqual(seen.toSorted(), [[0, "answered"], [1, "answered"], [2, "forbidden"], [3, "answered"]]);
});

test("24 places take no longer than ten seconds, whatever they do", async () => {
  const byURL = (i) => ({ url: `https://${i}.example/` });
  for (const [name, places, answers, state, longest, atOnce] of [
    ["beacons", many(24), 1700, "answered", 1800, [24, 0]],
    ["silent beacons", many(24), 99999, "lost", 4100, [24, 0]],
    ["web servers", many(24, byURL), 700, "answered", 3000, [0, 6]],
    ["silent web servers", many(24, byURL), 99999, "lost", 9100, [0, 6]],
    ["both, silent", many(24, (i) => (i % 2 ? byURL(i) : {})), 99999, "lost", 9100, [12, 6]],
  ]) {
    const [ice, https] = [measures(answers, state), measures(answers, state)];
    const { value, took } = await inTime(measure(places, { ice, https }));
    assert.ok(took <= longest, `${name}: ${took} ms`);
    assert.deepEqual([ice.most, https.most], atOnce, name);
    assert.equal(value.length, 24);
    if (state === "answered") assert.ok(value.every((result) => result.state === state), name);
  }
});

test("a hostile survey has few places asked, each of them by the web's own ways", async () => {
  const [ice, https] = [measures(10), measures(10)];
  const { value } = await inTime(measure(many(1000, (i) => (i % 2 ? { url: `https://${i}.example/` } : {})), { ice, https, samples: 1e9 }));
  assert.equal(ice.asked.length + https.asked.length, 32);
  assert.equal(value.length, 1000);
  assert.ok(value.slice(32).every(({ state }) => state === "forbidden"));
  const server = web(30);
  const bad = ["http://a.example/", "javascript:alert(1)", "ftp://a.example/", "https://"].map((url, i) => venue(i, { url }));
  globalThis.fetch = server.ask;
  assert.ok((await inTime(measure(bad, { storage: storage() }))).value.every(({ state }) => state === "forbidden"));
  assert.equal(server.requests.length, 0);
});

test("a measurement that fails is forbidden, and a signal ends all of them", async () => {
  const fails = async () => {
    throw new Error("a fault");
  };
  assert.deepEqual((await inTime(measure(many(1), { ice: fails }))).value, [{ state: "forbidden", rtts_ms: [], sent: 0 }]);
  const ends = new AbortController();
  const measuring = measure(many(30), { ice: measures(99999, "lost"), signal: ends.signal });
  await passes(100);
  ends.abort();
  const { value, took } = await inTime(measuring);
  assert.ok(took < 50);
  assert.deepEqual([value.filter(({ state }) => state === "lost").length, value.filter(({ state }) => state === "forbidden").length], [24, 6]);
});

// ---- The browser as a peer ----------------------------------------------------------------------------------------

/** A host: its sockets, and what it heard on each. */
function host() {
  const sockets = [];
  class Socket {
    constructor(to) {
      this.to = to;
      this.heard = [];
      this.isClosed = false;
      sockets.push(this);
    }
    send(text) {
      this.heard.push(JSON.parse(text));
    }
    close() {
      this.isClosed = true;
    }
    /** Lets the page in. */
    opens(epoch = 1) {
      this.onopen();
      this.says({ type: "welcome", name: "anna", epoch });
    }
    says(message) {
      this.onmessage?.({ data: JSON.stringify(message) });
    }
  }
  return { Socket, sockets, last: () => sockets.at(-1) };
}

const joins = (more) => {
  const { Socket, sockets, last } = host();
  const news = [];
  const peer = start({ code: "BA-KODI", key: "thekey", name: "anna", ticket: "GUEST", url: "wss://host.example/peer", Socket, storage: storage(), onState: (state) => news.push(state), ...more });
  return { peer, sockets, last, news };
};
const survey = (attempt, more) => ({ type: "survey", attempt, places: many(4), samples: 5, ...more });

test("a browser says hello, measures when it is asked, and tells in batches", async () => {
  const asks = [];
  const measures = async (places, { samples, seen }) => {
    asks.push([places.length, samples]);
    for (const [i, ms] of [100, 200, 300, 400].entries()) {
      await new Promise((done) => musterTime.setTimeout(done, 100));
      seen(i, { state: "answered", rtts_ms: [ms], sent: 1 });
    }
  };
  const { peer, last, news } = joins({ measures });
  last().opens();
  const [{ token, ...hello }] = last().heard.splice(0);
  assert.deepEqual(hello, { type: "hello", version: 2, code: "BA-KODI", key: "thekey", name: "anna", as: "GUEST", browser: true });
  assert.match(token, /^[A-Z2-7]{26}$/);
  for (const message of [{ type: "room", people: [] }, { type: "look", game: "x" }, { type: "of-a-later-version" }]) last().says(message);
  last().onmessage({ data: new ArrayBuffer(3) });
  last().says(survey(3, { after_ms: 500 }));
  await passes(450);
  assert.deepEqual([asks, last().heard], [[], []]);
  await passes(600);
  assert.deepEqual(asks, [[4, 5]]);
  const said = last().heard;
  assert.ok(said.every(({ type, attempt }) => type === "surveyed" && attempt === 3));
  assert.deepEqual(said.map(({ more }) => more ?? false), [...said.slice(1).map(() => true), false]);
  assert.ok(said.length > 1 && said.length <= 4, `${said.length} batches`);
  assert.deepEqual(said.flatMap(({ places }) => places).map(({ server, state, rtts_ms, sent }) => [server, state, ...rtts_ms, sent]), [0, 1, 2, 3].map((i) => [i, "answered", 100 * i + 100, 1]));
  assert.deepEqual(news.at(-1), { state: "in", places: 4, seen: 4, answered: 4 });
  peer.stop();
  assert.ok(last().isClosed);
  assert.equal(news.at(-1).state, "ended");
});

test("a survey that comes again hears the results, and another one takes its place", async () => {
  const signals = [];
  const measures = async (places, { seen, signal }) => {
    signals.push(signal);
    for (const i of places.keys()) seen(i, { state: "lost", rtts_ms: [], sent: 5 });
    await new Promise((done) => musterTime.setTimeout(done, 400));
  };
  const { peer, sockets, last } = joins({ measures });
  last().opens();
  last().says(survey(1));
  await passes(300);
  last().onclose();
  await passes(300);
  assert.equal(sockets.length, 2);
  last().opens();
  assert.equal(last().heard[0].token, sockets[0].heard[0].token);
  await passes(500);
  assert.equal(last().heard.length, 1, "it tells what nobody asked it for");
  last().says(survey(1));
  await passes(300);
  assert.equal(signals.length, 1, "it measures twice");
  assert.deepEqual(last().heard.slice(1).map(({ attempt, places, more }) => [attempt, places.length, more]), [[1, 4, undefined]]);
  last().says(survey(2));
  await passes(50);
  last().says(survey(3));
  await passes(900);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true, false]);
  assert.deepEqual([...new Set(last().heard.slice(2).map(({ attempt }) => attempt))], [3]);
  peer.stop();
});

test("a browser comes back with growing pauses, and gives up where that does not help", async () => {
  const { peer, sockets, last, news } = joins();
  for (const pause of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
    const before = sockets.length;
    last().onclose();
    await passes(pause - 20);
    assert.equal(sockets.length, before, `it is back before ${pause} ms`);
    await passes(40);
    assert.equal(sockets.length, before + 1, `it is not back after ${pause} ms`);
  }
  for (const [reason, least, most] of [["limited", 4900, 5100], ["busy", 4900, 5100], ["moved", 0, 1100]]) {
    last().opens();
    const before = sockets.length;
    last().says({ type: "refused", reason });
    await passes(least);
    assert.equal(sockets.length, before, reason);
    await passes(most - least);
    assert.equal(sockets.length, before + 1, reason);
  }
  const n = sockets.length;
  last().says({ type: "refused", reason: "removed", says: { key: "refused.removed" } });
  await passes(20000);
  assert.equal(sockets.length, n);
  assert.deepEqual(news.at(-1), { state: "ended", places: 0, seen: 0, answered: 0, reason: "removed", says: { key: "refused.removed" }, advises: undefined });
  peer.stop();
});

test("a host that no longer has the room is left, and another one hears everything again", async () => {
  const { peer, sockets, last } = joins({ measures: async () => [] });
  last().opens(5);
  last().says({ type: "welcome", epoch: 6 });
  assert.deepEqual(last().heard.map(({ type }) => type), ["hello", "again"]);
  last().onclose();
  await passes(300);
  last().opens(4);
  assert.ok(last().isClosed);
  await passes(6000);
  assert.equal(sockets.length, 3);
  peer.stop();
  await passes(6000);
  assert.equal(sockets.length, 3);
});

test("without a storage the token lasts as long as the page", async () => {
  const broken = {
    getItem() {
      throw new DOMException("denied", "SecurityError");
    },
    setItem() {
      throw new DOMException("denied", "SecurityError");
    },
  };
  const { peer, sockets, last } = joins({ storage: broken });
  last().opens();
  last().onclose();
  await passes(300);
  last().opens();
  assert.match(last().heard[0].token, /^[A-Z2-7]{26}$/);
  assert.equal(last().heard[0].token, sockets[0].heard[0].token);
  peer.stop();
  await settles();
});
