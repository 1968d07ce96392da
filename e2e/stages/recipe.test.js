// A server of the group's own: the texts that somebody copies, and the stage that shows them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { settles } from "./clock.js";
import { all, one, textOf } from "./page.js";

const statics = new URL("../../web/static/", import.meta.url);
const { clean, fieldsOf, knownOf, memoryFor, mostUserData, portsInWords, textsOf } = await import(new URL("recipe.js", statics).href);
const { drawRecipe } = await import(new URL("stages/recipe.js", statics).href);

const minecraft = {
  game: "minecraft", name: "Minecraft: Java Edition", grade: "A", image: "itzg/minecraft-server", from: "itzg/docker-minecraft-server", seen: "2026-08-19", arm64: true,
  licence: { env: "EULA=TRUE", who: "Mojang", url: "https://www.minecraft.net/eula" }, env: ["ENABLE_QUERY=false"],
  ask: [{ role: "name", env: "MOTD" }, { role: "memory", env: "MEMORY" }, { role: "whitelist", env: "WHITELIST" }],
  open: ["25565/tcp"], query: ["25565/tcp"], admin: ["25575/tcp"], volumes: ["/data"], linuxgsm: "mc", mem_min_gb: 1, join: ["address"], mind: ["There is no password. Names guard the door."],
};
const shooter = {
  game: "shooter", name: "Shooter", grade: "A", image: "example/shooter", from: "example/shooter", seen: "2026-05", flags: ["-i", "-t", "--stop-timeout=30", "--memory=8G", "--ulimit=nofile=10:20", "--cap-add=sys_nice"],
  ask: [{ role: "name", env: "NAME" }, { role: "password", env: "PW" }, { role: "players", env: "MAX" }, { role: "token", env: "TOKEN" }], made: [{ role: "rcon", env: "RCON" }],
  open: ["27015/udp"], query: ["27016/udp"], admin: ["27015/tcp"], volumes: ["/a/x", "/b/x", "/root/.steam"], password_min: 5, avoid: "/", need: ["A token for app 1"], mem_min_gb: 2, mem_rec_gb: 4, disk_gb: 60, join: ["address"],
};
const byHand = { game: "old", name: "Old", grade: "B", image: "example/old", from: "example/old", seen: "2024", state: "slow", wine: true, host_net: true, open: ["7777/udp"], admin: ["80/tcp"], volumes: ["/data"], hand: ["config-edit", "claim"], edit: ["a.cfg: name", "b.cfg"], silent: true, join: ["list"] };
const inWords = { game: "ship", name: "Ship", grade: "C", state: "none", hand: ["image"], open: ["1212/udp"], linuxgsm: "shp", join: ["list"] };

const room = { name: "Friday night", people: ["anna", "ben", "chong", "dave"], game: "Minecraft" };
const answered = (recipe, more = {}) => textsOf(recipe, { ...knownOf(recipe, room), ...more });

test("the form knows what the room knows", () => {
  assert.deepEqual(fieldsOf(minecraft, room).map(({ role, value, type }) => [role, value, type]), [["name", "Friday night", "text"], ["memory", "2", "number"], ["whitelist", "anna, ben, chong, dave", "text"]]);
  assert.deepEqual(fieldsOf(shooter, {}).map(({ role, value, secret }) => [role, value, secret]), [["name", "Shooter", false], ["token", "", true], ["password", "", true], ["players", "4", false]]);
  assert.deepEqual(fieldsOf(byHand, room), []);
  assert.deepEqual([1, 4, 5, 8, 9, 16, 40].map(memoryFor), [2, 2, 3, 3, 4, 6, 8]);
});

test("user data is what the picture shows, and its answers are marked", () => {
  const { newMachine, awaitsLicence } = answered(minecraft, { licence: true });
  assert.equal(awaitsLicence, false);
  assert.equal(newMachine.text, `#cloud-config
packages: [docker.io]
runcmd:
  - >-
    docker run -d --name minecraft --restart unless-stopped
    -p 25565:25565/tcp -v minecraft-data:/data
    -e EULA=TRUE -e ENABLE_QUERY=false -e MOTD='Friday night' -e MEMORY=2G
    -e WHITELIST=anna,ben,chong,dave
    itzg/minecraft-server
`);
  assert.deepEqual(newMachine.parts.filter(({ isAnswer }) => isAnswer).map(({ text }) => text), ["TRUE", "'Friday night'", "2G", "anna,ben,chong,dave"]);
});

