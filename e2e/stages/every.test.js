// What holds on every stage, for everybody who looks at it.

import assert from "node:assert/strict";
import test from "node:test";
import * as page from "./page.js";

const { all, isSeen, nameOf, names, shows, stage, tableOf, textOf, view } = page;

/** The states in which all details are unfolded: one for each content of them. */
const unfolded = /hostile|troubled|crowd|measuring|voting-ve|mixed|far|full|again|awake|waiting$|bo3-(gathering|maps|launching)|place-(vote|chosen|ready)/;

/** Whose page that is. */
const firstOf = (name) => ["anna", "ann"].find((reader) => reader in tableOf(name).readers) ?? "organiser";

/** The ways to look at a state: the organiser, a player, a guest and a stranger, a phone, a wall, the doors. */
function* looks(name) {
  const readers = Object.keys(tableOf(name).readers);
  const players = readers.filter((reader) => reader !== "organiser" && reader !== "stranger");
  const first = firstOf(name);
  yield [first, {}];
  if (players.length > 0 && players.at(-1) !== first) yield [players.at(-1), {}];
  yield ["stranger", {}];
  if (/gathering|mixed|far|banning/.test(name)) yield [first, { phone: true }];
  yield ["stranger", { tv: true }];
  if (/reveal|moved/.test(name)) for (const how of [{ saw: true, still: true }, { saw: true, tv: true }]) yield [how.tv ? "stranger" : first, how];
  if (/gathering|voting/.test(name)) yield ["stranger", { door: "" }];
}

/** Elements that the page makes itself; anything else would be a stranger's markup. */
const own = new Set("A B BDI BR BUTTON CANVAS CODE DATALIST DD DETAILS DIV DL DT FIELDSET FIGURE FORM H1 H2 H3 I IMG INPUT LABEL LEGEND LI OL OPTION OUTPUT P CAPTION PROGRESS S SECTION SELECT SMALL SPAN STRONG SUMMARY TABLE TBODY TD TEXTAREA TH THEAD TIME TR UL".split(" "));

/** What people operate, or what needs a name for another reason. */
const named = "button, input, select, textarea, a, summary, progress, [role=img], [role=region], [role=timer], [role=group], [role=menu]";

/** What is wrong with an element of the page. @param {Element} element @param {Set<string>} ids that occurred before @returns {string | undefined} */
function wrongWith(element, ids) {
  if (element.namespaceURI !== document.documentElement.namespaceURI) return undefined;
  if (!own.has(element.tagName)) return "a stranger's markup";
  for (const { name, value } of element.attributes) {
    if (name.startsWith("on")) return "a stranger's script";
    if (/^aria-(labelledby|describedby|controls)$|^for$/.test(name) && !document.getElementById(value)) return `nothing has its ${name}`;
  }
  if (element.tagName === "IMG" && !/^(blob:|$)/.test(element.getAttribute("src") ?? "")) return "a picture from elsewhere";
  if (element.tagName === "A" && !/^(https?|steam|mumble|ts3server):/.test(element.getAttribute("href") ?? "")) return "a link of another kind";
  if (element.id && ids.has(element.id)) return "its id occurs twice";
  ids.add(element.id);
  if (!isSeen(element)) return undefined;
  if (element.matches(named) && nameOf(element).trim() === "") return "nobody can say what this is";
  if (element.tagName === "BUTTON" && element.querySelector("button, a, input, select")) return "a control within a control";
  if (/^(UL|OL)$/.test(element.tagName) && [...element.children].some((one) => one.tagName !== "LI")) return "a list of other things";
  return undefined;
}

for (const name of names) {
  test(name, async () => {
    const first = firstOf(name);
    for (const [reader, how] of looks(name)) {
      const as = `as ${reader} ${JSON.stringify(how)}`;
      await shows(name, reader, how);
      if (reader === first && unfolded.test(name)) await page.unfolds();
      assert.equal(textOf("#toast"), "", as);
      const titles = all("#stage h1");
      assert.equal(titles.length, 1, `${as}: titles`);
      assert.match(textOf(titles[0]), /\p{L}{2}/u, as);
      assert.match(document.title, /\p{L}{2}.* – .* – Muster$/u, as);
      const words = textOf(stage);
      assert.doesNotMatch(words, /\{(?!address\})\w+\}|undefined|NaN|\[object|\bnull\b|Infinity/, as);
      assert.doesNotMatch(page.heard(), /\d+\.\d+\.\d+\.\d+|[{}]|undefined/, as);
      if (/reveal|countdown|search|ask|placed/.test(view.stage)) assert.doesNotMatch(words, /192\.0\.2\.\d+:/, `${as}: an address`);
      if (how.tv) assert.deepEqual(all("#stage :is(button, a, input, select)").map(nameOf), [], `${as}: nobody presses anything on a wall`);
      if (reader === "stranger") assert.deepEqual(all("#stage [data-action=go]").map(textOf), [], `${as}: a stranger steers`);
      const ids = new Set();
      const wrong = all("#main *").flatMap((element) => {
        const why = wrongWith(element, ids);
        return why ? [`${why}: ${element.outerHTML.slice(0, 160)}`] : [];
      });
      assert.deepEqual(wrong, [], as);
    }
  });
}
