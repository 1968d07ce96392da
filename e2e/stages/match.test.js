// A match of two sides: its lobby, the bans, and what comes after them.

import assert from "node:assert/strict";
import test from "node:test";
import { all, answers, asked, heard, live, nameOf, names, one, passes, press, sets, settles, shows, stage, tableOf, tells, textOf, unfolds, view } from "./page.js";

test("the lobby has two sides, and people on neither", async () => {
  await shows("bo3-gathering", "ann");
  assert.equal(textOf("#stage h1"), "Nightjars – Side B");
  assert.match(textOf(".match-terms"), /^best of three/);
  assert.deepEqual(all(".team").map((of) => nameOf(of)), ["Nightjars", "Side B"]);
  assert.match(textOf(".own-side"), /anncaptain|ann captain/);
  assert.match(textOf(".neither"), /gil.* zoe/);
  await sets("[name=side_b]", "Tin Foxes");
  await press("[data-key=team-b] .join-side");
  await press("[data-action=ask-look]");
  await press('.row[data-name="gil"]');
  await press('[data-key="to b"]');
  assert.deepEqual(asked, ['settings{"settings":{"side_b":"Tin Foxes"}}', 'side{"side":"b"}', "ask_look{}", 'side{"side":"b","name":"gil"}']);
  await press('.row[data-name="ben"]');
  await press("[data-key=captain]");
  assert.equal(asked.at(-1), 'captain{"name":"ben"}');
});

