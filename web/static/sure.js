// What cannot be taken back needs a second press. The button itself asks, or a question appears
// beside it where somebody should know what follows.

import { button, h } from "./dom.js";
import { said, say } from "./say.js";
import { clearTimer, setTimer } from "./time.js";

/** How long a button waits for the second press, ms. */
const waits = 4000;

const armed = { key: "", timer: 0 };

/** Whether a button has been pressed once. @param {string} key */
export const isArmed = (key) => armed.key === key;

/** Notes a press, and returns whether it was the second. @param {string} key @param {() => unknown} changed draws the page */
export function press(key, changed) {
  clearTimer(armed.timer);
  const isSure = isArmed(key);
  armed.key = isSure ? "" : key;
  if (!isSure) armed.timer = setTimer(() => ((armed.key = ""), changed()), waits);
  changed();
  return isSure;
}

/** The button whose question is on the page. */
let asked = "";

/** @type {() => void} */
let changed = () => {};

/**
 * A button that asks before it acts. The question goes before it, and the focus stays on the
 * button, so that a second press is a yes.
 * @param {string} action @param {import("./dom.js").Child | import("./dom.js").Child[]} label
 * @param {string} question its key @param {import("./say.js").Args} [args] the question's
 * @param {Record<string, string | undefined>} [attributes]
 * @param {{yes?: string, no?: string}} [answers] what the buttons say beside the question
 */
export function sure(action, label, question, args = {}, attributes = {}, { yes, no = say("sure.no") } = {}) {
  const key = [action, ...Object.values(args)].join(" ");
  if (asked !== key) return [button("ask-sure", label, { ...attributes, "data-sure": key, "data-key": key })];
  return [
    h("span", { class: "sure", role: "alert", "data-key": `${key}?` }, ...said(question, args)),
    button(action, yes ?? label, { ...attributes, class: "danger", "data-sure": key, "data-key": key }),
    button("unsure", no, { "data-key": `${key} no` }),
  ];
}

/** Takes the question away: somebody has answered it. */
export function answered() {
  asked = "";
  changed();
}

/** The actions of the buttons here. @param {() => unknown} draw draws what asks @returns {Record<string, (data: DOMStringMap) => unknown>} */
export function actions(draw) {
  changed = draw;
  return { "ask-sure": ({ sure: key = "" }) => ((asked = key), draw()), unsure: answered };
}
