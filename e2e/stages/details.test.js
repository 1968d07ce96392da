// What people unfold below the stage: people, the ranking, lists, what-ifs, themselves, steering.

import assert from "node:assert/strict";
import test from "node:test";
import { all, asked, heard, live, nameOf, one, passes, press, sends, sets, settles, shows, tableOf, tells, textOf, unfolds, view } from "./page.js";

const opened = async (name, reader, how) => {
  await shows(name, reader, how);
  await unfolds();
};

test("people are those who play and those with only the page, each with what they are doing", async () => {
  await opened("gathering-troubled", "anna");
  assert.match(textOf("#people"), /Players .*4 players|4 players/);
  assert.deepEqual(all("#people .person .who > bdi").map((of) => of.textContent), ["anna", "ben", "chong", "dave", "zoe"]);
  assert.match(textOf("#people"), /anna ?organiser ?you.*can’t start OpenArena/);
  assert.match(textOf("#people"), /dave ?away/);
  assert.match(textOf("#people"), /zoe ?guest/);
  assert.equal(nameOf(one("#people .tools summary")), "More for ben");
  assert.equal(all("#people .tools").length, 4, "nobody removes themselves");
  await press("[data-action=handon][data-name=ben]");
  assert.deepEqual(asked, ['handon{"name":"ben"}']);
  await opened("gathering-troubled", "ben");
  assert.equal(all("#people .tools, #steer button").length, 0);
});

test("a player whom the room does not believe is named, with the reason and what to do", async () => {
  await opened("measuring", "anna", { change: (state) => ({ ...state, people: state.people.map((of) => (of.name === "ben" ? { ...of, doubt: { key: "plain", with: { text: "ben reports the same ping for everything" } } } : of.name === "dave" ? { ...of, probed: 60, answered: 0, done: true } : of)) }) });
  assert.match(textOf("#people"), /ben reports the same ping for everything/);
  assert.match(textOf("#people"), /firewall there may block games/);
  assert.equal(textOf("[data-action=trust]"), "Count anyway");
  await press("[data-action=trust]");
  assert.deepEqual(asked, ['trust{"name":"ben"}']);
});

test("removing somebody in the list of people asks first", async () => {
  await opened("gathering", "anna");
  await press('#people [data-action=remove-ask][data-name="zoe"]');
  assert.match(textOf("#people"), /Send zoe out of the room\?/);
  await press('#people [data-action=remove][data-name="zoe"]');
  assert.deepEqual(asked, ['remove{"name":"zoe"}']);
});

test("what cannot be taken back asks in its own words, beside the button, which keeps the focus", async () => {
  globalThis.confirm = () => assert.fail("the page asks in its own words");
  for (const [name, within, key, question, orders] of [
    ["launching", "#me", "leave", /You give up your place/, "leave{}"],
    ["launching", "#steer", "renew", /The old one stops working/, "renew{}"],
    ["launching", "#ranking", "hide-here", /The room won’t go there/, 'hide{"addr":"192.0.2.3:27960","hidden":true}'],
    ["launching", "#people", "forget", /Forget <b>eve<\/b>\? They lose their place/, 'forget{"name":"<b>\u202eeve</b>"}'],
  ]) {
    await opened(name, "anna", { change: (state) => ({ ...state, meeting: key === "forget" ? { who: [{ name: "<b>\u202eeve</b>" }], evenings: 0 } : null }) });
    const button = () => one(`${within} [data-sure^=${key}]`);
    await press(button());
    assert.match(textOf(`${within} .sure`), question);
    assert.equal(one(`${within} .sure`).getAttribute("role"), "alert");
    await press(`${within} [data-action=unsure]`);
    assert.equal(all(".sure").length, 0);
    button().focus();
    for (const detail of [1, 2]) button().dispatchEvent(new MouseEvent("click", { bubbles: true, detail })); // a double click is one press
    await settles();
    assert.match(textOf(`${within} .sure`), question);
    assert.equal(document.activeElement, button());
    assert.deepEqual(asked, []);
    await press(button());
    assert.deepEqual(asked, [orders]);
    assert.equal(all(".sure").length, 0);
  }
});

test("the second of two clicks presses nothing that has just appeared", async () => {
  await shows("measuring", "anna");
  one("#stage [data-action=go]").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 }));
  await settles();
  assert.deepEqual(asked, []);
});

test("the organiser locks the room, and others read that it is", async () => {
  await opened("gathering-troubled", "anna");
  assert.equal(one("#steer [data-action=lock]").getAttribute("aria-pressed"), "true");
  await press("#steer [data-action=lock]");
  assert.deepEqual(asked, ['lock{"locked":false}']);
  await opened("gathering-troubled", "stranger");
  assert.match(textOf("#steer"), /The room is locked\./);
});