test("a guest joins a side, and moves nobody", async () => {
  await shows("bo3-gathering", "zoe");
  assert.equal(all("[data-action=team-menu], [name=side_a]").length, 0);
  assert.equal(nameOf(one("[data-key=team-a] .join-side")), "Join Nightjars");
  await press("[data-key=team-a] .join-side");
  assert.deepEqual(asked, ['side{"side":"a"}']);
  assert.match(one("[data-key=team-a] [data-action=send-link]").dataset.copyText, /\?side=a#/);
});

test("the search shows the reader's own ping, and no average of a side", async () => {
  await shows("bo1-measuring", "ann");
  assert.match(textOf(".versus"), /Nightjars \D*Tin Foxes \D*$/);
  assert.match(textOf(".step.rank1 .pings"), /^A ann12 ms$/);
  assert.match(textOf("[data-key=asked]"), /A longer check was asked for by Nightjars\./);
  await shows("bo1-measuring", "stranger");
  assert.doesNotMatch(textOf(".step.rank1 .pings"), /ms/);
});

/** The pings of others that a state tells a reader. */
function pingsIn(value, path = "state") {
  if (!value || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => [...(key === "rtt_ms" && Object.keys(inner ?? {}).length > 0 ? [`${path}.${key}`] : []), ...pingsIn(inner, `${path}.${key}`)]);
}

test("until the server is decided, no page knows a ping but its reader's", () => {
  for (const name of names.filter((of) => /^bo\d-(gathering|measuring|looking|banning|banned|late)$/.test(of))) assert.deepEqual(pingsIn(tableOf(name).state), [], name);
});

test("the captain on turn nominates a card and moves; the others watch", async () => {
  await shows("bo1-banning", "ann");
  assert.equal(textOf("#stage h1"), "Your ban");
  assert.equal(heard(), "Your ban, ban 1 of 4, for Nightjars.");
  assert.equal(textOf("#steps [aria-current=step]"), "Ban");
  assert.equal(textOf("[role=timer]"), "28");
  assert.equal(one(".nominees").getAttribute("role"), "radiogroup");
  assert.match(textOf(".nominee"), /Nightjars 17 ms .*pro-g InstaGib #1480 ?25 ms better for Nightjars ?12 ms for you ?Tin Foxes 42 ms/);
  assert.ok(one(".move").disabled);
  assert.equal(textOf(".move"), "Choose what to ban");
  await press("input[name=nominee]");
  assert.equal(textOf(".move"), "Ban Canada");
  assert.equal(all("#stage .primary").length, 1);
  answers.to = () => Response.json({ message: "too late" }, { status: 409 });
  await press(".move");
  answers.to = undefined;
  assert.match(textOf("#stage [role=alert]"), /That move did not count\. too late/);
  await press(".move");
  assert.deepEqual(asked.at(-1), 'move{"number":1,"what":"192.0.2.0:27960"}');
  await shows("bo1-banning", "ben");
  assert.equal(textOf("#stage h1"), "ann bans");
  assert.equal(all("#stage :is(input, button)").length, 0);
  await shows("bo1-banning", "ann", { tv: true });
  assert.equal(textOf("#stage h1"), "ann bans");
  assert.equal(all("#stage :is(input, button)").length, 0);
});

test("moves that were made stand on the cards, and one that the clock made, too", async () => {
  await shows("bo1-banned", "emil");
  assert.equal(heard(), "ann banned Canada. Your ban, ban 2 of 4, for Tin Foxes.");
  assert.match(textOf(".nominee.banned"), /banned by ann/);
  await shows("bo1-late", "ann");
  assert.match(heard(), /^The room banned pro-g InstaGib #1483\. Your ban, ban 3 of 4/);
  assert.match(all(".nominee.banned").map(textOf).join("; "), /banned by the clock, for Tin Foxes/);
});

test("from the first move on the organiser is offered nothing against the other side", async () => {
  const offered = async (/** @type {string} */ name) => {
    await shows(name, "ann");
    await unfolds();
    return all("#details [data-action=remove-ask], #hide-which").map((of) => of.dataset.name ?? "a server");
  };
  assert.deepEqual(await offered("bo1-banning"), ["ben", "emil", "fay", "gil", "zoe"]);
  assert.deepEqual(await offered("bo1-banned"), ["ben", "zoe"]);
  assert.deepEqual(await offered("bo1-moved"), ["ben", "zoe"]);
  assert.deepEqual(await offered("bo1-launching"), ["ben", "emil", "fay", "gil", "zoe", "a server"]);
});

test("the clock of a turn goes on, and warns at its end", async () => {
  await shows("bo1-banning", "ann");
  await passes(24_000);
  assert.equal(textOf("[role=timer]"), "4");
  assert.ok(one(".ring").classList.contains("late-now"));
});

test("captains ban and pick maps on the server that they have decided", async () => {
  await shows("bo3-maps", "emil");
  assert.match(heard(), /map ban 1 of 2, for Side B/);
  assert.match(textOf(".on-server"), /On pro-g InstaGib #1485/);
  assert.deepEqual(all("input[name=nominee]").map((of) => of.value), ["dm6", "dm17", "ztn", "q3tourney2", "cpm22"]);
  await press("input[value=ztn]");
  await press(".move");
  assert.equal(asked.at(-1), 'move{"number":4,"what":"ztn"}');
  await shows("bo5-maps", "emil");
  assert.equal(textOf("#stage h1"), "Your pick");
  assert.equal(textOf(".move"), "Choose one");
});

test("after the last move the server is revealed, and the countdown runs without a button", async () => {
  await shows("bo3-moved", "ann", { saw: true, still: true });
  assert.equal(view.stage, "reveal");
  assert.equal(textOf("#stage h1"), "Tonight we meet in the United States");
  assert.match(textOf(".camp-a"), /^Nightjars 41 ms average A ann ?41 ms for you B ben$/);
  assert.match(textOf(".camp-b"), /^Side B 41 ms average E emil F fay G gil$/);
  assert.equal(textOf(".weighs"), "picked by ann · even for both sides");
  await shows("bo1-moved", "stranger", { saw: true, still: true, tv: true });
  assert.doesNotMatch(textOf(stage), /for you/);
  for (const best of ["bo1", "bo3", "bo5"]) {
    await shows(`${best}-countdown`, "ann", { saw: true });
    assert.equal(view.stage, "countdown", best);
    assert.match(textOf("#stage h1"), /^Next stop: /);
    assert.match(textOf(".camp-a"), /^Nightjars \d+ ms average A ann ?\d+ ms for you B ben$/);
    assert.match(textOf(".why-now"), best === "bo3" ? /^picked by ann$/ : /^left after 4 bans$/);
    assert.equal(all("#stage .stop").length, 0);
    assert.equal(heard(), "Off we go in a few seconds.");
  }
});

test("after the last move no page goes back to the search, whether or not a countdown runs", async () => {
  for (const best of ["bo1", "bo3", "bo5"]) {
    for (const how of [{ saw: true }, { saw: true, tv: true }, {}]) {
      const reader = how.tv ? "stranger" : "ann";
      await shows(`${best}-moved`, reader, how);
      const { state } = tableOf(`${best}-moved`);
      await tells({ phase: { name: "banning", since_ms: 0 }, agreement: { ...state.agreement, launch_at: undefined } });
      assert.equal(view.stage, "ban", `${best} ${JSON.stringify(how)}`);
      assert.equal(textOf("#stage h1"), "All moves are made");
      assert.equal(all(".nominee.ours-now").length, state.match.play ? state.match.play.length : 1);
    }
  }
});

test("on the way the sides stand beside each other, with the maps in their order and how it was decided", async () => {
  await shows("bo3-launching", "ann");
  assert.equal(nameOf(one(".series")), "Maps in their order");
  assert.deepEqual(all(".series li").map(textOf), ["ztn", "q3tourney2", "cpm22"]);
  assert.match(textOf(".destination .about"), /picked by ann/);
  assert.deepEqual(all(".side-head").map(textOf), ["Nightjars41 ms average", "Side B41 ms average"]);
  assert.match(textOf(".match-story"), /ann · Nightjarsbanned Canada .*emil · Side Bbanned dm6 .*ann · Nightjarspicked q3tourney2/);
  await shows("bo1-launching", "ann");
  assert.match(textOf(".destination .about"), /left after 4 bans/);
  assert.match(textOf(".match-story"), /the clock · Tin Foxesbanned pro-g InstaGib #1483/);
});

test("delays that would make pings even are advice, with what the game would be told", async () => {
  await shows("bo1-launching", "emil", { change: (state) => ({ ...state, match: { ...state.match, even: { emil: { sides_ms: 12, all_ms: 200 } } }, way: { ...state.way, delay: { command: "cl_delay_packet {ms}", most_ms: 150, program: "ezQuake" } } }) });
  assert.match(textOf(".match-story"), /In ezQuake’s console, before the match:/);
  assert.deepEqual(all(".match-story code").map(textOf), ["cl_delay_packet 12"]);
});

test("a match shows no table of pings before its server is decided", async () => {
  await shows("bo1-banning", "ann");
  await unfolds();
  assert.deepEqual(["why", "whatif", "ranking", "culled"].filter((id) => !document.getElementById(id).hidden), []);
  assert.equal(live.state.match.decided, undefined);
  await shows("bo1-launching", "ann");
  assert.ok(!document.getElementById("ranking").hidden);
});

test("a captain who looks elsewhere is told by the tab's title", async () => {
  await shows("bo1-banning", "emil");
  assert.match(document.title, /^ann bans/);
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  const { state } = tableOf("bo1-banned");
  live.receive(JSON.stringify({ type: "state", match: state.match, log: state.log }));
  assert.match(document.title, /^Your ban – /, "without a frame");
  delete document.hidden;
  await settles();
});

test("captains agree to even pings, everybody sees who has how much, and any player ends them", async () => {
  const delays = (state) => ({ ...state, people: state.people.map((person) => ({ ...person, delays: true })) });
  await shows("bo3-gathering", "ann", { change: delays });
  await press("[data-action=even]");
  assert.deepEqual(asked, ['even{"on":true}']);
  await shows("bo1-banning", "ben", { change: (state) => ({ ...delays(state), match: { ...state.match, evened: { agreed: ["b"] } } }) });
  assert.match(textOf(".evened"), /Tin Foxes agrees\./);
  assert.equal(all("[data-action=even]").length, 0);
  const running = (state) => ({ ...state, match: { ...state.match, even: { ann: { sides_ms: 30, all_ms: 40 } }, evened: { added_ms: { ann: 30, ben: 28 } } } });
  await shows("bo1-launching", "stranger", { change: running });
  assert.match(textOf(".evened"), /ann: \+30 ms.*ben: \+28 ms/);
  assert.equal(all("[data-action=even], .even-for").length, 0);
  await shows("bo1-launching", "emil", { change: running });
  await press("[data-action=even]");
  assert.deepEqual(asked, ['even{"on":false}']);
  await shows("bo1-launching", "ann", { change: (state) => ({ ...state, match: { ...state.match, evened: { ended: "emil" } } }) });
  assert.match(textOf(".evened"), /emil has ended the even pings/);
});
