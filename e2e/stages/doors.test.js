// The doors to a room that looks for a place: on Home, and on the front page of a host for everybody.

import assert from "node:assert/strict";
import test from "node:test";
import { answers, asked, settles } from "./page.js";

const statics = new URL("../../web/static/", import.meta.url);
const games = [
  { id: "openarena", name: "OpenArena", by: "mean", listed: true },
  { id: "valheim", name: "Valheim", by: "mean", listed: false },
];

/** Types a game into a field. @param {HTMLElement} within @param {string} name */
function types(within, name) {
  const input = within.querySelector("[role=combobox]");
  input.value = name;
  input.dispatchEvent(new Event("input"));
  input.dispatchEvent(new Event("change"));
}

/** Presses a form's button. @param {HTMLFormElement} form */
async function submits(form) {
  asked.length = 0;
  form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settles();
}

/** What the page asked for, read. @param {string} action */
const request = (action) => JSON.parse(asked.find((text) => text.startsWith(action))?.slice(action.length) ?? "null");

/** The front page of a host. @param {number | undefined} places */
async function fronts(places) {
  document.getElementById("front")?.remove();
  const main = document.createElement("main");
  main.id = "front";
  document.body.append(main);
  answers.to = (what) => {
    if (what === "service") return new Response(JSON.stringify({ version: "1", games, max_players: 16, max_servers: 100, places }));
    if (what === "rooms") return new Response(JSON.stringify({ message: "this host knows no places", hint: "give some" }), { status: 400 });
  };
  const { front } = await import(new URL("front.js", statics).href);
  await front();
  return main;
}

test("the front page opens a room that looks for a place, with a game or without one", async () => {
  const main = await fronts(60);
  const form = main.querySelector("#where form");
  assert.match(main.querySelector("#where summary").textContent, /^No server yet\?See where one suits all of you\./);
  await submits(form);
  assert.deepEqual(request("rooms"), { seeks: "place" });
  assert.equal(form.querySelector(".trouble").textContent, "This host knows no places. Give some.");
  types(form, "valheim");
  await submits(form);
  assert.deepEqual(request("rooms"), { game: "valheim", seeks: "place" });
  types(form, "a game that nobody knows");
  await submits(form);
  assert.equal(request("rooms"), null, "it opens a room for a game that nobody chose");
});

test("a host without places has no such door", async () => {
  const main = await fronts(undefined);
  assert.equal(main.querySelector("#where"), null);
});

test("Home opens a room that looks for a place, with a game or without one", async () => {
  const { open } = await import(new URL("home/play.js", statics).href);
  const main = document.createElement("main");
  document.body.append(main);
  globalThis.open = () => null;
  globalThis.AudioContext = class {
    async resume() {}
  };
  const toasts = [];
  const home = { games, state: { name: "ann", launch: "ask", room: {}, rooms: [] }, toast: (text) => toasts.push(text), attempt: (_, act) => Promise.resolve(act()).catch(() => {}) };
  open(main, home, true);
  const form = main.querySelector("form");
  assert.equal(main.querySelector("h1").textContent, "Where should our server stand?");
  assert.equal(form.elements.namedItem("map"), null, "it asks for a server's map");
  assert.equal(form.elements.namedItem("servers"), null, "it asks for a list");
  await submits(form);
  assert.equal(request("host").room.seeks, "place");
  assert.equal("game" in request("host").room, false);
  types(form, "valheim");
  await submits(form);
  assert.equal(request("host").room.game, "valheim");
  types(form, "a game that nobody knows");
  await submits(form);
  assert.equal(request("host"), null);
  assert.equal(toasts.length, 1);
  main.remove();
});