test("no licence is accepted before its tick", () => {
  for (const licence of [undefined, false, "true", 1]) {
    const texts = answered(minecraft, { licence });
    assert.equal(texts.awaitsLicence, true);
    for (const tab of ["newMachine", "compose", "docker", "linuxgsm"]) assert.doesNotMatch(texts[tab].text, /EULA/);
  }
});

test("compose has each flag in its own words", () => {
  assert.equal(answered(shooter, { token: "T0k-en", password: "swordfish" }).compose.text, `mkdir -p shooter && cd shooter
(umask 077; p() { od -An -N9 -tx1 /dev/urandom | tr -d ' \\n'; };
  printf '%s\\n' "PW=swordfish" "TOKEN=T0k-en" "RCON=$(p)" > .env)
cat > compose.yaml <<'END'
services:
  shooter:
    image: example/shooter
    restart: unless-stopped
    stdin_open: true
    tty: true
    stop_grace_period: 30s
    mem_limit: 8G
    ulimits: {nofile: {soft: 10, hard: 20}}
    cap_add: [sys_nice]
    ports: ["27015:27015/udp", "27016:27016/udp"]
    volumes: ["a-x:/a/x", "b-x:/b/x", "steam:/root/.steam"]
    env_file: .env
    environment:
      NAME: "Friday night"
      MAX: "4"
volumes: {a-x: {}, b-x: {}, steam: {}}
END
docker compose up -d
`);
  const { compose, docker } = answered(byHand);
  assert.match(compose.text, /network_mode: host/);
  assert.match(docker.text, /--network host/);
  assert.doesNotMatch(compose.text + docker.text, /ports:| -p \d/);
});

test("user data has no secret, and leaves a token to be typed", () => {
  const { newMachine, docker, then } = answered(shooter, { token: "T0k-en", password: "swordfish" });
  assert.doesNotMatch(newMachine.text, /T0k-en|swordfish/);
  assert.match(newMachine.text, /"PW=\$\(p\)" "TOKEN=" "RCON=\$\(p\)" > \/srv\/shooter\.env/);
  assert.match(newMachine.text, /- >-\n {4}docker pull example\/shooter\n$/); // it waits for the token
  assert.deepEqual(then.newMachine.find(({ key }) => key === "recipe.then-late").with, { names: "TOKEN", file: "/srv/shooter.env", command: "sudo sh /srv/shooter.sh" });
  assert.doesNotMatch(docker.text, /-e [A-Z]+=(T0k-en|swordfish)/);
  assert.deepEqual(docker.missing, []);
  assert.deepEqual(answered(shooter).docker.missing, ["token"]);
});

test("a secret that a shell could read as anything else gives no text", () => {
  for (const [password, key] of [["a b cd e", "letters"], ["$(id)xx", "letters"], ["`id`xx", "letters"], ["it'sme", "letters"], ['"quoted"', "letters"], ["five/", "letters"], ["pässword", "letters"], ["a\nbcdef", "letters"], ["#hash-x", "letters"], ["~root-x", "letters"], ["!!xxxx", "letters"], ["x".repeat(201), "letters"], ["four", "short"]]) {
    const { wrong, newMachine, compose, docker } = answered(shooter, { password });
    assert.deepEqual([wrong.map((one) => one.key), newMachine, compose, docker], [[`recipe.wrong-${key}`], null, null, null], password);
  }
  assert.deepEqual(answered(shooter, { password: "Abc-1.2_^+=:@%," }).wrong, []);
});

