// A room that looks for a place: the question, the measuring, the search, the vote and the place.

import assert from "node:assert/strict";
import test from "node:test";
import * as page from "./page.js";

const { all, asked, buttons, heard, live, one, press, shows, stage, tells, textOf, view } = page;
const { addressOf } = await import(new URL("../../web/static/places/address.js", import.meta.url).href);

/** The sockets that the page opened, with what it said on each. */
const sockets = [];
globalThis.WebSocket = class {
  constructor(url) {
    sockets.push(this);
    Object.assign(this, { url, said: [] });
  }
  send(text) {
    this.said.push(JSON.parse(text));
  }
  close() {}
};

/** The stage's words for a reader of a state. */
const told = async (...how) => textOf(await shows(...how));

test("who is asked sees first whose machines learn their address", async () => {
  const words = await told("place-gathering", "stranger", { door: "" });
  assert.equal(view.stage, "ask");
  assert.match(words, /^Where should our server stand\? .*7 machines will see your address Vultr 4 Hetzner 2 OVHcloud 1 They answer tests for anyone\./);
  assert.equal(one("#ask-name").value, "Friend 2");
  assert.deepEqual(buttons(), ["Your name", "Measure my pings", "Not now"]);
  assert.match(heard(), /7 machines will see your address/);
  await shows("place-gathering", "stranger", { door: "", offer: { version: "1", phone: true, programs: [] } });
  assert.deepEqual(buttons(), ["Your name", "Measure my pings", "Not now", "On my computer instead"]);
  assert.match(textOf("#elsewhere"), /The computer you play on may be somewhere else/);
  assert.match(await told("place-search", "stranger", { door: "" }), /^Where should our server stand\? anna asks all of you\./);
});

