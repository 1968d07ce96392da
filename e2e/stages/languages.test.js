// Everything that the page says comes from the catalogue. In this test's language every sentence is
// in brackets: what stands outside them is said without it.

import assert from "node:assert/strict";
import test from "node:test";

process.env.PAGE_LANGUAGE = "en-XA";
const { names, press, shows, unfolds, view, settles } = await import("./page.js");

/** What is nobody's sentence: names, addresses, countries and figures. */
const others = "bdi, code, svg, textarea, [hidden], option, option[lang], .brand, .flag, .world, .turning, .in, #room-code, #room-game, #status, [data-key=places] tbody th";

function untranslated() {
  const found = [];
  const walk = (node, depth) => {
    for (const child of node.childNodes) {
      if (child.nodeName === "#text") {
        let outside = "";
        for (const c of child.nodeValue) {
          if (c === "[") depth++;
          else if (c === "]") depth--;
          else if (depth === 0) outside += c;
        }
        if (/\p{L}{2}/u.test(outside) && !/^(Muster|[A-Z]{6,8})$/.test(outside.trim())) found.push(outside.trim());
      } else if (!child.matches?.(others)) depth = walk(child, depth);
      else if (child.nodeType === 1) for (const c of child.textContent) depth += child.matches("bdi, code, .flag, .in") ? 0 : c === "[" ? 1 : c === "]" ? -1 : 0;
    }
    return depth;
  };
  walk(document.body, 0);
  for (const attribute of ["aria-label", "title", "placeholder", "alt"]) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      const label = element.getAttribute(attribute);
      if (/\p{L}{2}/u.test(label) && !label.startsWith("[") && !element.matches(".voter, .ready li, [hidden] *, .face")) found.push(`${attribute} ${label}`);
    }
  }
  return found;
}

for (const name of names.filter((of) => !of.startsWith("hostile"))) {
  test(name, async () => {
    for (const [reader, how] of [["organiser", {}], ["stranger", { tv: true, saw: true }], ["stranger", { door: "" }]]) {
      if (reader === "stranger" && !/^(gathering|reveal|voting-voted|waiting|launching-mixed|night|bo3-banning)/.test(name)) continue;
      await shows(name, reader, how);
      if (reader === "organiser" && /troubled|measuring|voting-ve|mixed|far|full|again|awake|waiting$|bo3-(maps|launching)/.test(name)) await unfolds();
      assert.deepEqual(untranslated(), [], `as ${reader} ${JSON.stringify(how)}`);
    }
  });
}

test("the question before the night's end", async () => {
  await shows("launching-again", "organiser");
  await press(".parting [data-sure=end]");
  assert.deepEqual(untranslated(), []);
});