test("people rename themselves, say their version, find their own link, and hide their country", async () => {
  await opened("gathering", "ben");
  assert.match(textOf("#own-link"), /#BAKODI_thekeyofthelink\.the token of whoever looks$/);
  await sends("#new-name", "zoë\u202e<b>");
  await sends("#own-version", " 0.8.8 ");
  await press("#me [data-action=somewhere]");
  assert.deepEqual(asked, ['rename{"name":"zoë\u202e<b>","of":""}', 'has{"version":"0.8.8"}', 'somewhere{"somewhere":true}']);
  assert.match(textOf("#toast"), /0\.8\.8/);
  await opened("gathering", "zoe");
  assert.equal(all("#own-version").length, 0, "a guest has no game");
});

test("the ranking is sorted by its heads, votes stand in it, and the focus goes along with its row", async () => {
  await opened("voting-voted", "anna");
  assert.equal(all("#ranking tbody tr").length, 5);
  assert.equal(one("#ranking th[data-key=rank]").getAttribute("aria-sort"), "ascending");
  await press("#ranking [data-by=worst]");
  assert.equal(one("#ranking th[data-key=worst]").getAttribute("aria-sort"), "ascending");
  const cast = one("#ranking tr:not(.chosen) [data-action=vote]");
  cast.focus();
  const { addr } = cast.dataset;
  await press("#ranking [data-by=worst]");
  assert.equal(document.activeElement.dataset.addr, addr);
  await press(document.activeElement);
  assert.deepEqual(asked, [`vote{"addr":"${addr}"}`]);
  await press('#ranking [data-action=veto][data-map="oa_dm1"]');
  await press('#ranking [data-action=veto][data-map="oa_dm1"]');
  assert.equal(asked.at(-1), 'veto{"map":"oa_dm1"}');
});

test("a what-if is everyone's, and taken back with a button", async () => {
  await opened("voting", "ben");
  const radio = one('#whatif [value="minimax"]');
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  await settles();
  assert.match(asked[0], /^whatif\{"by":"minimax"/);
  const { choice } = live.state;
  await tells({ whatif: { ...choice, player: "ben", selection: { ...choice.selection, by: "minimax" } } });
  assert.match(textOf("#whatif .outcome"), /ben tries “Kindest to the worst off”/);
  await press("#whatif [data-action=forget-whatif]");
  assert.equal(asked.at(-1), "whatif{}");
  await opened("voting", "stranger");
  assert.ok(one("#whatif fieldset").disabled);
});

test("players bring servers by a list, and the organiser strikes them off", async () => {
  await opened("gathering", "anna", { change: (state) => ({ ...state, lists: { favourites: [{ addr: "192.0.2.1:27960", name: "<b>Ann's</b>", by: ["anna"] }], hidden: [] } }) });
  assert.match(textOf("#lists .brought"), /<b>Ann's<\/b>/);
  await sends("#brought", "192.0.2.1:27960 <b>Ann's</b> # old\nnot an address\n[2001:db8::1]:27961");
  assert.deepEqual(asked, ['bring{"favourites":[{"addr":"192.0.2.1:27960","name":"<b>Ann\'s</b>"},{"addr":"[2001:db8::1]:27961","name":""}],"adds":true}']);
  await sends("#brought", "nothing");
  assert.ok(one("#toast").classList.contains("bad"));
  await press("#lists [data-action=strike]");
  assert.equal(asked.at(-1), 'strike{"addr":"192.0.2.1:27960"}');
  await opened("gathering", "stranger");
  assert.equal(all("#brought").length, 0);
});

test("servers of the group are marked, and what only the list says is, too", async () => {
  await opened("voting", "anna", { change: (state) => ({ ...state, now: Date.parse(state.room.since) + 12 * 60_000, room: { ...state.room, said: state.room.since }, choice: { ...state.choice, servers: Object.fromEntries(Object.entries(state.choice.servers).map(([addr, of]) => [addr, { ...of, as_listed: addr === "192.0.2.3:27960" }])), selection: { ...state.choice.selection, ranking: state.choice.selection.ranking.map((of, i) => ({ ...of, ours: i === 1 })) } } }) });
  assert.equal(all("#ranking .ours").length, 1);
  assert.equal(nameOf(one("#ranking .ours")), "one of ours");
  assert.match(textOf("#stage .candidate"), /as the list said/);
  assert.equal(all("#ranking tbody tr").filter((of) => /as the list said/.test(textOf(of))).length, 1);
});

test("the link of a detail opens it", async () => {
  await shows("night", "anna");
  view.show = "log";
  view.changed();
  await settles();
  await settles(); // it is drawn once it is open
  assert.ok(one("#log").open && one("#details").open);
  assert.match(textOf("#log"), /anna closed the room|is open/i);
  view.show = null;
});

test("the evening's rounds are listed, and why a server was chosen", async () => {
  await opened("launching-again", "anna");
  assert.match(textOf("#evening"), /Round 1/);
  assert.match(textOf("#why"), /average/);
});

test("a detail that the next stage does not have leaves no ids behind", async () => {
  await shows("voting", "anna");
  await unfolds();
  const before = all("#invitation [id]").map((of) => of.id);
  assert.ok(before.includes("room-link"), `${before}`);
  await tells(tableOf("gathering").state);
  const ids = all("[id]").map((of) => of.id);
  assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), []);
  await tells(tableOf("voting").state);
  await settles();
  assert.deepEqual(all("#invitation [id]").map((of) => of.id), before, "and it comes back");
});
