// What axe-core says about the structure of the stages. What needs a layout is looked at in browsers.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import * as page from "./page.js";

/** Rules of axe-core that need a layout; a browser looks at them. */
const laidOut = ["color-contrast", "target-size", "scrollable-region-focusable", "region", "css-orientation-lock"];

const require = createRequire(import.meta.url);
const axeFile = process.env.AXE ?? "/opt/muster-e2e/node_modules/axe-core";

test("axe-core finds nothing in the structure", async (t) => {
  let axe;
  try {
    globalThis.self = globalThis;
    axe = require(axeFile);
  } catch (error) {
    if (process.env.CI) throw error;
    return t.skip(`axe-core is not there: ${error.message}; bash .ci/install brings it`);
  }
  for (const [name, reader, how] of [
    ["gathering-troubled", "anna", {}], ["gathering", "stranger", { door: "" }], ["measuring", "anna", {}], ["looking", "organiser", {}], ["voting-vetoed", "anna", {}],
    ["reveal", "anna", { saw: true, still: true }], ["countdown", "anna", {}], ["launching-mixed", "dave", {}], ["failed-far", "anna", {}], ["waiting", "anna", {}], ["night", "anna", {}],
    ["launching-again", "anna", {}], ["bo3-gathering", "ann", {}], ["bo3-maps", "emil", {}], ["meeting-awake", "ben", {}], ["voting", "stranger", { tv: true }],
    ["place-gathering", "stranger", { door: "" }], ["place-declined", "anna", {}], ["place-vote", "ben", {}], ["place-chosen", "organiser", {}], ["place-hostile-search", "stranger", {}],
  ]) {
    await page.shows(name, reader, how);
    await page.unfolds();
    const looking = axe.run(document.documentElement, { resultTypes: ["violations"], rules: Object.fromEntries(laidOut.map((rule) => [rule, { enabled: false }])) });
    await page.passes(1000); // its own timers
    const { violations } = await looking;
    assert.deepEqual(violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`)), [], `${name} as ${reader} ${JSON.stringify(how)}`);
  }
});
