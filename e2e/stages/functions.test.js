// Functions of the page's modules: what they return follows from their arguments alone.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import "./page.js";

const statics = new URL("../../web/static/", import.meta.url);
/** @param {string} module */
const of = (module) => import(new URL(`${module}.js`, statics).href);
const json = (path) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));

const { stageOf, unheard } = await of("stages/stages");
const { podium, counted } = await of("stages/pace");
const { seenAt } = await of("stages/moment");
const { fitting } = await of("stages/fit");
const { awards } = await of("awards");
const { posterOf } = await of("poster");
const { pictureOf } = await of("souvenir");
const { fitted, someWay, turned } = await of("map/lay");
const { wayTo } = await of("map/projection");
const { placeOf } = await of("map/world");
const { labelled, overlap } = await of("map/labels");
const { heaped, ticksFor } = await of("map/heap");
const { standing } = await of("map/table");
const { Clouds } = await of("trace");
const { meant } = await of("which");
const estimate = await of("estimate");

test("the stage follows from the phase, and from whether this page showed the search", () => {
  const now = musterTime.now();
  const unseen = { searched: 0, revealed: 0 };
  const saw = { searched: 3, revealed: 2 };
  const knows = { searched: 3, revealed: 3 };
  for (const [name, choice, seen, want, more] of [
    ["gathering", null, unseen, "lobby"],
    ["listing", null, unseen, "search"],
    ["measuring", null, saw, "search"],
    ["coordinating", null, saw, "search"],
    ["verifying", {}, saw, "search"], // everyone measures the best again
    ["voting", {}, saw, "vote"], // nothing is revealed before it is decided
    ["voting", {}, unseen, "vote"],
    ["banning", {}, saw, "ban", { match: { turn: { number: 1 } } }],
    ["banning", {}, knows, "ban", { match: { decided: true } }], // after the last move nobody searches
    ["reveal", {}, saw, "reveal"],
    ["reveal", {}, unseen, "reveal"], // who comes late sees where it stands
    ["reveal", {}, saw, "reveal", { match: { decided: true } }],
    ["countdown", {}, saw, "countdown"],
    ["countdown", {}, unseen, "countdown", { match: { decided: true } }],
    ["launching", {}, saw, "reveal"], // of a room without a countdown
    ["launching", {}, knows, "go"],
    ["launching", {}, unseen, "go"],
    ["launching", null, saw, "go"], // after a restart of the host
    ["failed", null, saw, "failed"],
    ["waiting", {}, saw, "seats", { seats: { need: 5 } }],
    ["waiting", {}, saw, "countdown", { seats: { need: 5, launch_at: new Date(now).toISOString() } }],
    ["launching", {}, saw, "night", { ended: true }],
  ]) {
    const { ended, ...others } = more ?? {};
    const state = { now, heard: now, phase: { name, since_ms: 0 }, room: { round: 3, ended }, choice, agreement: {}, ...others };
    assert.equal(stageOf(state, seen), want, JSON.stringify([state, seen]));
  }
});

test("places on the podium change at most once a second and all together; an empty place is filled at once", () => {
  let on = { round: 0, leaders: [], since: 0 };
  const seen = [[1, "ab", 5000], [1, "abc", 5100], [1, "bac", 5200], [1, "cab", 5900], [1, "cab", 6000], [1, "bca", 6900], [1, "cba", 7000], [2, "d", 7100], [2, "", 7200], [2, "", 8100]]
    .map(([round, ids, now]) => (on = podium(on, round, [...ids].map((id) => ({ id, now })), now)).leaders.map(({ id, now }) => id + now).join(" "));
  assert.deepEqual(seen, ["a5000 b5000", "a5100 b5100 c5100", "a5100 b5100 c5100", "a5100 b5100 c5100", "c6000 a6000 b6000", "c6000 a6000 b6000", "c7000 b7000 a7000", "d7100", "d7100", ""]);
});

