// The lobby, and the doors before it.

import assert from "node:assert/strict";
import test from "node:test";
import { all, answers, asked, buttons, heard, live, nameOf, one, passes, press, sends, sets, settles, shows, stage, tells, textOf, view } from "./page.js";

/** The person in the lobby of that name. */
const person = (name) => one(`.one[data-name="${name}"]`);

test("nobody is there yet: the organiser reads what to do first, a stranger how to play along", async () => {
  await shows("gathering-nobody", "organiser");
  assert.equal(textOf("#stage h1"), "Who’s in tonight?");
  assert.equal(heard(), "Waiting for the first player");
  assert.ok(one("#stage [data-action=go]").disabled);
  assert.match(textOf("#invite"), /^Nobody yet\. Send them this\. 192\.0\.2\.99:8080\/#BAKODI Copy the link .*type BAKODI$/, "the link comes first");
  assert.deepEqual(all("#stage .primary").map(nameOf), ["Copy the link"], "gold is one thing");
  assert.equal(one("#invite .primary").dataset.copyText, live.state.you.link);
  assert.deepEqual(all(".beside-ticket h2").map(textOf), ["Playing too?", "For the wall"]);
  assert.match(textOf("#stage .next"), /They appear here as they come\./);
  const olga = { name: "Olga", arrival: 0, page: true, guest: true, organiser: true, peer: false, connected: false, probed: 0, answered: 0 };
  await shows("gathering-nobody", "organiser", { change: (state) => ({ ...state, people: [olga], you: { ...state.you, name: "Olga" } }) });
  assert.match(textOf(".beside-ticket .one"), /Olga ?organiser · watching/);
  assert.deepEqual([all("#nickname").length, all(".reactions").length, textOf("#stage .count .strong")], [0, 0, "Waiting for the first player"]);
  await tells({ people: [olga, { name: "ben", arrival: 1, peer: true, connected: true, page: false, probed: 0, answered: 0 }] });
  assert.equal(all("#invite.first").length, 0, "with the first player it is a lobby like others");
  assert.ok(one("#stage .start .primary"));
  await shows("gathering-nobody", "stranger");
  assert.match(textOf("#invite"), /Play along .* muster join http:\/\/192\.0\.2\.99:8080\/#BAKODI_thekeyofthelink~fingerprint Copy/);
  assert.match(textOf("#invite"), /Others scan this Open 192\.0\.2\.99:8080 and type BAKODI/);
  assert.match(textOf("#stage .next"), /The organiser starts once everyone’s here\./);
  assert.equal(all("#stage [data-action=go]").length, 0);
});

test("people stand in the order of their arrival, and each has what they are doing", async () => {
  await shows("gathering", "zoe");
  assert.deepEqual(all(".one").map(textOf), ["A annaorganiser · hereabout Netherlands", "B benhas the gameabout United States", "C chonghas the gameabout Malaysia", "D davehas the game", "Z zoewatching, no Muster yet"]); // the style sheet puts lines between
  assert.equal(textOf("#stage .count"), "5 are in, 4 can play zoe has no program yet.");
  assert.match(textOf("#invite"), /~fingerprint --name zoe/);
});

test("the organiser finds the server, brings friends, and has a menu for everybody", async () => {
  await shows("gathering", "anna");
  assert.ok(buttons().join("; ").includes("Menu for anna; Menu for ben; Menu for chong; Menu for dave; Menu for zoe; Invite; Find our server; Hello; Yes; Heart; Let’s go; One moment; Getting a drink"), buttons().join("; "));
  assert.equal(textOf("#invite .link"), "192.0.2.99:8080/#BAKODI"); // the key of the link is for programs
  assert.match(textOf("#invite"), /Friends who have Muster can paste it: muster join http:\/\/192\.0\.2\.99:8080\/#BAKODI_thekeyofthelink/);
  assert.equal(one("#invite a[target=_blank]").getAttribute("href"), "http://192.0.2.99:8080/?tv#BAKODI_thekeyofthelink");
  await press("#stage [data-action=go]");
  assert.deepEqual(asked, ['go{"stage":"gathering"}']);
});

test("on a phone the title is about the person who holds it, and says whether their game starts", async () => {
  await shows("gathering", "ben", { phone: true });
  assert.equal(textOf("#stage h1"), "You’re in, ben");
  assert.match(textOf(".own-game"), /OpenArena/);
  await shows("gathering-troubled", "anna", { phone: true });
  assert.match(textOf(".own-game.bad"), /Your computer can’t start OpenArena: the program openarena isn’t installed\./);
  await shows("gathering-troubled", "anna");
  assert.match(textOf(".own-game.bad"), /isn’t installed/); // elsewhere it is said, too, if there is trouble
});

test("who is away, comes along, hides their country or cannot play, is said", async () => {
  await shows("gathering-troubled", "zoe");
  assert.match(textOf(person("anna")), /can’t start the game/);
  assert.match(textOf(person("chong")), /comes along/);
  assert.match(textOf(person("dave")), /away/);
  assert.doesNotMatch(textOf(person("ben")), /United States/);
});

test("a person who comes in is noticed for ten seconds, and the others are not new", async () => {
  await shows("gathering-alone", "anna");
  const { state } = JSON.parse(JSON.stringify({ state: live.state }));
  await passes(11_000);
  await tells({ people: [...state.people, { name: "<b>Maximiliane</b>", arrival: 1, peer: true, connected: true, page: true, probed: 0, answered: 0 }] });
  assert.deepEqual(all(".one.new").map((of) => of.dataset.name), ["<b>Maximiliane</b>"]);
  assert.match(textOf(".one.new"), /just came in/);
  await passes(11_000);
  assert.equal(all(".one.new").length, 0);
  await tells({ people: live.state.people.map((of) => ({ ...of, name: of.arrival === 1 ? "max" : of.name })) });
  assert.equal(all(".one[data-name=max]").length, 1);
  assert.equal(all(".one.new").length, 0, "a person with another name is new");
});

test("a group of a known size waits for the rest, and starts by itself", async () => {
  await shows("gathering-awaited", "ben");
  assert.equal(heard(), "Waiting for 2 more players");
  assert.match(document.title, /^Waiting for 2 more players – Friday night – Muster$/);
  assert.match(textOf("#stage .next"), /You’re in\. It starts by itself once everyone’s here\./);
  assert.equal(textOf("#settings > summary > span"), "We look for the lowest average ping, nobody over 80 ms, or else 120 ms, on oa_dm1, ctf");
  const { rel, target } = one(".voice a");
  assert.deepEqual([textOf(".voice a"), one(".voice a").getAttribute("href"), rel.includes("noopener"), target], ["Voice: Discord", "https://discord.gg/abc", true, "_blank"]);
});

test("a room without a name is called by its code, and a voice link of another kind is none", async () => {
  await shows("gathering-unnamed", "stranger");
  assert.match(document.title, / – BAKODI – Muster$/);
  assert.equal(all(".voice").length, 0);
});

test("the organiser changes one setting at a time, in the field's unit", async () => {
  await shows("gathering", "anna");
  assert.ok(one("#order").closest("[hidden]"), "without a match it means nothing");
  assert.equal(all("#dial").length, 0, "a newer host's setting of a type that the page does not know");
  await sets("#by", "threshold");
  await sets("#limits_ms", "120, 180");
  await sets("#wait_ms", "30");
  await sets("#guests_vote", false);
  await sets("#agree", "false");
  await sets("#voice", " mumble://voice.example/den ");
  await sets("#webhook", "none");
  await sets("#every", "fri, sat 8pm");
  assert.deepEqual(asked, [{ by: "threshold" }, { limits_ms: [120, 180] }, { wait_ms: 1_800_000 }, { guests_vote: false }, { agree: false }, { voice: "mumble://voice.example/den" }, { webhook: "" }, { every: "fri, sat 8pm (UTC)" }].map((settings) => `settings${JSON.stringify({ settings })}`));
  asked.length = 0;
  await sets("textarea[name=places]", "Frankfurt, 192.0.2.71\n<b>London</b>, 192.0.2.72:443, tcp");
  assert.deepEqual(asked, ['settings{"settings":{"places":"Frankfurt, 192.0.2.71\\n<b>London</b>, 192.0.2.72:443, tcp"}}']);
  await shows("gathering", "anna", { change: (state) => ({ ...state, room: { ...state.room, candidates: ["Frankfurt", "<b>London</b>"] } }) });
  assert.match(textOf("#settings .more"), /Frankfurt and <b>London<\/b>/);
  await shows("gathering", "ben");
  assert.match(textOf("#settings"), /Rule Lowest average Ping limit, ms 250 ms/);
  assert.equal(all("#settings :is(input, select)").length, 0, "who is not the organiser changes nothing");
});

test("a sign that somebody sends rises from them, is heard, and a second one waits", async () => {
  await shows("gathering-reaction", "anna");
  assert.deepEqual(all(".risen").map((of) => of.closest(".one").dataset.name), ["ben"]);
  assert.match(textOf(".risen [data-say]"), /ben/);
  await passes(3100);
  assert.match(heard(), /ben/);
  assert.equal(all(".risen").length, 0);
  assert.equal(all(".reactions button").length, 6);
  await press(".reactions [data-sign=heart]");
  await press(".reactions [data-sign=go]"); // too soon
  assert.deepEqual(asked, ['react{"sign":"heart"}']);
  assert.equal(one(".reactions [data-sign=go]").getAttribute("aria-disabled"), "true");
  await passes(2100);
  await press(".reactions [data-sign=go]");
  assert.deepEqual(asked, ['react{"sign":"heart"}', 'react{"sign":"go"}']);
});

test("a person's menu renames them, plays without them, and sends them out after a question", async () => {
  await shows("gathering", "anna");
  const face = (name) => person(name).querySelector(".face");
  assert.equal(face("ben").getAttribute("aria-haspopup"), "menu");
  await press(face("ben"));
  assert.equal(face("ben").getAttribute("aria-expanded"), "true");
  assert.equal(one("#sign-menu").getAttribute("role"), "menu");
  assert.deepEqual(all("#sign-menu [role=menuitem]").map(textOf), ["Rename ben", "Play without ben", "Send ben out"]);
  await press("#sign-menu [data-action=menu-rename]");
  await sends("#name-of", "benny");
  await press(face("ben"));
  await press("#sign-menu [data-action=without]");
  await press(face("zoe"));
  assert.deepEqual(all("#sign-menu [role=menuitem]").map(textOf), ["Rename zoe", "Send zoe out"]);
  await press("#sign-menu [data-action=menu-out]");
  assert.equal(one("#sign-menu").getAttribute("role"), "alertdialog");
  assert.match(textOf("#sign-menu"), /Send zoe out of the room\?/);
  await press("#sign-menu [data-action=menu-close]");
  assert.equal(all("#sign-menu").length, 0);
  await press(face("zoe"));
  await press("#sign-menu [data-action=menu-out]");
  await press("#sign-menu [data-action=remove]");
  assert.deepEqual(asked, ['rename{"name":"benny","of":"ben"}', 'without{"name":"ben","counts":false}', 'remove{"name":"zoe"}']);
  await shows("gathering", "ben");
  assert.equal(all(".face[aria-haspopup]").length, 1, "others have a menu for themselves alone");
  await press(face("ben"));
  await press("#sign-menu [data-action=somewhere]");
  assert.deepEqual(asked, ['somewhere{"somewhere":true}']);
});

test("a wall has the code and nothing to press, and is dimmed when nothing happens for long", async () => {
  await shows("gathering", "stranger", { tv: true });
  assert.equal(textOf("#stage h1"), "Who’s in tonight?");
  assert.match(textOf("#invite"), /Open 192\.0\.2\.99:8080 and type BAKODI/);
  assert.ok(!document.documentElement.classList.contains("idle"));
  view.stirred -= 11 * 60_000;
  view.changed();
  await settles();
  assert.ok(document.documentElement.classList.contains("idle"));
  await tells({ people: [] });
  assert.ok(!document.documentElement.classList.contains("idle"));
});

test("strangers' names stand as text, apart from the words around them", async () => {
  await shows("hostile-gathering", "stranger");
  assert.equal(one("#room-name").textContent, "<b>Friday</b> night");
  assert.equal(all(".one bdi.name").length, 5);
  assert.ok(textOf(stage).includes("<img src=x onerror=alert(1)>") && textOf(stage).includes("שלום"));
  assert.ok(all(".next bdi").length > 0, "a name in a sentence turns the words around it");
  const letters = all(".one bdi.name").map((of) => of.textContent).find((text) => text.startsWith("zalgo"));
  assert.ok(letters.length < 12, `a tower of ${letters.length} accents`);
});

test("a stranger meets two doors; watching leads in, and the page asks for a nickname only there", async () => {
  await shows("gathering", "stranger", { door: "" });
  assert.equal(textOf("#stage h1"), "Are you in?");
  assert.equal(heard(), "Friday night, OpenArena. 5 people are in. Play or watch?");
  assert.equal(textOf("#sender"), "anna sent you here");
  assert.equal(all("#steps li, #nickname, #welcome").length, 0);
  assert.deepEqual(all(".door button").map((of) => of.getAttribute("aria-pressed")), ["false", "false"]);
  assert.deepEqual(all(".cost").map(textOf), ["needs Muster", "1 click"]);
  assert.equal(textOf(".who-is-in").replace(/\?.*/, "").trim(), "A anna B ben C chong D dave Z zoe");
  await press(".door[data-door=watch] button");
  assert.equal(one(".door[data-door=watch] button").getAttribute("aria-pressed"), "true");
  await passes(700);
  assert.equal(view.stage, "lobby");
  assert.equal(sessionStorage.getItem("muster door BAKODI"), "past", "the doors come back");
  answers.to = (what) => (what === "enter" ? Response.json({ name: "zoe", token: "zoe's" }) : undefined);
  await sends("#nickname", "zoe");
  answers.to = undefined;
  assert.ok(asked.includes('enter{"name":"zoe"}'), asked.join());
  await shows("gathering", "organiser", { door: "" });
  assert.equal(view.stage, "lobby", "the organiser meets no door");
});

/** What the host offers a visitor of a system. */
const offer = (system) => {
  const kinds = { "windows-amd64": ["get.windows", "muster.exe"], darwin: ["get.macos", "muster.zip"], "linux-amd64": ["get.linux", "muster.tar.gz"] };
  const program = (id) => ({ system: id, name: { key: kinds[id][0] }, file: kinds[id][1], size: 40.2e6, origin: "friend", advice: { key: "get.advice-linux" } });
  return { version: "1.2.3", system, yours: { key: kinds[system][0] }, release: "https://muster.example/releases", programs: Object.keys(kinds).map(program) };
};

test("the way in is that of the visitor's system: its program, the project's own, or a line to paste", async () => {
  await shows("gathering", "stranger", { door: "", offer: offer("windows-amd64") });
  assert.match(textOf("#way-in"), /^Your way in, on Windows Muster, 41 MB\. Unsigned copy from your friend’s computer/);
  assert.match(textOf(".other-ways"), /Linux/);
  await shows("gathering", "stranger", { door: "", offer: { ...offer("linux-amd64"), programs: [] , system: undefined } });
  assert.match(textOf("#way-in"), /This host has no program for Linux\./);
  assert.equal(nameOf(one("#way-in a.button")), textOf("#way-in a.button"));
  await shows("gathering", "stranger", { door: "", offer: { version: "1.2.3", phone: true, yours: { key: "get.phone" }, programs: [] } });
  assert.match(textOf("#way-in"), /Play needs your computer/);
  await press("#way-in .primary");
  const away = offer("windows-amd64");
  Object.assign(away.programs[0], { away: true, version: "1.2.3" });
  await shows("gathering", "stranger", { door: "", offer: away });
  assert.match(textOf("#way-in"), /This host first downloads it from the project/);
  Object.assign(away.programs[0], { wrong: true, trouble: { key: "plain", with: { text: "it isn’t the one the project signed" } } });
  await shows("gathering", "stranger", { door: "", offer: away });
  assert.match(textOf("#way-in .trouble"), /isn’t the one the project signed/);
  assert.equal(all("#way-in button[data-action=get]").length, 0);
});

test("playing downloads the program, waits for it, and goes in once it is there", async () => {
  await shows("gathering", "stranger", { door: "", offer: offer("linux-amd64") });
  answers.to = (what) => (what === "muster.tar.gz" || what === "linux-amd64" ? new Response("the program", { headers: { "Content-Disposition": 'attachment; filename="muster-join_x.tar.gz"' } }) : undefined);
  await press(".door[data-door=play] button");
  await passes(100);
  answers.to = undefined;
  assert.match(textOf("#getting"), /It’s in your downloads.*Waiting for your program\./);
  await tells({ you: { ...live.state.you, name: "dave" } });
  assert.match(textOf("#getting"), /You’re in, dave|You’re in/);
  await passes(2000);
  assert.equal(view.stage, "lobby");
});
