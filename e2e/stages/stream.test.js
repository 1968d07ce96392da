// The page as it lives: its connection, its tab, its announcements, and copying.

import assert from "node:assert/strict";
import test from "node:test";
import { all, answers, asked, heard, live, one, passes, press, settles, shows, tableOf, tells, textOf, view } from "./page.js";

test("a lost connection is told after a while, with when the page last heard, and over at once", async () => {
  await shows("gathering", "anna");
  assert.ok(one("#banner").hidden);
  live.lost();
  await passes(1000);
  assert.ok(one("#banner").hidden, "a short interruption shows");
  await passes(5000);
  assert.match(textOf("#banner"), /^Lost the connection to the host/);
  assert.ok(document.body.classList.contains("stale"));
  await tells({});
  assert.ok(one("#banner").hidden && !document.body.classList.contains("stale"));
});

test("a room whose host is away for a moment says why everything waits, and keeps what it shows", async () => {
  await shows("gathering", "anna");
  live.receive('{"type":"wait","message":"the host keeps nothing just now: everything waits"}');
  await settles();
  assert.equal(textOf("#stage .next"), "zoe has no program yet.");
  await shows("gathering-alone", "anna");
  live.receive('{"type":"wait","message":"the host keeps nothing just now: everything waits"}');
  await settles();
  assert.equal(textOf("#stage .next"), "The host keeps nothing just now: everything waits.");
  await passes(6000);
  assert.ok(!document.body.classList.contains("stale"), "the page calls its connection lost");
  await tells({});
  assert.doesNotMatch(textOf("#stage .next"), /everything waits/);
});

test("a page that gave way, or is refused for a while, says so", async () => {
  await shows("gathering", "anna");
  for (const [reason, says] of [["limited", /./], ["crowded", /./]]) {
    live.receive(JSON.stringify({ type: "refused", reason }));
    await settles();
    assert.match(textOf("#banner"), says, reason);
    assert.ok(!one("#banner").hidden, reason);
  }
});

test("the page of a closed room says so, and asks no more", async () => {
  await shows("gathering", "stranger");
  live.receive('{"type":"refused","reason":"closed"}');
  await settles();
  assert.equal(live.connection, "gone");
  assert.equal(live.retry, 0);
  assert.match(textOf("#banner"), /BAKODI/);
  await shows("gathering", "anna");
  live.receive('{"type":"refused","reason":"closed","says":{"key":"refused.operator-rules"},"advises":{"key":"refused.operator-rules-hint"}}');
  await settles();
  assert.equal(textOf("#banner"), "This host’s operator has closed the room, because it breaks the host’s rules. The operator can tell you more.");
  await shows("night", "anna");
  live.lost();
  assert.equal(live.connection, "over");
  await settles();
  assert.ok(one("#banner").hidden);
});

test("a hidden tab shows news in its title, without a frame", async () => {
  await shows("gathering-nobody", "stranger");
  assert.match(document.title, /^Waiting for the first player/);
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  live.receive(JSON.stringify({ type: "state", people: tableOf("gathering-alone").state.people }));
  assert.equal(document.title, "1 player here – Friday night – Muster");
  delete document.hidden;
  await settles();
});

test("the page says whether it copied, with a clipboard and without", async () => {
  for (const [writes, old, says] of [
    [async () => {}, () => false, "Copied."],
    [async () => Promise.reject(new Error("no")), () => true, "Copied."],
    [async () => Promise.reject(new Error("no")), () => false, /copy it yourself/],
  ]) {
    await shows("gathering-nobody", "stranger");
    Object.defineProperty(navigator, "clipboard", { value: { writeText: writes }, configurable: true });
    document.execCommand = old;
    await press("#invite [data-copy=join-line]");
    await settles();
    if (typeof says === "string") assert.equal(textOf("#toast"), says);
    else assert.match(textOf("#toast"), says);
  }
  await passes(8100);
  assert.equal(textOf("#toast"), "");
});

test("what the room refuses is told in its words, with a capital", async () => {
  await shows("gathering", "anna");
  answers.to = () => Response.json({ says: { key: "plain", with: { text: "<b>the list is under way" } } }, { status: 409 });
  await press("#stage [data-action=go]");
  answers.to = undefined;
  assert.equal(textOf("#toast"), "<b>the list is under way.");
  assert.equal(asked.length, 1);
});

/** Plays a session in front of a player, a state after the other, and returns what a screen reader hears: announcements, and titles that get the focus as “# title”. */
async function session(states, reader) {
  const said = [];
  let last = "";
  let focused = null;
  const listen = () => {
    const title = document.activeElement?.tagName === "H1" ? document.activeElement : null;
    if (title && title !== focused) said.push(`# ${textOf(title)}`);
    focused = title;
    if (heard() !== last && heard() !== "") said.push(heard());
    last = heard();
  };
  await shows(states[0], reader);
  listen();
  for (const name of states.slice(1)) {
    const { state, readers } = tableOf(name);
    await tells({ ...state, ...readers[reader], now: live.now() });
    for (let i = 0; i < 8; i++) {
      await passes(800);
      listen();
    }
  }
  return said;
}

test("a session is heard in its order: each stage once, nothing twice in a row, no running figures, no addresses", async () => {
  const said = await session(["gathering", "listing", "measuring", "verifying", "voting", "voting-voted", "launching", "launching-mixed", "launching-again", "night"], "anna");
  for (const [i, text] of said.entries()) {
    assert.match(text, /\p{L}{2}/u);
    assert.doesNotMatch(text, /\d+\.\d+\.\d+\.\d+/);
    if (i > 0) assert.notEqual(text, said[i - 1]);
  }
  const all = said.join("\n");
  assert.match(all, /4 players here[^]*Everyone is measuring[^]*Double-checking[^]*Where shall we play\?[^]*Germany leads with 2 votes[^]*Tonight[^]*Your game opens[^]*You’re on the way[^]*Good night[^]*anna closed the room/);
  for (const [words, most] of [["Everyone is measuring", 1], ["Where shall we play?", 1], ["You’re on the way", 2], ["Good night", 1]]) assert.ok(all.split(words).length - 1 <= most, `${words} in\n${all}`);
});

test("a new stage moves the focus to its title, and leaves it to people who are elsewhere", async () => {
  await shows("gathering", "anna");
  one("#stage [data-action=go]").focus();
  const { state } = tableOf("measuring");
  await tells({ ...state, now: live.now() });
  await passes(100);
  assert.equal(document.activeElement.tagName, "H1");
  one("#sound").focus();
  await tells({ ...tableOf("voting").state, now: live.now() });
  await passes(100);
  assert.equal(document.activeElement.id, "sound");
});

// The last test, because the page has no credential afterwards.
test("a credential that the room does not know is dropped, and the person is told", async () => {
  await shows("gathering", "stranger");
  live.answered = "the token of whoever looks"; // the host has said who we are by it: nobody
  view.changed();
  await settles();
  assert.match(textOf("#toast"), /You’re not in this room any more/);
  assert.ok(one("#toast").classList.contains("bad"));
  assert.equal(all("#steer button").length, 0);
  live.answered = "";
});
