// A round: the search, the vote, the reveal and the countdown.

import assert from "node:assert/strict";
import test from "node:test";
import { all, asked, heard, isSeen, live, nameOf, one, passes, press, sends, settles, shows, stage, tableOf, tells, textOf, view } from "./page.js";

/** The steps of the round, with the present one in brackets. */
const steps = () => all("#steps li").map((of) => (of.getAttribute("aria-current") === "step" ? `[${textOf(of)}]` : textOf(of))).join(" ");

test("the list is fetched, and the steps say where the round is", async () => {
  await shows("listing", "anna");
  assert.equal(textOf("#stage h1"), "Getting the server list");
  assert.equal(steps(), "Lobby [Search] Vote Go");
});

test("while all measure, the best server so far stands there by name, with everybody's ping", async () => {
  await shows("measuring", "anna");
  assert.equal(textOf("#stage h1"), "Everyone is measuring");
  assert.equal(heard(), "Everyone is measuring");
  assert.equal(textOf("#stage .best"), "49ms average, best so far");
  assert.equal(textOf("#answered"), "5 of 5 servers have answered.");
  assert.deepEqual(all(".podium .step").map((of) => of.className), ["step rank1", "step rank2", "step rank3"]);
  assert.equal(textOf(".step.rank1"), "1 pro-g InstaGib #1480🇨🇦 Canada · 60 free seats 49 ms average A anna88 ms B ben9 ms C chong… D dave…");
  assert.equal(nameOf(one(".podium")), "The best servers so far");
  assert.match(textOf("[data-key=places] caption"), /Roughly where the servers are/);
  assert.equal(textOf("[data-key=places] tbody tr"), "Canada 1 1 1");
  await press("#stage [data-action=go]");
  assert.deepEqual(asked, ['go{"stage":"measuring"}']);
  await shows("measuring", "zoe");
  assert.equal(all("#stage [data-action=go]").length, 0);
});

test("a search that the host coordinates says what may still turn up, once", async () => {
  await shows("coordinating", "anna");
  assert.equal(textOf("#stage h1"), "Looking for the best server for everyone");
  assert.equal(all(".telling :is(.bound, #outlook)").length, 1);
  await shows("coordinating", "anna", { change: (state) => ({ ...state, standing: { ...state.standing, leaders: state.standing.leaders.map((leader, i) => (i === 0 ? { ...leader, name: "", predicted_ms: { chong: 48 } } : leader)) }, room: { ...state.room, search: { ...state.room.search, gain_ms: 6 } } }) });
  assert.equal(textOf(".step.rank1 .title"), "a server (Canada)"); // its name has not come yet
  assert.equal(textOf(".step.rank1 .guess .figure"), "≈ 48 ms");
  assert.match(textOf(".telling .bound"), /6 ms/);
  assert.equal(all(".telling :is(.bound, #outlook)").length, 1);
});

test("places on the podium stay for a second, and figures count to their new values", async () => {
  await shows("measuring", "anna");
  const order = () => all(".podium .step").map((of) => of.dataset.key).join();
  const first = order();
  const { standing } = live.state;
  await passes(1100);
  await tells({ standing: { ...standing, leaders: standing.leaders.toReversed() } });
  assert.notEqual(order(), first);
  const second = order();
  await tells({ standing });
  assert.equal(order(), second, "they change at once");
  await passes(1100);
  await tells({ standing: { ...standing, answered: 4 } });
  assert.equal(order(), first);
});

test("figures count up to their values, and for who prefers no motion they are there at once", async () => {
  for (const still of [false, true]) {
    await shows("measuring", "anna", { still });
    await passes(1000);
    assert.equal(textOf(".best .big"), "49");
    const { standing } = live.state;
    await tells({ standing: { ...standing, leaders: standing.leaders.map((of) => ({ ...of, mean_ms: 7, figure_ms: 7 })) } });
    await settles(); // its first frame
    assert.equal(textOf(".best .big") === "7", still);
    await passes(1000);
    for (let i = 0; i < 3; i++) await settles();
    assert.equal(textOf(".best .big"), "7");
  }
});