test("a figure counts from its old value to the new one", () => {
  assert.deepEqual([0, 140, 280, 900].map((ms) => counted(97, 47, ms)), [97, 53, 47, 47]);
});

test("an announcement leaves out what was just announced", () => {
  for (const [text, heard, left] of [
    ["Good night", "", "Good night"],
    ["Everyone is measuring", "Everyone is measuring", ""],
    ["Where shall we play? No votes yet. 0 of 2 are ready.", "Where shall we play?", "No votes yet. 0 of 2 are ready."],
    ["Where shall we play? No votes yet. 1 of 2 is ready.", "Where shall we play? No votes yet. 0 of 2 are ready.", "1 of 2 is ready."],
    ["Tonight’s spot: Canada. We play on q3.example: 9 ms for you.", "Tonight’s spot: Canada \u{1F1E8}\u{1F1E6}", "We play on q3.example: 9 ms for you."],
    ["どこで遊ぶ？まだ投票はありません。2人中1人が準備完了です。", "どこで遊ぶ？", "まだ投票はありません。2人中1人が準備完了です。"],
  ]) assert.equal(unheard(text, [heard]), left, text);
});

test("a reveal shows each thing in its turn, the nearest spoke first, and all of it at the end", () => {
  const seen = (ms, spokes = 3) => {
    const { dim, pin, turn, spokes: all, place, name, pings, over } = seenAt(ms, spokes);
    return [dim, pin, turn, all.join(" "), place, name, pings, over].map(String).join(", ");
  };
  for (const [ms, want] of [ // eased: half of the time shows seven eighths
    [-50, "0, 0, 0, 0 0 0, 0, 0, 0, false"],
    [0, "0, 0, 0, 0 0 0, 0, 0, 0, false"],
    [200, "0.5, 0, 0, 0 0 0, 0, 0, 0, false"],
    [400, "1, 0, 0, 0 0 0, 0, 0, 0, false"],
    [800, "1, 1, 0, 0 0 0, 0, 0, 0, false"],
    [1500, "1, 1, 0.875, 0 0 0, 0, 0, 0, false"],
    [2200, "1, 1, 1, 0 0 0, 0, 0, 0, false"],
    [2330, "1, 1, 1, 0.875 0 0, 0, 0, 0, false"],
    [2740, "1, 1, 1, 1 1 0, 0, 0, 0, false"],
    [3000, "1, 1, 1, 1 1 1, 0, 0, 0, false"],
    [3400, "1, 1, 1, 1 1 1, 1, 0, 0, false"],
    [3800, "1, 1, 1, 1 1 1, 1, 1, 0, false"],
    [4000, "1, 1, 1, 1 1 1, 1, 1, 0.5, false"],
    [4199, "1, 1, 1, 1 1 1, 1, 1, 0.9975, false"],
    [4200, "1, 1, 1, 1 1 1, 1, 1, 1, true"],
    [1e9, "1, 1, 1, 1 1 1, 1, 1, 1, true"],
  ]) assert.equal(seen(ms), want, `after ${ms} ms`);
  assert.equal(seen(3000, 0), "1, 1, 1, , 0, 0, 0, false");
  assert.equal(seen(2460, 1), "1, 1, 1, 1, 0, 0, 0, false");
});

test("a title becomes narrower first, then has two lines, then becomes smaller", () => {
  const fit = (long, word) => {
    const { stretch, size, breaks } = fitting((stretch, size, lines) => word * stretch * size <= 100 && (long * stretch * size) / lines <= 100);
    return `${stretch} ${size}${breaks ? " breaks" : ""}`;
  };
  assert.deepEqual([fit(0.5, 0.5), fit(1, 1), fit(1.5, 0.8), fit(3, 1.4), fit(9, 9)], ["118 1", "98 1", "118 1", "75 0.88", "75 0.4 breaks"]);
});