test("answers lose what breaks a line, hides, or starts something", () => {
  for (const [said, want] of [["a\nb\r\tc", "a b c"], ["a\u0000\u202eb\u2028c\u0085d", "a b c d"], ["$(id) `id` \\ \"x\"", "(id) id x"], ["\ue000x\ue001", "x"], ["  x  ", "x"], ["\ud83d", ""], ["é😀 日本", "é😀 日本"], [null, ""], ["😀".repeat(200), "😀".repeat(100)], ["x".repeat(10_000), "x".repeat(100)]]) assert.equal(clean(said), want);
  assert.equal(clean("a/b", 100, "/"), "ab");
  const people = ["a,b", "c$(id)", "c$(id)", "", ...Array.from({ length: 200 }, (_, i) => `n${i}`)];
  const { newMachine } = textsOf(minecraft, knownOf(minecraft, { name: "", people }));
  assert.match(newMachine.text, /WHITELIST='a,b,c \(id\),n0,n1,/);
  assert.equal(newMachine.text.match(/n\d+/g).length, 61); // of 64 names
});

test("user data stays as small as providers take it", () => {
  const wide = Array.from({ length: 64 }, (_, i) => `${i}${"😀".repeat(100)}`);
  const { newMachine } = textsOf(minecraft, { ...knownOf(minecraft, { name: "😀".repeat(500), people: wide }), licence: true });
  assert.ok(new TextEncoder().encode(newMachine.text).length < mostUserData);
  const crowd = { ...minecraft, ask: ["A", "B"].map((env) => ({ role: "whitelist", env })) };
  assert.equal(textsOf(crowd, knownOf(crowd, { people: wide })).newMachine, null);
});

test("what is read beside a text", () => {
  assert.equal(portsInWords(["7777/udp", "7777/tcp", "8888/tcp"]), "7777, 8888 TCP, 7777 UDP");
  const { open, memory, mind } = answered(shooter);
  assert.deepEqual(open, [{ key: "recipe.open-game", with: { ports: "27015 UDP" } }, { key: "recipe.open-lists", with: { ports: "27016 UDP" } }, { key: "recipe.open-shut", with: { ports: "27015 TCP", n: 1 } }]);
  assert.deepEqual(memory, [{ key: "recipe.memory-both", with: { least: 2, good: 4 } }, { key: "recipe.disk", with: { gb: 60 } }, { key: "recipe.amd64" }]);
  assert.deepEqual(mind, [{ key: "recipe.mind-udp" }]);
  const old = answered(byHand);
  assert.equal(old.newMachine, null);
  assert.deepEqual(old.byHand, [{ key: "recipe.hand.claim" }, { key: "recipe.hand.edit", with: { files: "a.cfg: name; b.cfg" } }]);
  assert.deepEqual(old.mind, [{ key: "recipe.mind-silent" }, { key: "recipe.mind-wine" }, { key: "recipe.mind-old" }]);
  assert.deepEqual(old.open.at(-1), { key: "recipe.open-block", with: { ports: "80 TCP", n: 1 } });
  const words = answered(inWords);
  assert.deepEqual([words.newMachine, words.compose, words.docker], [null, null, null]);
});

/** A place on the page with the stage in it. @param {any} recipe @param {any} [more] */
function opens(recipe, more = {}) {
  const el = document.createElement("div");
  document.getElementById("stage").replaceChildren(el);
  const pasted = [];
  const shown = { place: { name: "Frankfurt", country: "DE", mean_ms: 73, offers: [{ provider: "Vultr", region: "fra-de" }, { provider: "AWS", region: "eu-central-1" }] }, recipe, room, mine: true, by: "anna", paste: (address) => pasted.push(address), ...more };
  drawRecipe(el, shown);
  return { el, shown, pasted };
}

const types = (of, value) => {
  const field = one(of);
  if (typeof value === "boolean") field.checked = value;
  else field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};

test("three steps, and Copy only after the licence", () => {
  const { el, shown } = opens(minecraft);
  assert.equal(textOf(".recipe h1"), "Set up Minecraft: Java Edition in Frankfurt");
  assert.deepEqual(all(".recipe .numbered").map(textOf), ["1 Pick a provider there", "2 Give this to the new machine", "3 Then paste the address"]);
  assert.deepEqual(all(".recipe .providers label").map(textOf), ["Vultr measured, 73 ms on average fra-de", "AWS eu-central-1"]);
  const copy = () => one(".recipe [data-action=copy]");
  assert.ok(copy().disabled && !copy().hasAttribute("data-copy-text"));
  assert.equal(textOf("#recipe-why"), "Accept the licence first.");
  types(".recipe [name=licence]", true);
  assert.ok(!copy().disabled && copy().classList.contains("primary"));
  assert.match(copy().getAttribute("data-copy-text"), /^#cloud-config\n[^]*EULA=TRUE/);
  assert.equal(one(".recipe pre").textContent, copy().getAttribute("data-copy-text"));
  types(".recipe [name=name]", "x'; rm -rf ~; '<b>");
  assert.match(one(".recipe pre").textContent, /MOTD='x'\\''; rm -rf ~; '\\''<b>'/);
  assert.deepEqual(all(".recipe mark").map((mark) => mark.textContent).slice(0, 2), ["TRUE", "'x'\\''; rm -rf ~; '\\''<b>'"]);
  drawRecipe(el, { ...shown, room: { name: "Another", people: ["anna", "eve"] } }); // what somebody typed stays, and the rest follows the room
  assert.equal(one(".recipe [name=whitelist]").value, "anna, eve");
  assert.match(one(".recipe pre").textContent, /WHITELIST=anna,eve\n/);
  assert.equal(one(".recipe [name=name]").value, "x'; rm -rf ~; '<b>");
  assert.ok(one(".recipe [name=licence]").checked);
});

test("once copied, measuring is gold", () => {
  const { pasted } = opens(shooter);
  types(".recipe [name=token]", "T0k-en");
  const golden = () => all(".recipe .primary").map(textOf);
  assert.deepEqual(golden(), ["Copy"]);
  one(".recipe [data-action=copy]").click();
  assert.deepEqual(golden(), ["Measure it, all of us"]);
  one("#recipe-address").value = " 203.0.113.7 ";
  one(".recipe form").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  assert.deepEqual(pasted, ["203.0.113.7"]);
});

test("tabs go by arrows, and a missing token is named", () => {
  opens(shooter);
  const tab = () => one(".recipe [role=tab][aria-selected=true]");
  const keys = (key) => tab().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  assert.deepEqual(all(".recipe [role=tab]").map(textOf), ["New machine", "Compose", "Docker, one line"]);
  keys("ArrowRight");
  assert.equal(textOf(tab()), "Compose");
  assert.equal(document.activeElement, tab());
  assert.deepEqual(all(".recipe [role=tab]").map((one) => one.tabIndex), [-1, 0, -1]);
  assert.equal(textOf("#recipe-why").replaceAll(/[\u2066-\u2069]/g, ""), "Fill in “Token” first.");
  keys("ArrowLeft");
  keys("ArrowLeft");
  assert.equal(textOf(tab()), "Docker, one line");
  types(".recipe [name=token]", "two words");
  assert.equal(one(".recipe [name=token]").getAttribute("aria-invalid"), "true");
  assert.equal(all(".recipe pre").length, 0);
  assert.ok(one(".recipe [data-action=copy]").disabled);
});

test("by hand, in words, without a recipe, and for friends", async () => {
  opens(byHand);
  assert.deepEqual(all(".recipe .by-hand li").map((line) => textOf(line).replaceAll(/[\u2066-\u2069]/g, "")), ["Claim it at once: it belongs to whoever comes first.", "Start it, stop it, edit a.cfg: name; b.cfg, and start it again."]);
  assert.deepEqual(all(".recipe [role=tab]").map(textOf), ["Compose", "Docker, one line"]);
  opens(inWords);
  assert.equal(all(".recipe :is(pre, [data-action=copy])").length, 0);
  assert.match(textOf(".recipe .by-hand"), /Nobody keeps an image of it\. LinuxGSM knows it as .*shpserver/);
  opens(null);
  assert.match(textOf(".recipe .give"), /no recipe for .*Minecraft/);
  opens(minecraft, { mine: false });
  assert.equal(textOf(".recipe h1"), "anna gets it ready");
  assert.equal(all(".recipe :is(input, button, pre)").length, 0);
  await settles();
});

test("every sentence of a recipe is in the catalogue", () => {
  const known = JSON.parse(readFileSync(new URL("../../internal/catalogue/en.json", import.meta.url), "utf8"));
  const source = readFileSync(new URL("recipe.js", statics), "utf8") + readFileSync(new URL("stages/recipe.js", statics), "utf8");
  const named = [...source.matchAll(/"(recipe\.[a-z0-9.-]+)"/g)].map(([, key]) => key);
  const rest = [...["newMachine", "compose", "docker", "linuxgsm"].map((tab) => `recipe.tab.${tab}`), ...["name", "world", "token", "address", "owner", "password", "players", "memory", "whitelist", "password-empty", "token-empty"].map((role) => `recipe.${role}`), ...["claim", "account", "config-edit", "files", "world-upload", "device-login", "image", "token"].map((kind) => `recipe.hand.${kind}`)];
  assert.deepEqual([...new Set([...named, ...rest])].filter((key) => !known[key]), []);
  assert.deepEqual(Object.keys(known).filter((key) => key.startsWith("recipe.") && !named.includes(key) && !rest.includes(key)), []);
});
