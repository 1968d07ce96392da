// The signs that people send each other while they wait. The host passes them on, and allows one
// each two seconds; the page shows a sign rising from its sender.

import { ask } from "../api.js";
import { button, h, svg } from "../dom.js";
import { say } from "../say.js";
import { wallTime } from "../time.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */

/** The signs in the order of their buttons, as the host names them, each in a box of 24 × 24. */
const drawings = {
  hello: "M8.2 13V6.7M11.3 12V4.7M14.4 12.2V5.5M17.3 13.5V8M8.2 12.5h9.1v3.3a4.5 4.5 0 0 1-9.1 0ZM8 16 4.7 12.6",
  yes: "m5 12.5 4.5 4.5L19 7.5",
  heart: "M12 20S3.5 14.7 3.5 9.2A4.6 4.6 0 0 1 12 6.8a4.6 4.6 0 0 1 8.5 2.4C20.5 14.7 12 20 12 20Z",
  go: "M13.5 2.5 5.5 13.5h5l-1.5 8 9-12h-5.5Z",
  moment: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17ZM12 7.5V12l3 2",
  drink: "M4.5 10h11v6a4 4 0 0 1-4 4h-3a4 4 0 0 1-4-4ZM15.5 11.5H18a2 2 0 0 1 0 5h-2.5M8 3.5c-1 1.3 1 2 0 3.3M12 3.5c-1 1.3 1 2 0 3.3",
};

/** Which signs consist of lines, and which of thick lines. All other signs are areas. @type {Record<string, string>} */
const strokes = { yes: "lines", moment: "lines", drink: "lines", hello: "thick" };

/** How long a sign rises, and how long its sender waits before the next, ms. */
const rises = 1600;
const pause = 2000;

/** When each sign was first seen here, by sender and time. @type {Map<string, number>} */
const seen = new Map();

/** When this page's person sent the last reaction. */
let sent = 0;

/** @param {string} sign */
function drawing(sign) {
  return svg("svg", { class: `react ${strokes[sign] ?? ""}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: drawings[/** @type {keyof typeof drawings} */ (sign)] }));
}

/** The signs that are rising now. A page that comes late does not see old ones. @param {State} state @param {number} now of the host, ms */
export function rising(state, now) {
  const shown = (state.reactions ?? []).filter(({ sign, name, at }) => {
    const key = `${name} ${at}`;
    if (!Object.hasOwn(drawings, sign)) return false; // of a newer host
    if (!seen.has(key)) seen.set(key, now - Date.parse(at) < pause ? wallTime() : 0);
    return wallTime() - (seen.get(key) ?? 0) < rises;
  });
  if (seen.size > 200) for (const key of seen.keys()) if (!shown.some(({ name, at }) => key === `${name} ${at}`)) seen.delete(key);
  return shown;
}

/** What rises from a person's sign. @param {ReturnType<typeof rising>} all @param {Person} person */
export function bubbles(all, person) {
  return all.filter(({ name }) => name === person.name).map(({ name, sign, at }) => h("span", { class: "risen", "data-key": `bubble ${at}` }, drawing(sign), h("span", { class: "unseen", "data-say": true }, say("react.said", { player: name, sign }))));
}

/** The six buttons. */
export function reactions() {
  const waits = wallTime() - sent < pause;
  return h("div", { class: "reactions", "data-key": "reactions", role: "group", "aria-label": say("react.label") }, Object.keys(drawings).map((sign) => button("react", drawing(sign), { "data-sign": sign, "data-key": `react ${sign}`, "aria-label": say(`react.${sign}`), title: say(`react.${sign}`), "aria-disabled": waits ? "true" : undefined })));
}

/** @param {() => void} changed */
export function actions(changed) {
  return {
    /** @param {DOMStringMap} data */
    react: async ({ sign }) => {
      if (wallTime() - sent < pause) return;
      sent = wallTime();
      changed();
      await ask("react", { sign });
    },
  };
}