test("awards are facts, at most one a player and six in all; a kind whose best player has one already is left out", () => {
  const everyone = (names) => names.map((name, arrival) => ({ name, arrival }));
  const round = (connect, rtt_ms) => ({ server: connect, connect, players: Object.keys(rtt_ms), rtt_ms });
  const far = { ann: 400, bob: 9000, cat: 15100 };
  const km = (_, player) => far[player];
  const given = (...of) => awards(...of).map(({ kind, player, ms, km: how, server }) => [kind, player, ms ?? how ?? server].filter(Boolean).join(" ")).join(", ");
  assert.equal(given([], everyone(["ann", "bob"]), km, []), "first ann"); // nothing was measured
  assert.equal(given([round("x", { ann: 9 })], everyone(["ann"]), km, []), "nearest ann 9");
  assert.equal(given([round("x", { ann: 9, bob: 80 })], everyone(["ann", "bob"]), km, []), "nearest ann 9, longest bob 9000");
  assert.equal(given([round("x", { ann: 9, bob: 80, cat: 231 })], everyone(["ann", "bob", "cat"]), km, []), "nearest ann 9, longest cat 15100");
  assert.equal(
    given([round("x", { ann: 9, bob: 80, cat: 231, dan: 50, eve: 60 }), round("y", { ann: 20, bob: 90, cat: 99, dan: 51, eve: 80 })], everyone(["eve", "ann", "bob", "cat", "dan"]), km, [{ addr: "y", by: ["bob", "ann"] }, { addr: "z", by: ["dan"] }]),
    "nearest ann 9, longest cat 15100, steady dan 1, home bob y, first eve",
  );
  assert.equal(given([round("x", { ann: 9.1, bob: 9.4 })], everyone(["ann", "bob"]), () => undefined, []), "nearest ann 9.1, patient bob 9.4");
  assert.equal(given([round("x", { ann: 9, zoe: 2 })], everyone(["ann"]), () => undefined, []), "nearest ann 9"); // zoe is no player
});