test("people who are away are named while the others measure", async () => {
  await shows("measuring", "anna", { change: (state) => ({ ...state, people: state.people.map((one) => (one.name === "dave" ? { ...one, connected: false } : one)) }) });
  assert.match(textOf("#stage .next"), /dave/);
  await shows("measuring", "anna", { change: (state) => ({ ...state, room: { ...state.room, held: { key: "plain", with: { text: "the host cannot save the room" } } } }) });
  assert.equal(textOf("#stage .next"), "The host cannot save the room.");
});

test("a long look shows how long it takes and what is seen, and the organiser ends it", async () => {
  const line = { sent: 12, rtt_ms: 44.2, loss: 0, jitter_ms: 1.24, worst_ms: 47.9 };
  await shows("looking", "anna", { change: (state) => ({ ...state, look: { ...state.look, finalists: state.look.finalists.map((of, i) => (i === 0 ? { ...of, name: "\u202e<i>x</i>", lines: { anna: line, ben: { ...line, loss: 0.25 } } } : of)) } }) });
  assert.equal(textOf("#stage h1"), "Double-checking the favourites");
  assert.match(textOf(".long-look .left"), /^40 s to go/);
  assert.match(textOf(".long-look tbody tr"), /<i>x<\/i> .*44 ms.*95 of 100: 48 ms .*25 % lost/);
  await passes(1000);
  assert.match(textOf(".long-look .left"), /^39 s to go/);
  await press("#stage [data-action=go]");
  assert.deepEqual(asked, ['go{"stage":"chosen"}']);
});

