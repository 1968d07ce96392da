// What people read and can press on each stage: told.txt has a line for each state and reader. A change of
// it shows what people will see: TOLD=write npm test writes it anew.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import { all, buttons, isSeen, names, shows, tableOf } from "./page.js";

const file = new URL("told.txt", import.meta.url);

/** The words of what matches and is seen. @param {string} of */
const read = (of) => all(of).filter(isSeen).map((element) => element.textContent.replace(/\s+/g, " ").trim()).join(" · ");

/** The organiser, a player who is not, and whoever only looks. @param {string} name */
function readersOf(name) {
  const { state, readers } = tableOf(name);
  const player = Object.keys(readers).find((reader) => !readers[reader].you.organiser && state.people.some((person) => person.name === reader && person.peer));
  return [player, "organiser", "stranger"].filter((reader) => reader in readers);
}

test("what people read and can press", async () => {
  let told = "";
  for (const name of names.filter((name) => !/hostile|crowd/.test(name))) {
    for (const reader of readersOf(name)) {
      await shows(name, reader);
      told += `${name}, ${reader}\n  ${read("#stage :is(h1, h2)")}\n  ${read("#stage .next")}\n  [${buttons().join("] [")}]\n`;
    }
  }
  if (process.env.TOLD === "write") writeFileSync(file, told);
  assert.equal(told, readFileSync(file, "utf8"));
});
