// After the choice: the way to the server, waiting for seats, no server at all, and the night's end.

import assert from "node:assert/strict";
import test from "node:test";
import { all, answers, asked, fetched, heard, live, nameOf, one, passes, press, settles, shows, stage, tableOf, tells, textOf, unfolds, until, view } from "./page.js";

/** The row of a person on the way. */
const row = (name) => all(".arriving > li").find((of) => of.dataset.key === name);

test("everyone's own way comes first, and the title is about the person", async () => {
  await shows("launching", "anna");
  assert.equal(textOf("#stage h1"), "Your game opens");
  assert.equal(heard(), "Everyone to pro-g InstaGib #1484. Your game opens.");
  assert.match(document.title, /^Everyone to pro-g InstaGib #1484 – Friday night – Muster$/);
  assert.match(textOf(".destination .about"), /^6 ms for you · 89 ms average · United States$/);
  assert.equal(nameOf(one(".arriving")), "Who is on the way");
  assert.equal(textOf(".voice a"), "Voice: Discord");
  for (const [reader, title, next] of [
    ["anna", "You’re on the way", "Have fun! Once you’ve played, start the next round."],
    ["ben", "You’re on the way", "The address takes you there, in the game itself."],
    ["chong", "Say yes to your game", "Say yes in your terminal: Muster asks before it starts your game."],
    ["dave", "Your game didn’t open", undefined],
    ["zoe", "Join them", "Connect to the address from the game itself."],
    ["stranger", "They’re on the way", "Connect to the address from the game itself."],
  ]) {
    await shows("launching-mixed", reader);
    assert.equal(textOf("#stage h1"), title, reader);
    if (next) assert.equal(textOf("#stage .next"), next, reader);
  }
  await shows("launching-declined", "chong");
  assert.equal(textOf("#stage h1"), "You’re sitting this one out");
  await shows("launching-arrived", "stranger");
  assert.equal(textOf("#stage h1"), "Everyone’s on the way");
});

test("each person's row says how far they are, and how others help whose game did not open", async () => {
  await shows("launching-mixed", "anna");
  assert.deepEqual(["anna", "ben", "chong", "zoe"].map((name) => textOf(row(name).querySelector(".doing"))), ["game is open", "joins by hand", "confirming …", "watching"]);
  const help = row("dave").querySelector(".help");
  assert.equal(nameOf(help.querySelector("summary")), "Help dave");
  assert.match(textOf(help), /Their computer says: openarena: not found in PATH\./);
  assert.equal(help.querySelector("button").dataset.copyText, "192.0.2.3:27960");
  await shows("launching-mixed", "dave");
  assert.equal(textOf(".destination .detail"), "openarena: not found in PATH");
  assert.equal(textOf(".path summary"), "Show the password, if the game asks for one");
  assert.match(textOf(stage), /Tell Muster where OpenArena is/);
  assert.equal(all(".arriving .help").length, 0, "nobody helps themselves");
  await press("[data-action=reopen]");
  assert.deepEqual(asked, ["reopen{}"]);
  const guests = (estimate, vote) => ({ change: (state) => ({ ...state, people: state.people.map((of) => (of.name === "zoe" ? { ...of, estimate, vote } : of)) }) });
  await shows("launching", "anna", guests(undefined, "192.0.2.3:27960"));
  assert.equal(textOf(row("zoe").querySelector(".doing")), "voted, without Muster");
  await shows("launching", "anna", guests({ counted: true, error_ms: 6 }));
  assert.equal(textOf(row("zoe").querySelector(".doing")), "plays without Muster");
});

test("a person without a program joins by a link or by hand, and says so", async () => {
  await shows("launching-mixed", "zoe");
  assert.equal(one(".way a.primary").getAttribute("href"), "steam://connect/192.0.2.3:27960");
  await press(".way [data-action=arrived]");
  assert.deepEqual(asked, ["arrived{}"]);
  await shows("launching-arrived", "zoe");
  assert.equal(all(".way [data-action=arrived]").length, 0);
  assert.equal(textOf("#stage h1"), "You’re on the way");
  await shows("launching-mixed", "zoe", { change: (state) => ({ ...state, way: { ...state.way, link: "javascript:alert(1)" } }) });
  assert.equal(all(".way a").length, 0, "a link of another kind");
});

test("the password of the server is for those who go there, behind a click", async () => {
  await shows("launching", "anna");
  const details = one("#password").closest("details");
  assert.ok(!details.open);
  assert.equal(textOf(details.querySelector("code")), "club");
  await shows("launching", "zoe");
  assert.equal(all("#password").length, 0);
  assert.doesNotMatch(JSON.stringify(live.state), /"club"/);
});

test("a game that takes no address from outside is told what to type, and copied", async () => {
  await shows("launching-typed", "chong");
  assert.match(textOf(".way"), /In the game’s console, type: connect 192\.0\.2\.3:27960/);
  assert.ok(all(".way [data-action=copy]").some((of) => of.dataset.copyText === "connect 192.0.2.3:27960"));
});

test("a game with regions says what to set, shows no address, and opens nothing", async () => {
  await shows("launching-region", "chong");
  assert.equal(heard(), "Everyone to West Europe. You’re on the way.");
  assert.match(textOf(stage), /Once everyone has set this region, you play together\./);
  assert.match(textOf(".way"), /Set this in your game playfab\/westeurope .*write DataCenterHint=playfab\/westeurope into GameSettings\.ini/);
  assert.equal(one(".way [data-action=copy]").dataset.copyText, "playfab/westeurope");
  assert.doesNotMatch(textOf(stage), /192\.0\.2/);
  assert.equal(all("[data-action=reopen]").length, 0);
});

test("people who found the server full are waited for", async () => {
  await shows("launching", "anna");
  for (const name of ["anna", "chong", "dave", "anna"]) await press(`.left-outside [data-name=${name}]`); // who is pressed twice is in again
  assert.deepEqual(all(".left-outside [aria-pressed=true]").map(textOf), ["chong", "dave"]);
  await press("[data-action=await-outside]");
  assert.deepEqual(asked, ['await{"names":["chong","dave"]}']);
  await shows("launching", "ben");
  assert.equal(all(".left-outside").length, 0);
});

test("a wall says how many games are open, and who needs a hand", async () => {
  await shows("launching", "stranger", { tv: true });
  assert.equal(textOf("#stage h1"), "Off we go");
  assert.equal(textOf(".destination .about"), "0 games are open, of 4.");
  await shows("launching-mixed", "stranger", { tv: true });
  assert.equal(textOf("#stage h1"), "dave needs a hand");
});

test("the organiser starts the next round", async () => {
  await shows("launching", "anna");
  await press(".after [data-action=go]");
  assert.deepEqual(asked, ['go{"stage":"launching"}']);
});

test("nothing suits: the nearest miss stands on a line, and each way out is a button that says what it costs", async () => {
  await shows("failed-far", "anna");
  assert.equal(textOf("#stage h1"), "No server within 150 ms for all 4");
  assert.match(textOf(stage), /Nearest miss: .*pro-g InstaGib #1481, too far for anna, ben and chong\./);
  assert.equal(textOf(".excess"), "30 ms over");
  await press("[data-order=allow]");
  await press("[data-key=retry]");
  assert.deepEqual(asked, ['allow{"limit_ms":180}', 'go{"stage":"failed"}']);
  await shows("failed-far", "anna", { change: (state) => ({ ...state, choice: { ...state.choice, advice: [{ action: "without", argument: { name: "chong" }, servers: 611, addr: "192.0.2.1:27960" }, { action: "more", argument: { servers: 200 } }] } }) });
  assert.match(textOf("[data-order=without]"), /chong.*611/);
  await press("[data-order=without]");
  await press("[data-order=more]");
  assert.deepEqual(asked, ['without{"name":"chong"}', 'more{"servers":200}']);
  await shows("failed-far", "ben");
  assert.equal(all("#stage :is([data-order], [data-action=go])").length, 0, "only the organiser has buttons");
  assert.ok(all("#stage .help-card").length > 0, "others read them");
});

test("why nothing suits names servers that people know by name", async () => {
  for (const [name, why] of [["failed-far", /With a limit of 180\.0 ms, pro-g InstaGib #1481 \(192\.0\.2\.1:27960\) would do\./], ["failed-full", /With fewer seats, 2 servers would do, best pro-g InstaGib #1481 \(192/]]) {
    await shows(name, "anna");
    assert.match(textOf("[data-key=reasons]"), why);
  }
});

test("without a list the room tries again by itself, and says when and why", async () => {
  await shows("failed-list", "anna");
  assert.match(textOf("#stage .next"), /The room tries again by itself at 20:00:15\. Or press the button now\./);
  assert.match(textOf("[data-key=reasons]"), /no server list: the master server does not answer/);
  await shows("failed-list", "ben");
  assert.doesNotMatch(textOf("#stage .next"), /press the button/);
});

test("where nobody hears any server, the page names the cause and the command that looks", async () => {
  await shows("failed-silent", "anna", { change: (state) => ({ ...state, room: { ...state.room, retry: undefined }, people: state.people.map((of) => ({ ...of, probed: 60, answered: 0, done: true })) }) });
  assert.match(textOf("#stage .next"), /anna, ben, chong and dave.*firewall/);
  assert.equal(textOf("#stage .next code"), "muster doctor");
});

test("all are full: the organiser has the room wait, and it says who checks, how often and until when", async () => {
  await shows("failed-full", "anna");
  assert.match(textOf("[data-order=await]"), /2 full servers ?Wait for seats for everyone/);
  assert.match(textOf("#stage .next"), /Change what you look for, or try again later\./);
  await press("[data-order=await]");
  assert.deepEqual(asked, ["await{}"]);
  await shows("waiting", "anna");
  assert.equal(textOf("#stage h1"), "2 of 4 seats free");
  assert.match(document.title, /^2 of 4 seats free – /);
  assert.equal(textOf(".looked"), "Not checked yet · checking now · asked once.");
  assert.equal(all(".chairs .free").length, 2);
  assert.match(textOf(".meanwhile"), /We give up at 20:30\./);
  assert.match(textOf(".waits"), /annachecking|anna checking/);
  assert.equal(nameOf(one(".waits")), "Who’s waiting for a seat");
  await press("[data-key=unwait]");
  assert.deepEqual(asked, ["unwait{}"]);
  await shows("waiting", "ben");
  assert.equal(all("[data-key=unwait]").length, 0);
});

test("while it waits, the room shows when it looks again and where seats are, and names for whom", async () => {
  const at = (state, seconds) => new Date(state.now + 1000 * seconds).toISOString();
  await shows("waiting", "anna", { change: (state) => ({ ...state, seats: { ...state.seats, by: undefined, servers: state.seats.servers.map((of) => ({ ...of, at: at(state, -4), next: at(state, 7), asked: 12, most: 3, from: 0, to: 1 })), instead: [{ ...state.seats.servers[1], addr: "192.0.2.9:27960", name: "Far but empty", country: "JP", mean_ms: 133, free: 14 }] } }) });
  assert.equal(textOf(".looked"), "Checked 4 s ago · next check in 7 s · asked 12 times · at most 3 were free, mostly 0 to 1.");
  await passes(1100);
  assert.match(textOf(".looked"), /Checked 5 s ago · next check in 6 s/);
  assert.match(textOf(".instead"), /Seats now: .*Far but empty 14 seats free, 133 ms average \(44 ms more\)/);
  await press("[data-key=instead]");
  assert.deepEqual(asked, ['unwait{"instead":true}']);
  await shows("waiting", "anna", { change: (state) => ({ ...state, seats: { ...state.seats, for: ["נועה", "ben"], servers: state.seats.servers.map((of) => ({ ...of, free: -1 })) } }) });
  assert.equal(textOf("#stage h1"), "Waiting for 4 seats for נועה and ben");
  assert.equal(all("#stage h1 bdi").length, 2, "a name turns the words around it");
});

test("with seats for all it counts down, and the organiser stops it", async () => {
  await shows("waiting-countdown", "anna");
  assert.equal(textOf("#stage h1"), "Next stop: Germany");
  assert.equal(heard(), "Seats for all 4: off we go. Escape stops it.");
  await press("#stage .stop");
  assert.deepEqual(asked, ["unwait{}"]);
  await shows("waiting-countdown", "ben");
  assert.equal(all("#stage .stop").length, 0);
});

test("a person who wants that is called, by four notes, once there are seats for all", async () => {
  let notes = 0;
  const param = { setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} };
  class Sounding {
    connect = (to) => to;
    start = () => notes++;
    stop = () => {};
    resume = async () => {};
    gain = param;
    frequency = param;
    currentTime = 0;
    state = "running";
    destination = {};
    createGain = () => new Sounding();
    createOscillator = () => new Sounding();
  }
  Object.assign(globalThis, { AudioContext: Sounding, OscillatorNode: Sounding, GainNode: Sounding });
  await shows("waiting", "anna");
  await press("[data-action=callme]");
  assert.equal(textOf("[data-action=callme]"), "You’ll be called");
  assert.equal(one("[data-action=callme]").getAttribute("aria-pressed"), "true");
  notes = 0;
  await tells({ seats: { ...live.state.seats, target: live.state.seats.servers[0].addr, launch_at: new Date(live.now() + 5000).toISOString() } });
  assert.equal(notes, 4);
  assert.equal(view.stage, "countdown");
});

test("a wait that has ended says why and what was seen, and can go on", async () => {
  await shows("failed-full", "anna", { change: (state) => ({ ...state, seats: { need: 4, began: "2026-11-20T20:00:00Z", until: "2026-11-20T20:30:00Z", servers: [], over: { key: "seats.never", with: { n: 4, minutes: 30 } }, chance: { key: "seats.chance-range", with: { server: "pro-g", most: 3, from: 0, to: 1 } } } }) });
  assert.equal(textOf("#stage h1"), "No seats for everyone this time");
  assert.match(textOf(stage), /There were never 4 seats at once in 30 minutes/);
  assert.match(textOf(stage), /at most 3 seats free/);
});

test("a list of the servers that were left out is a press away, and the room waits for one of them", async () => {
  await shows("failed-full", "anna");
  await unfolds();
  answers.to = (what) => (what.startsWith("full") ? Response.json({ cause: "full", total: 1, servers: [{ addr: "192.0.2.8:27960", name: "<b>The second best", players: 16, max_players: 16, rtt_ms: { anna: 92 } }] }) : undefined);
  await press("#culled [data-cause=full]");
  assert.match(textOf("#dialog"), /<b>The second best ?192\.0\.2\.8:27960 · 16\/16/);
  await press("#dialog [data-action=wait-on]");
  assert.ok(asked.includes('await{"addr":"192.0.2.8:27960"}'), asked.join());
  answers.to = () => new Response(null, { status: 500 });
  await press("#culled [data-cause=full]");
  assert.ok(one("#dialog [role=alert]"));
  answers.to = undefined;
  one("#dialog").close();
});

test("the night's end names rounds, players, guests and awards, and who closed the room", async () => {
  await shows("night", "anna");
  await settles();
  assert.equal(textOf("#stage h1"), "Good night");
  assert.match(textOf(".farewell .about"), /^2 rounds, 4 players, 1 guest\. It’s all in the picture\.$/);
  assert.equal(heard(), "anna closed the room at 21:00.");
  await until(() => all(".awards").length > 0 && all(".poster img").length > 0);
  assert.match(textOf(".awards"), /Nearest ?anna, 6 ms to pro-g InstaGib …/);
  assert.equal(nameOf(one(".awards")), "Awards");
  assert.match(textOf(".watched"), /zoe watched\./);
  assert.match(nameOf(one(".poster img")), /pro-g InstaGib/);
  assert.match(one(".poster img").getAttribute("src"), /^blob:/);
  await shows("night-early", "anna");
  assert.match(textOf(".farewell"), /The room closed before we played\./);
  assert.equal(all(".poster").length, 0);
});

test("the organiser ends the night beside the next round, and the question stands in place", async () => {
  await shows("launching-again", "anna");
  assert.deepEqual(all(".parting button").map(nameOf), ["Next round", "End the night"]);
  await until(() => view.stage === "go" && all(".parting").length > 0);
  one(".parting [data-sure=end]").focus();
  await press(".parting [data-sure=end]");
  assert.deepEqual(asked, [], "the first press only asks");
  assert.match(textOf(".parting"), /^Shall we call it a night\? Ending closes the room for everybody\. The picture is on all pages already\. Next round End now Keep playing Same time Friday\? The room and its link stay\. Friday, November 27 at 20:00\. Yes, same time$/);
  assert.deepEqual(all("#stage .primary").map(nameOf).filter((name) => name === "Next round").length, 1);
  assert.equal(one(".parting [role=alert]").textContent, "Ending closes the room for everybody. The picture is on all pages already.");
  assert.equal(document.activeElement, one(".parting [data-action=end]"), "the focus stays in place");
  await press(".parting [data-action=unsure]");
  assert.deepEqual([all(".parting button").map(nameOf), asked], [["Next round", "End the night"], []]);
  await press(".parting [data-sure=end]");
  await press(".parting [data-action=same-time]");
  assert.deepEqual(asked, ['settings{"settings":{"every":"fri 20:00 UTC"}}', "end{}"]);
  await passes(2000);
  await press(".parting [data-action=end]");
  assert.equal(asked.at(-1), "end{}");
  await passes(2000);
  for (const [reader, how] of [["ben", {}], ["stranger", {}], ["stranger", { tv: true }]]) {
    await shows("launching-again", reader, how);
    assert.equal(all("#stage [data-sure=end]").length, 0, reader);
  }
});

test("before anybody played the organiser ends the night in the details, where the question stands, too", async () => {
  await shows("gathering", "anna");
  await unfolds();
  await press("#steer [data-sure=end]");
  assert.match(textOf("#steer .sure"), /^End the night\? Everyone will be told/);
  assert.deepEqual([view.stage, asked], ["lobby", []]);
  await press("#steer [data-action=end]");
  assert.deepEqual(asked, ["end{}"]);
  await passes(2000);
});

test("every page has the poster once games open, and fetches nothing after the end", async () => {
  await shows("launching-again", "anna");
  await press(".parting [data-sure=end]");
  await until(() => all(".parting .poster img").length > 0);
  await press(".parting [data-action=unsure]");
  for (const reader of ["anna", "ben", "zoe", "stranger"]) {
    const { state } = tableOf("night");
    await shows("launching-again", reader);
    answers.isGone = true;
    await tells({ room: state.room, people: state.people, log: state.log });
    assert.equal(view.stage, "night");
    assert.match(one(".poster img").getAttribute("src"), /^blob:/, `${reader}: there is no empty frame`);
    assert.match(textOf(".awards"), /Nearest/, reader);
    if (reader !== "stranger") await press("[data-action=nameless]");
    await settles();
    assert.equal(all(".poster img").length, 1, reader);
    assert.deepEqual(fetched.filter((file) => !file.endsWith("/countries-110m.json")), [], reader); // Node cannot load the map's library, and so asks for the map again
    if (reader !== "stranger") await press("[data-action=nameless]");
    answers.isGone = false;
  }
});

test("a standing room shows the next date by the reader's clock, and who comes", async () => {
  await shows("meeting-awake", "ben");
  assert.equal(textOf(".meeting .date"), "Next: Friday, November 27 at 19:00, today");
  assert.equal(one(".meeting time").getAttribute("datetime"), "2026-11-27T19:00:00Z");
  assert.match(textOf(".meeting"), /Coming: ben No answer yet: anna, chong and dave/);
  assert.match(textOf(".meeting .last"), /Last time: pro-g InstaGib #1484 \(United States\), 89 ms average · liked by 1 of 2/);
  assert.deepEqual(all(".meeting [aria-pressed=true]").map(textOf), ["I’m in", "Good"]);
  await press('[data-action=come][data-value="null"]'); // pressed again, it is taken back
  await press('[data-action=come][data-value="false"]');
  await press('[data-action=like][data-value="false"]');
  assert.deepEqual(asked, ['come{"comes":null}', 'come{"comes":false}', 'like{"liked":false}']);
});

test("a standing room sleeps, and only its own people open it and read its history", async () => {
  await shows("meeting-asleep", "ben");
  assert.equal(heard(), "The room sleeps until somebody comes back. Link and code stay the same.");
  await press("[data-action=wake]");
  assert.deepEqual(asked, ["wake{}"]);
  answers.to = (what) => (what.startsWith("evenings") ? Response.json({ evenings: [{ began: "2026-11-20T20:00:00Z", stays: [{ at: "2026-11-20T20:01:00Z", server: "<b>den", connect: "192.0.2.1:27960", mean_ms: 89, players: [{ name: "anna", ping_ms: 6, liked: true }, { name: "<i>ben" }] }] }] }) : undefined);
  await press("[data-action=evenings]");
  answers.to = undefined;
  assert.match(textOf("#dialog table"), /<b>den .*89 ms anna 6 ms liked it, <i>ben|<b>den/);
  await press("#dialog [data-sure=forget]");
  assert.match(textOf("#dialog .sure"), /You lose your place here/);
  await press("#dialog [data-action=unsure]");
  assert.equal(all("#dialog .sure").length, 0);
  one("#dialog").close();
  await shows("meeting-asleep", "stranger");
  assert.doesNotMatch(textOf(stage), /Open the room|History/);
});

test("a proposal to move on takes an answer, and shows the organiser what to type on a server of their own", async () => {
  const proposal = { why: { key: "moving.mends", with: '{"server":"arena"}' }, addr: "[2001:db8::9]:25565", server: {}, at: "2026-11-21T20:00:00Z", asked: ["anna", "ben", "cleo"], answers: { ben: "after-map", cleo: "no", "x; op zoe": "after-map" }, tells_map: true };
  proposal.asked.push("x; op zoe");
  const change = (state) => ({ ...state, moving: { proposal, places: [] }, way: { ...state.way, transfer: "/transfer {host} {port} {player}" } });
  await shows("launching", "anna", { change });
  assert.deepEqual(all(".moving code").map((code) => code.textContent), ['/transfer "2001:db8::9" 25565 ben']);
  await press(".moving [data-answer=now]");
  assert.deepEqual(asked, ['moveon{"addr":"[2001:db8::9]:25565","answer":"now"}']);
  await shows("launching", "ben", { change });
  assert.equal(all(".moving code").length, 0);
});
