// A match under a league's law: a blind veto, objections to the server, and maps on two.

import assert from "node:assert/strict";
import test from "node:test";
import { all, asked, nameOf, one, press, shows, textOf } from "./page.js";

test("each side strikes one, and sees nothing of the other's", async () => {
  await shows("law-striking", "ann");
  assert.equal(textOf("#stage h1"), "Strike one");
  assert.match(textOf(".law"), /^The <b>Cup<\/b> ?No server .*its own order decides: “The lowest average\.”.*Each side strikes one of these/);
  await press(".nominee input");
  await press("#stage .move");
  assert.match(asked.at(-1), /^move\{"number":1,"what":"/);
  await shows("law-struck", "emil");
  assert.equal(textOf("#stage h1"), "Each side strikes one");
  assert.equal(all(".nominee input, .nominee.banned").length, 0);
  await shows("law-struck", "ann");
  assert.equal(all(".nominee.banned").length, 0);
});

test("the side with the higher average objects, asks for a delay, or is fine with the server", async () => {
  await shows("bo3-maps", "emil"); // the page forgets the turn before
  await shows("law-objecting", "emil");
  assert.equal(textOf("#stage h1"), "Do you object?");
  assert.match(textOf(".nth"), / is ours, unless there is an objection in time, by emil$/);
  assert.deepEqual(all(".law-answers button").map((of) => nameOf(of)), ["Another server", "Ask for a delay", "Fine with me"]);
  assert.equal(all(".nominee input").length, 0);
  assert.match(textOf(".venues"), / .* /);
  await press(".law-answers [data-key=delay]");
  assert.deepEqual(asked.slice(-1), ['move{"number":1,"what":"delay"}']);
  for (const watcher of ["ann", "zoe"]) {
    await shows("law-objecting", watcher);
    assert.equal(textOf("#stage h1"), "Any objection?");
    assert.equal(all(".law-answers").length, 0);
  }
});

test("the way there says which server each map is on, and what the law says of it", async () => {
  await shows("law-launching", "ann");
  assert.equal(all("#stage .destination .venues li").length, 3);
  assert.match(textOf(".venues li"), /^\S+ · /);
  assert.match(textOf(".match-story"), /emil · Tin Foxes ?Asks for a delay/);
  assert.match(textOf(".match-story .law"), /breaks the law of The <b>Cup<\/b> by 8\.0 ms: the sides’ averages are 10\.0 ms apart\. “Averages within 2 ms\.”.*A delay up to 52 ms was asked for\./);
  assert.equal(one(".law b").querySelector("b"), null);
});