test("one press brings a stranger in, and starts to measure", async () => {
  await shows("place-gathering", "stranger", { door: "" });
  page.answers.to = (what) => (what === "enter" ? new Response(JSON.stringify({ name: "Friend 2", token: "theticket" })) : undefined);
  await press("[data-action=measure]");
  page.answers.to = undefined;
  assert.match(asked[0], /^enter\{"name":"Friend 2"/);
  assert.equal(textOf("#stage h1"), "Asking the places");
  const { people } = live.state;
  await tells({ you: { name: "Friend 2", guest: true, link: "http://192.0.2.99:8080/#BAKODI_k", join: "http://192.0.2.99:8080/#BAKODI_k~f.theticket" }, people: [...people, { name: "Friend 2", arrival: 1, guest: true, peer: false, connected: false, page: true, probed: 0, answered: 0 }] });
  const [socket] = sockets;
  assert.match(socket.url, /^ws:.*\/peer$/);
  socket.onopen();
  assert.equal(socket.said[0].browser, true);
  assert.equal(socket.said[0].name, "Friend 2");
  assert.equal(socket.said[0].as, "theticket");
  socket.onmessage({ data: JSON.stringify({ type: "welcome" }) });
  socket.onmessage({ data: JSON.stringify({ type: "refused", reason: "locked", says: { key: "refused.locked" } }) });
  await page.passes(100);
  assert.notEqual(textOf("#toast"), "");
});

test("a page that has measured comes back as what it was", async () => {
  sessionStorage.setItem("muster BAKODI measures", "THETOKEN");
  sockets.length = 0;
  const away = (state) => ({ ...state, people: state.people.map((person) => (person.name === "ben" ? { ...person, connected: false } : person)) });
  await shows("place-search", "ben", { change: away });
  assert.equal(sockets.length, 1);
  sockets[0].onopen();
  assert.deepEqual([sockets[0].said[0].name, sockets[0].said[0].token], ["ben", "THETOKEN"]);
  view.seek.peer.stop();
  await shows("place-search", "ben"); // in another tab
  assert.equal(sockets.length, 1);
  sessionStorage.removeItem("muster BAKODI measures");
});

/** The reader measures: some places have answered. */
async function measures(name, pings, how = {}) {
  await shows(name, "stranger", { door: "", ...how });
  const results = new Map(Object.entries(pings).map(([place, ms]) => [place, ms ? { state: "answered", rtts_ms: [ms + 3, ms], sent: 2 } : { state: "lost", rtts_ms: [], sent: 2 }]));
  view.seek = { wants: false, declined: false, peer: { stop() {} }, results, asked: new Set(live.state.places.candidates.map(({ name }) => name)), isOver: false, counting: "", isSettingUp: false };
  view.changed();
  await page.passes(4000);
}

test("the answers are counted as they come, the nearest by name", async () => {
  await measures("place-gathering", { Frankfurt: 84, Amsterdam: 79, London: 72, Ashburn: 14, Paris: 78, Tokyo: 0 });
  assert.equal(textOf("#stage .so-far"), "5 of 7 have answered");
  assert.equal(all("#stage .ticks i").length, 7);
  assert.equal(all("#stage .ticks .on").length, 5);
  assert.deepEqual(all("#stage .nearest li").map(textOf), ["Ashburn Hetzner 14 ms", "London Vultr 72 ms", "Paris OVHcloud 78 ms", "Amsterdam Vultr 79 ms"]);
  assert.equal(heard(), "5 of 7 have answered.");
});

test("who says not now is counted in by an estimate, as soon as there is one", async () => {
  await shows("place-gathering", "zoe");
  await press("[data-action=not-now]");
  assert.equal(view.stage, "search");
  assert.match(textOf(stage), /Nobody has measured yet\. You don’t count yet: nobody knows your pings\. Measure my pings/);
  assert.deepEqual(asked.filter((one) => one.startsWith("count")), []);
  await tells({ people: live.state.people.map((person) => (person.name === "zoe" ? { ...person, estimate: { error_ms: 12 } } : person)) });
  await tells({ people: live.state.people.map((person) => ({ ...person })) });
  assert.deepEqual(asked.filter((one) => one.startsWith("count")), ['count{"name":"zoe","counted":true}']);
  await tells({ people: live.state.people.map((person) => (person.name === "zoe" ? { ...person, estimate: { error_ms: 12, counted: true } } : person)) });
  assert.match(textOf("#stage .mine"), /^Your pings are estimated\. Measure my pings/);
});

test("the search says who has measured, and what is estimated", async () => {
  const words = await told("place-declined", "anna");
  assert.match(words, /^Looking for the place that suits you all 67 ms on average in Frankfurt anna and ben have measured\. chong: 3 of 7 so far\. dave said not now: estimated, and can be 10 ms off\./);
  assert.match(textOf("#stage .podium"), /1 Frankfurt .*Vultr, and 2 more there 67 ms average/);
  assert.match(textOf("#stage .rank1 .guess"), /dave ?≈ 15 ms/);
  assert.equal(document.title, "Looking for the place that suits you all – Friday night – Muster");
  assert.deepEqual(buttons(), ["Choose now", "Invite"]);
  await press("[data-action=go]");
  assert.deepEqual(asked, ['go{"stage":"refining"}']);
  await shows("place-declined", "ben");
  assert.deepEqual(buttons(), ["Invite"]);
  assert.doesNotMatch(await told("place-search", "anna"), /suits everybody|No place/);
});

test("a wall is never asked", async () => {
  for (const name of ["place-gathering", "place-search", "place-declined", "place-chosen"]) {
    await shows(name, "stranger", { tv: true });
    assert.notEqual(view.stage, "ask", name);
    assert.deepEqual(buttons(), [], name);
  }
});

test("the vote is about places", async () => {
  const words = await told("place-vote", "ben");
  assert.match(words, /^Where should our server stand\? One place is best in every way\./);
  assert.match(words, /Frankfurt Germany · Vultr, and 2 more there/);
});

test("the place: what it beats, who has machines there, and who gets it ready", async () => {
  const words = await told("place-chosen", "ben");
  assert.equal(view.stage, "placed");
  assert.match(words, /^Host it in Frankfurt.*Germany.* It beats Amsterdam by 1 ms, Paris by 3 ms and London by 5 ms\. Rent a machine there from any of these; we measured the first\. ✓ Vultr measured Akamai AWS A anna gets it ready\. Then we play\./);
  assert.equal(document.title, "Host it in Frankfurt – Friday night – Muster");
  assert.equal(all("[data-action=set-up]").length, 0);
  assert.match(await told("place-crowd-chosen", "ben"), /It beats Amsterdam by 1 ms, London by 13 ms/);
});

test("the organiser sets a server up, and gives its address", async () => {
  page.answers.to = (what) => (what === "minecraft" ? new Response(JSON.stringify({ game: "minecraft", name: "Minecraft", grade: "C", open: ["25565/tcp"] })) : undefined);
  await shows("place-chosen", "organiser");
  await press("[data-action=set-up]");
  await page.until(() => textOf("#stage h1").includes("Minecraft"));
  assert.equal(textOf("#stage h1"), "Set up Minecraft in Frankfurt");
  await page.sends("#recipe-address", "my server");
  assert.deepEqual(asked.filter((one) => one.startsWith("started")), []);
  assert.match(textOf("#toast"), /That’s no address/);
  await page.sends("#recipe-address", " 203.0.113.7 ");
  assert.deepEqual(asked.filter((one) => one.startsWith("started")), ['started{"game":"minecraft","addr":"203.0.113.7:25565"}']);
  assert.match(textOf("#stage h1"), /Host it in/); // until everybody knows the address
  await press("[data-action=set-up]");
  await press("[data-action=set-down]");
  assert.match(textOf("#stage h1"), /Host it in/);
  page.answers.to = undefined;
});

test("once the address is there, everybody goes", async () => {
  const words = await told("place-ready", "ben");
  assert.match(words, /^Everyone to Frankfurt .*203\.0\.113\.7:25565/);
  assert.ok(all("#stage .of-place.is-ready").length === 1);
  assert.equal(document.title, "Everyone to Frankfurt – Friday night – Muster");
  await shows("place-ready", "organiser");
  assert.ok(buttons().includes("Another address"));
});

test("addresses as people paste them", () => {
  for (const [text, port, want] of [
    ["203.0.113.7:25565", undefined, "203.0.113.7:25565"], [" 203.0.113.7 ", 25565, "203.0.113.7:25565"], ["steam://203.0.113.7:27015/x", undefined, "203.0.113.7:27015"],
    ["[2001:db8::7]:9987", undefined, "[2001:db8::7]:9987"], ["2001:db8::7", 9987, "[2001:db8::7]:9987"],
    ["203.0.113.7", undefined, /port is missing/], ["203.0.113.7:99999", undefined, /port is missing/], ["play.example.org:25566", 1, "play.example.org:25566"], ["minecraft://play.example.org/", 25565, "play.example.org:25565"], ["1.2.3", 1, /no address/], ["1.2.3.400", 1, /no address/], ["localhost", 1, /no address/], ["a b.example.org", 1, /no address/], ["", 1, /no address/], ["<b>", 1, /no address/],
  ]) {
    if (want instanceof RegExp) assert.throws(() => addressOf(text, port), { message: want }, text);
    else assert.equal(addressOf(text, port), want, text);
  }
});

test("nobody reads the address under which a place stands in lists", async () => {
  for (const name of page.names.filter((name) => name.startsWith("place-"))) {
    for (const reader of ["organiser", "stranger"]) {
      await shows(name, reader, {});
      await page.unfolds();
      assert.doesNotMatch(textOf(document.body), /2001:db8/, `${name} as ${reader}`);
      assert.doesNotMatch(document.title, /2001:db8/);
    }
  }
  await shows("place-chosen", "organiser");
  await page.unfolds();
  assert.match(textOf("#evening"), /Host it in Frankfurt/);
});