/** The text of an SVG picture that has only shapes and text, and is XML: a small parser, stricter than XML's. @param {string} picture */
function drawn(picture) {
  const shapes = new Set(["svg", "title", "rect", "circle", "path", "g", "text", "tspan", "defs", "radialGradient", "linearGradient", "stop", "clipPath", "style"]);
  const open = [];
  let text = "";
  let rest = picture;
  assert.doesNotMatch(picture, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  assert.ok(picture.isWellFormed?.() ?? true, "half a letter");
  while (rest !== "") {
    const [whole, closes, name, attributes, isEmpty] = /^<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/.exec(rest) ?? [];
    if (!whole) {
      const [words] = /^[^<]+/.exec(rest) ?? [];
      assert.ok(words, `no markup: ${rest.slice(0, 80)}`);
      assert.doesNotMatch(words, /&(?!(lt|gt|amp|quot|apos|#\d+|#x[0-9a-f]+);)/i);
      text += `${words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&")}\n`;
      rest = rest.slice(words.length);
      continue;
    }
    assert.ok(shapes.has(name), `an element ${name}`);
    assert.doesNotMatch(attributes, /\s(on\w+|href|xlink:href|style)=/);
    if (closes) assert.equal(open.pop(), name);
    else if (!isEmpty) open.push(name);
    rest = rest.slice(whole.length);
  }
  assert.deepEqual(open, []);
  return text;
}

const strange = ["<script>alert(1)</script>", '"/><image href="http://192.0.2.1/x"/>', "]]>&amp;<!--", "a\u0000b\u001b[2J\u202eevil\ufffe", "Z\u0301\u0327".repeat(400), "\ud800", "\udfff lone", "🦊👩‍👩‍👧‍👦", "مرحبا", "名前名前名前名前名前", "\ufffd", "", "W".repeat(99), "'onload='alert(1)"];

test("the picture that people share is well-formed for all names, loads nothing, and marks estimates", () => {
  const longest = 20_000; // letters, of a picture of 16 people
  for (const name of strange) {
    const picture = pictureOf({ game: name, server: name, country: name, mean: 58, people: Array.from({ length: 20 }, (_, i) => ({ name, arrival: i, ms: i * 30, estimated: i === 2 })) });
    const text = drawn(picture);
    assert.ok(picture.length <= longest, `${picture.length} letters`);
    assert.ok(text.includes("≈ 60 ms") && !text.includes("≈ 30 ms") && text.includes("and 4 more"), text.slice(0, 300));
  }
  drawn(pictureOf({ game: "", server: "", country: "", mean: 0, people: [] }));
  drawn(pictureOf({ game: "", server: "one", country: "", mean: 0, people: [{ name: "ann", arrival: 0, ms: 1e9, estimated: false }] }));
  drawn(pictureOf({ game: "\ud800", server: "\udfff lone", country: "", mean: NaN, people: [] }));
  assert.ok(drawn(pictureOf({ game: "", server: strange[0], country: "", mean: 58, people: [] })).includes("<script"), "a name is not shown as it is");
});

test("the poster is well-formed for all names, and has none if people want none", () => {
  const longest = 40_000; // letters
  for (const [i, name] of strange.entries()) {
    const picture = posterOf({
      title: name, date: name, game: name, nameless: i % 2 === 1,
      people: Array.from({ length: 20 }, (_, arrival) => ({ name, arrival, guest: arrival > 17 })),
      stops: Array.from({ length: 7 }, (_, n) => ({ time: `20:1${n}`, flag: "", server: name, country: name, own: name, mean: 97, people: [{ name, arrival: 0, ms: 9, estimated: false }] })),
      chart: i % 3 ? null : { land: "M0 0H9", borders: "", stops: [{ x: 1, y: 2 }, null], people: Array.from({ length: 20 }, () => ({ x: 5, y: 5 })), ways: [{ stop: 0, person: 1 }, { stop: 1, person: 2 }] },
    });
    drawn(picture);
    assert.ok(picture.length <= longest, `${picture.length} letters`);
  }
  drawn(posterOf({ title: "Friday", date: "", game: "", people: [], stops: [] }));
  const text = drawn(posterOf({ title: "Friday", date: "", game: "", nameless: true, people: [{ name: "Hildegard", arrival: 0 }], stops: [{ time: "", flag: "", server: "den", country: "Peru", own: "Hildegard", mean: 1, people: [{ name: "Hildegard", arrival: 0, ms: 1, estimated: false }] }] }));
  assert.ok(text.includes("den") && !/Hild|^H$/m.test(text), text);
});

/** The signs around a server: where they stand, their size and the room. */
test("around a server no sign stands on another or on its spoke, and all are in the room that there is", () => {
  const world = ["NL", "US", "MY", "US", "DE", "BR", "JP", "ZA", "AU", "GB", "SE", "FR", "IN", "CL", "PL", "KR"];
  const near = ["NL", "DE", "FR", "BE", "GB", "DK", "CH", "AT"];
  const room = { left: 190, right: 800, top: 90, bottom: 830 };
  const from = (home, codes) => codes.map((code) => (code === "?" ? someWay(80) : wayTo(placeOf(home), placeOf(code))));
  for (const n of [2, 4, 8, 16]) for (const [what, ways] of [["world", from("US", world.slice(0, n))], ["near", from("NL", [...near, ...near].slice(0, n))], ["nowhere", from("JP", new Array(n).fill("?"))]]) {
    const { x, y, size, scale, stands } = fitted(ways, room, 48);
    const where = `${what} ${n}`;
    assert.ok(x >= 190 && x <= 800 && y >= 90 && y <= 830 && scale > 0, `${where}: the server is at ${x}, ${y}`);
    for (const [i, one] of stands.entries()) {
      assert.ok(one.x + x >= 189 && one.x + x <= 801 && one.y + y >= 89 && one.y + y <= 831, `${where}: sign ${i} stands beyond the room`);
      for (const [j, other] of stands.entries()) {
        if (i === j) continue;
        assert.ok(Math.hypot(one.x - other.x, one.y - other.y) >= size, `${where}: signs ${i} and ${j} touch`);
        const along = Math.cos(one.turn - other.turn) * one.r;
        const off = Math.abs(Math.sin(one.turn - other.turn)) * one.r;
        assert.ok(!(along > 0 && along < other.r && off < size / 2), `${where}: the spoke of ${j} runs beside sign ${i}`);
      }
    }
  }
});

test("spokes keep their order and directions where there is room, and move apart where there is none", () => {
  const degrees = (all) => turned(all.map((one) => (one === null ? { angle: 1 } : { angle: 1, bearing: (one * Math.PI) / 180 }))).map((turn) => Math.round((turn * 180) / Math.PI)).join(" ");
  assert.deepEqual([degrees([0, 90, 200]), degrees([10, 14]), degrees([50, 50, 50]), degrees([0, 90, null]), degrees([350, 4]), degrees([])], ["0 90 200", "4 20", "34 50 66", "0 90 225", "349 5", ""]);
});

test("words beside signs cover nothing, stay within the picture, and are left out unless they must be there", () => {
  const room = { left: 190, right: 800, top: 90, bottom: 830 };
  const whole = { left: 20, right: 860, top: 20, bottom: 890 };
  const { x, y, size, stands } = fitted(["NL", "US", "MY", "DE", "BR", "JP", "ZA", "AU"].map((code) => wayTo(placeOf("CA"), placeOf(code))), room, 44);
  const at = stands.map((one) => ({ x: one.x + x, y: one.y + y }));
  const words = at.map(() => ({ width: 90, height: 40 }));
  const boxes = labelled({ x, y }, at, size, words, whole).flatMap((place) => (place ? [{ left: place.x - (place.anchor === "start" ? 0 : place.anchor === "middle" ? 45 : 90), top: place.y - 20 }] : [])).map((box) => ({ ...box, right: box.left + 90, bottom: box.top + 40 }));
  const signs = at.map((sign) => ({ left: sign.x - size / 2.2, right: sign.x + size / 2.2, top: sign.y - size / 2.2, bottom: sign.y + size / 2.2 }));
  for (const [i, box] of boxes.entries()) {
    assert.ok([...boxes.slice(0, i), ...signs].every((other) => overlap(box, other) <= 0), `words ${i} cover something`);
    assert.ok(box.left >= 20 && box.right <= 860 && box.top >= 20 && box.bottom <= 890, `words ${i} are beyond the picture`);
  }
  const tight = [{ x: 30, y: 30 }, { x: 31, y: 31 }, { x: 32, y: 30 }];
  const small = { left: 0, right: 60, top: 0, bottom: 60 };
  const crowd = (must) => labelled({ x: 30, y: 50 }, tight, 20, tight.map(() => ({ width: 50, height: 20 })), small, { whole: must }).filter(Boolean).length;
  assert.ok(crowd(false) <= 1);
  assert.equal(crowd(true), 3);
});

test("signs on the ping line are heaped where they would touch, the nearest at the bottom", () => {
  assert.deepEqual(heaped([44, 9, 12, 247, 15], 300, 600, 30), [{ x: 88, level: 0 }, { x: 18, level: 0 }, { x: 24, level: 1 }, { x: 494, level: 0 }, { x: 30, level: 2 }]);
  assert.deepEqual([3, 97, 247, 960].map((ms) => ticksFor(ms).join(" ")), ["0 5", "0 25 50 75 100", "0 100 200 300", "0 250 500 750 1000"]);
});

test("a sign on its way is at home, half way or at the table, and half way nobody stands on another", () => {
  const homes = [{ x: 0, y: 100 }, { x: 300, y: 0 }, { x: 20, y: 300 }, { x: 24, y: 310 }];
  const seats = [{ x: 0, y: 20 }, { x: 20, y: 0 }, { x: 0, y: 20 }, { x: 4, y: 26 }];
  const [home, there, one, other] = standing(homes, seats, ["home", "in", "half", "half"], 40);
  assert.equal(home.share, 0);
  assert.equal(there.share, 1);
  assert.notEqual(one.share, other.share);
  assert.ok(Math.hypot(one.x - other.x, one.y - other.y) >= 40 && Math.hypot(one.x - home.x, one.y - home.y) >= 40);
});

test("the decoder of traces ends on corrupted frames, and keeps no more than a frame has bytes for", () => {
  const varint = (n) => (n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))]);
  const whole = [...varint(3), ...Buffer.from("ann"), 1, ...[1, 0, 0, 200].flatMap(varint), ...Array.from({ length: 200 }, (_, i) => [3000 + (i % 3), (i * 14) % 200, i % 4 === 0 ? 0 : 3 + ((i * 7) % 300)].flatMap(varint)).flat()];
  const clouds = new Clouds();
  clouds.read(new Uint8Array(whole).buffer);
  assert.equal(clouds.of("ann").length, 200);
  let seed = 1;
  const random = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
  for (let i = 0; i < 20_000; i++) {
    let frame = whole.slice(0, random(whole.length + 1));
    for (let n = random(8); n > 0 && frame.length > 0; n--) frame[random(frame.length)] = random(256);
    if (random(4) === 0) frame = [...frame.slice(0, 4 + random(8)), ...new Array(random(400)).fill(255)]; // the longest numbers where the counts are
    const broken = new Clouds();
    broken.read(new Uint8Array(frame).buffer);
    for (const cloud of broken.byPlayer.values()) {
      assert.ok(cloud.length <= frame.length / 3, `${cloud.length} points of ${frame.length} bytes`);
      for (let at = 0; at < cloud.length; at++) if (!Number.isFinite(cloud.time[at]) || !Number.isFinite(cloud.rtt[at])) assert.fail(`a point at ${cloud.time[at]}, ${cloud.rtt[at]}`);
      cloud.sorted();
    }
  }
});

test("the page ranks games as the program does, by the same table", () => {
  const { games, texts } = json("internal/game/testdata/which.json");
  for (const { text, games: want } of texts) assert.deepEqual(meant(games, text).map(({ id }) => id), want, text);
});

test("the page says sentences as the terminal does: the catalogue's package reads the same cases", async () => {
  const cases = json("internal/catalogue/testdata/cases.json");
  const here = location.href;
  let said = 0;
  for (const tag of document.documentElement.dataset.languages.split(" ")) {
    history.replaceState(null, "", here.replace(/lang=[\w-]+/, `lang=${tag}`));
    const { filled, language } = await import(new URL(`say.js?${tag}`, statics).href);
    assert.equal(language, tag);
    for (const { pattern, with: args = {}, language: of = "en", want } of cases) {
      if (of !== tag) continue;
      assert.equal(filled(pattern, args), want, `${tag}: ${pattern}`);
      said++;
    }
  }
  history.replaceState(null, "", here);
  assert.equal(said, cases.length);
});

test("people read whether a ping is estimated by others' or by what the browser measured", () => {
  const keyOf = (estimated) => estimate.standing({ estimate: estimated })?.key;
  assert.equal(keyOf(undefined), undefined);
  assert.equal(keyOf({ counted: false, error_ms: 6, measured: true }), undefined);
  assert.equal(keyOf({ counted: true, error_ms: 12 }), "estimate.counts");
  assert.equal(keyOf({ counted: true, error_ms: 6, measured: true }), "estimate.counts-measured");
  assert.equal(keyOf({ counted: true, error_ms: 6, measured: true, why: { key: "estimate.none-suits" } }), "estimate.left-out");
});