test("the vote has a card for each choice, with what it gains and costs, and the leading one first", async () => {
  await shows("voting", "anna");
  assert.equal(textOf("#stage h1"), "Where shall we play?");
  assert.equal(heard(), "Where shall we play? No votes yet. 0 of 5 are ready.");
  assert.equal(steps(), "Lobby Search [Vote] Go");
  assert.equal(all("#stage .candidate").length, 5);
  assert.match(textOf("#stage .candidate.leads"), /leads .*pro-g InstaGib #1484 United States · 60 free seats · oa_dm1 6ms for you 89 average Lowest for all 4 together\./);
  assert.match(textOf("#stage .candidate:nth-child(2)"), /It costs you most: 86 ms more than our pick\./);
  assert.equal(nameOf(one("#stage .ready ul")), "Who’s ready");
  await press("#stage .candidate:nth-child(2) .cast");
  await press("#stage [data-ready=true]");
  await press("#stage .ready [data-action=go]");
  assert.deepEqual(asked, ['vote{"addr":"192.0.2.4:27960"}', 'ready{"ready":true}', 'go{"stage":"chosen"}']);
});

/** The limit leaves chong out: the organiser has two answers. @param {any} state */
const tooFar = (state) => ({
  ...state,
  people: state.people.map((/** @type {any} */ person) => (person.name === "chong" ? { ...person, left_out: true } : person)),
  choice: {
    ...state.choice,
    over: { addr: state.choice.target, limit_ms: 150, rtt_ms: { chong: 198 } },
    advice: state.room.stage === "chosen" ? [{ action: "allow", argument: { limit_ms: 170 }, servers: 3, addr: "192.0.2.1:27960" }, { action: "without", argument: { name: "chong" } }, { action: "more", argument: { servers: 200 } }] : undefined,
  },
});

test("the organiser is asked about who is over the limit, and that person reads by how much", async () => {
  for (const [name, at] of [["voting", ".ready"], ["reveal", ".tonight"], ["countdown", ".then"]]) {
    const how = { change: tooFar, saw: name === "reveal", still: true };
    await shows(name, "anna", how);
    assert.equal(textOf(`${at} .over-limit p`), "chong has 198 ms there, 48 ms over our limit of 150 ms.");
    assert.deepEqual(all(`${at} .over-limit button`).map((button) => button.textContent.replaceAll(/[\u2066-\u2069]/g, "")), ["Take chong along: allow 170 ms", "Go without chong"]);
    assert.equal(all("[data-order=allow], [data-order=without]").length, 2, "they stand once on the page");
    await press(".over-limit [data-order=allow]");
    await press(".over-limit [data-order=without]");
    assert.deepEqual(asked, ['allow{"limit_ms":170}', 'without{"name":"chong"}']);
    await shows(name, "chong", how);
    assert.equal(textOf(`${at} .over-limit`), "You have 198 ms there, 48 ms over the limit of 150 ms: this choice is for the others. Ask the organiser to take you along. Otherwise you come along without a say, or sit this one out.");
    assert.equal(all("#stage .how, .over-limit button").length, 0);
    await shows(name, "ben", how);
    assert.equal(all(".over-limit").length, 0);
  }
  await shows("countdown", "ben", { change: (state) => ({ ...tooFar(state), people: state.people.map((/** @type {any} */ person) => ({ ...person, ready: false })) }) });
  assert.equal(textOf(".why-now"), "", "a countdown that only asks is nobody’s order");
  await shows("launching", "chong", { change: tooFar });
  assert.match(textOf(".destination .over-limit"), /48 ms over the limit of 150 ms: .*You come along all the same\. Next round ask for a higher limit/);
  await shows("launching", "anna", { change: tooFar });
  assert.equal(all(".over-limit").length, 0);
});

test("a veto takes two presses of the same button", async () => {
  await shows("voting", "anna");
  await press("#stage .candidate:nth-child(2) .veto");
  assert.deepEqual(asked, []);
  await passes(4100); // it has forgotten the first
  await press("#stage .candidate:nth-child(2) .veto");
  assert.deepEqual(asked, []);
  await press("#stage .candidate:nth-child(2) .veto");
  assert.deepEqual(asked, ['veto{"addr":"192.0.2.4:27960"}']);
});

test("votes and who is ready stand on the cards, and a person takes theirs back", async () => {
  await shows("voting-voted", "ben");
  assert.equal(heard(), "Where shall we play? Germany leads with 2 votes. 1 of 5 is ready.");
  assert.match(textOf("#stage .leads"), /pro-g InstaGib #1481 .*anna and zoe ?2 votes/);
  await press("#stage [data-ready=false]");
  assert.deepEqual(asked, ['ready{"ready":false}']);
  await shows("voting-voted", "anna");
  assert.equal(one("#stage .leads .cast").getAttribute("aria-pressed"), "true");
  await press("#stage .leads .cast");
  assert.deepEqual(asked, ['vote{"addr":""}']);
});

test("on the cards a number votes and V vetoes; elsewhere no key does", async () => {
  await shows("voting", "anna");
  const types = async (/** @type {Element} */ at, /** @type {string} */ key, more = {}) => {
    at.dispatchEvent(Object.assign(new Event("keydown", { bubbles: true, cancelable: true }), { key, code: `Key${key.toUpperCase()}`, ...more }));
    await settles();
  };
  await types(document.body, "2");
  await types(one("#stage h1"), "v");
  await types(one("#stage .candidate:nth-child(1) .cast"), "2", { ctrlKey: true });
  await types(one("#stage .candidate:nth-child(1) .cast"), "9");
  assert.deepEqual(asked, []);
  await types(one("#stage .candidate:nth-child(1) .cast"), "2");
  assert.deepEqual(asked, ['vote{"addr":"192.0.2.4:27960"}']);
  await types(one("#stage .candidate:nth-child(2) .cast"), "v");
  assert.equal(asked.length, 1);
  await types(one("#stage .candidate:nth-child(2) .cast"), "v");
  assert.equal(asked.at(-1), 'veto{"addr":"192.0.2.4:27960"}');
});

test("a vetoed server says by whom, and who has vetoed has no second one", async () => {
  await shows("voting-vetoed", "anna");
  assert.match(textOf("#stage .gone"), /pro-g InstaGib #1484vetoed by chong/);
  assert.match(textOf(stage), /Out of 5 servers, 2 are worth a vote\./);
  assert.ok(all("#stage .veto").length > 0);
  await shows("voting-vetoed", "chong");
  assert.equal(all("#stage .veto").length, 0);
});

test("a person without a say reads how to vote, and guests vote where they may", async () => {
  await shows("voting", "stranger");
  assert.equal(all("#stage .cast, #stage [data-ready]").length, 0);
  assert.deepEqual(all("#nickname").length, 1, "a nickname is enough, and its field stands in place");
  assert.equal(textOf(".ready .welcome"), "To vote, pick a nickname: Come in");
  await sends(".ready #nickname", "Pia");
  assert.match(asked[0], /^enter\{"name":"Pia"/);
  await shows("voting", "stranger", { change: (state) => ({ ...state, room: { ...state.room, guests_vote: false } }) });
  assert.match(textOf("#stage .how"), /To vote, open your own link/);
  assert.ok(one("#welcome"), "who comes late is asked for a nickname below the vote");
  await shows("voting", "stranger", { tv: true });
  assert.equal(all("#nickname, .how").length, 0);
  await shows("voting", "zoe");
  assert.ok(one("#stage .candidate .cast"));
  await shows("voting", "zoe", { change: (state) => ({ ...state, room: { ...state.room, guests_vote: false } }) });
  assert.equal(all("#stage .cast").length, 0);
});

test("hostile names stand as text on cards, in their own direction", async () => {
  await shows("hostile-voting", "stranger");
  assert.ok(textOf(stage).includes("<img src=x onerror=alert(1)>") && textOf(stage).includes("<mark>colour"));
  assert.doesNotMatch(stage.textContent, /[\u202a-\u202e\u2066\u2067\u001b]/);
  assert.ok(all("#stage .candidate bdi").length > 0);
  assert.doesNotMatch(document.title, /taken|[\u202e\u001b]/);
});

/** How the reveal is played for somebody who saw the search. */
const saw = { saw: true };

test("the reveal says the country, the name and the pings, never an address, and goes on by itself", async () => {
  await shows("reveal", "anna", saw);
  assert.equal(view.stage, "reveal");
  assert.equal(textOf("#stage h1"), "Tonight we meet in Germany");
  assert.match(textOf(".named"), /pro-g InstaGib #1481/);
  assert.equal(textOf(".figure-of"), "12 ms for you · Your vote: 2 of 2 wanted this one");
  assert.equal(nameOf(one(".everybody")), "Everyone’s ping");
  assert.deepEqual(all(".everybody li").map(textOf), ["anna 12 ms", "ben 96 ms", "chong 190 ms", "dave 60 ms"]);
  assert.equal(heard(), "Tonight’s spot: Germany. We play on pro-g InstaGib #1481: 12 ms for you, 90 ms average.");
  assert.doesNotMatch(stage.textContent + document.title + heard(), /192\.0\.2/);
  await passes(6200);
  assert.equal(view.stage, "reveal", "it is over before the host says so");
  await tells({ phase: { name: "countdown", since_ms: 0, left_ms: 5000 } });
  assert.equal(view.stage, "countdown");
  await tells({ whole: true, ...live.state }); // as after a lost connection
  assert.equal(view.stage, "countdown", "it plays twice");
});

test("who comes late sees where the reveal stands", async () => {
  await shows("reveal", "anna", { change: (state) => ({ ...state, phase: { name: "reveal", since_ms: 5900, left_ms: 100 } }) });
  assert.equal(view.stage, "reveal");
  await passes(50);
  assert.equal(stage.style.getPropertyValue("--seen-pings"), "1");
});

test("the reveal names a server without a country by its name, and one without either by neither", async () => {
  const without = (name, country) => ({ ...saw, change: (state) => ({ ...state, choice: { ...state.choice, servers: Object.fromEntries(Object.entries(state.choice.servers).map(([addr, server]) => [addr, { ...server, name, country }])) } }) });
  await shows("reveal", "anna", without("den", ""));
  assert.match(textOf("#stage h1"), /^Tonight we play on ?den$/);
  await shows("reveal", "anna", without("", "CA"));
  assert.equal(textOf(".named").replace(/^\P{L}*/u, ""), "a server (Canada)");
  await shows("reveal", "anna", without("", ""));
  assert.doesNotMatch(stage.textContent, /192\.0\.2/);
  await shows("reveal", "anna", without("den", "NL"));
  assert.equal(textOf("#stage h1"), "Tonight we meet in the Netherlands");
});

test("the reveal says what decided, for the rule of own bests, too", async () => {
  await shows("reveal", "anna", { ...saw, change: (state) => ({ ...state, agreement: { ...state.agreement, choices: [] }, choice: { ...state.choice, decided: undefined, selection: { ...state.choice.selection, by: "least-sacrifice", ranking: state.choice.selection.ranking.map((of) => ({ ...of, extra_ms: { anna: 23.4, ben: 2, chong: 0, dave: 11 } })) } }, people: state.people.map((of) => ({ ...of, vote: undefined })) }) });
  assert.equal(textOf(".figure-of"), "12 ms for you · nobody gives up more than 23 ms of their own best");
});

test("whoever has a say stops the countdown before it begins", async () => {
  await shows("reveal", "anna", { ...saw, still: true });
  await passes(4300);
  assert.match(textOf("#stage .soon"), /The countdown starts in/);
  await press("#stage .soon .stop");
  assert.deepEqual(asked, ['ready{"ready":false}']);
  await shows("reveal", "stranger", { ...saw, still: true });
  assert.equal(all("#stage .soon .stop").length, 0);
});

test("with a launch under way the reveal goes on by a button", async () => {
  await shows("launching", "anna", { saw: true, still: true });
  assert.equal(view.stage, "reveal");
  await press("#stage [data-action=revealed]");
  assert.equal(view.stage, "go");
});

test("the countdown says where to and when, and Escape or a button stops it", async () => {
  await shows("countdown", "anna");
  assert.equal(textOf("#stage h1"), "Next stop: Germany");
  assert.equal(textOf("#stage .left"), "4");
  assert.equal(one("#stage .left").getAttribute("role"), "timer");
  assert.equal(nameOf(one("#stage .left")), "4 seconds");
  assert.equal(heard(), "Off we go in a few seconds. Escape stops it.");
  assert.match(textOf(stage), /Chosen by vote90 ms average Everyone’s ready anna12 ms A ben96 ms B chong190 ms C dave60 ms D/);
  assert.equal(document.querySelectorAll(".dial i").length, 60);
  await passes(1000);
  assert.equal(textOf("#stage .left"), "3");
  document.dispatchEvent(Object.assign(new Event("keydown", { bubbles: true, cancelable: true }), { key: "Escape" }));
  await settles();
  await press("#stage .stop");
  assert.deepEqual(asked, ['ready{"ready":false}', 'ready{"ready":false}']);
  await shows("countdown", "stranger");
  assert.equal(all("#stage .stop").length, 0);
  assert.equal(heard(), "Off we go in a few seconds.");
});

test("on a wall the vote and the countdown are only shown", async () => {
  await shows("voting-voted", "stranger", { tv: true });
  assert.ok(all("#stage .candidate").length >= 2 && isSeen(one("#stage .leads")));
  await shows("countdown", "stranger", { tv: true });
  assert.equal(all("#stage .stop").length, 0);
});
