// A gamepad steers the page: the D-pad or the left stick moves the focus, A presses, B goes back,
// and the right stick scrolls. Pages load this once a gamepad is there.
//
// A direction or button first goes to the page as the key that means the same, so that menus,
// tables and suggestions do what they do on a keyboard. If nothing there takes the key, the focus
// goes to the nearest thing on that side.

import { nextFrame, runTime } from "./time.js";

/** @typedef {"left" | "right" | "up" | "down"} Direction */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box in CSS px */

// The buttons of the standard layout (W3C Gamepad, section 11.1).
const A = 0;
const B = 1;
/** @type {[number, Direction, string][]} */
const pads = [
  [12, "up", "ArrowUp"],
  [13, "down", "ArrowDown"],
  [14, "left", "ArrowLeft"],
  [15, "right", "ArrowRight"],
];
/** How far a stick must lean. A worn stick rests at up to a quarter. */
const leans = 0.5;
/** A held direction repeats after the first pause, and then at every further one, ms. */
const pauses = [400, 130];
/** How far the right stick scrolls in a second, px. */
const scrolls = 1500;

/**
 * Returns the place of the nearest box in a direction, -1 without one. A box counts if it begins
 * behind our middle and ends behind our edge. What lies straight ahead goes first: a px aside is as
 * far as three ahead.
 * @param {Box} from @param {Box[]} boxes @param {Direction} direction
 */
export function nearest(from, boxes, direction) {
  const turned = boxes.map((box) => turn(box, direction));
  const us = turn(from, direction);
  let best = -1;
  let least = Infinity;
  turned.forEach((box, i) => {
    if (box.left < (us.left + us.right) / 2 || box.right <= us.right) return;
    const ahead = Math.max(0, box.left - us.right);
    const aside = Math.max(0, box.top - us.bottom, us.top - box.bottom);
    const oblique = Math.abs(box.top + box.bottom - us.top - us.bottom) / 2;
    const far = ahead + 3 * aside + oblique / 10;
    if (far < least) [best, least] = [i, far];
  });
  return best;
}

/** Turns a box so that the direction leads to the right. @param {Box} box @param {Direction} direction @returns {Box} */
function turn({ left, top, right, bottom }, direction) {
  switch (direction) {
    case "left":
      return { left: -right, top, right: -left, bottom };
    case "up":
      return { left: -bottom, top: left, right: -top, bottom: right };
    case "down":
      return { left: top, top: left, right: bottom, bottom: right };
  }
  return { left, top, right, bottom };
}

/** Returns what can have the focus now: in an open dialog only what is in it. */
export function focusable() {
  const within = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document;
  const all = /** @type {NodeListOf<HTMLElement>} */ (
    within.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")
  );
  return [...all].filter(
    (element) =>
      element.tabIndex >= 0 && !element.matches(":disabled, [aria-disabled=true]") && !element.closest("[inert]") &&
      element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 0,
  );
}

/** Sends a key to whatever has the focus, and returns whether the page has taken it. @param {string} key */
function press(key) {
  const to = document.activeElement ?? document.body;
  return !to.dispatchEvent(new KeyboardEvent("keydown", { key, code: key, bubbles: true, cancelable: true }));
}

/** Whether a list's choice waits for A, because it loads the page again. @param {Element} list */
const waits = (list) => list.matches("[data-waits]");

/** Changes a list, a slider or a number, and returns whether it is one. @param {Direction} direction */
function adjust(direction) {
  const on = document.activeElement;
  const by = { left: -1, right: 1, up: 0, down: 0 }[direction];
  if (by === 0) return false;
  if (on instanceof HTMLSelectElement) {
    const options = [...on.options];
    let at = on.selectedIndex + by;
    while (options[at]?.disabled) at += by;
    if (!options[at]) return true;
    on.selectedIndex = at;
  } else if (on instanceof HTMLInputElement && ["range", "number"].includes(on.type)) {
    by > 0 ? on.stepUp() : on.stepDown();
  } else {
    return false;
  }
  on.dispatchEvent(new Event("input", { bubbles: true }));
  if (!waits(on)) on.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

/** @param {Direction} direction @param {string} key */
function move(direction, key) {
  const on = document.activeElement;
  // On these an arrow would open something: A does that, and the arrow passes by.
  const isShut = on?.matches("[aria-haspopup]:not([aria-expanded=true]), [aria-expanded=false]");
  if ((!isShut && press(key)) || adjust(direction)) return;
  go(direction);
}

/** Moves the focus to the nearest thing in a direction, or scrolls. @param {Direction} direction */
function go(direction) {
  const all = focusable();
  const on = document.activeElement;
  const from = on && on !== document.body ? on.getBoundingClientRect() : { left: 0, top: 0, right: innerWidth, bottom: 0 };
  const others = all.filter((element) => element !== on);
  const next = others[nearest(from, others.map((element) => element.getBoundingClientRect()), direction)];
  if (next) focusOn(next);
  else if (direction === "up" || direction === "down") scrollBy({ top: (direction === "up" ? -0.6 : 0.6) * innerHeight, behavior: "smooth" });
}

/** @param {HTMLElement} element */
function focusOn(element) {
  element.focus(/** @type {FocusOptions} */ ({ preventScroll: true, focusVisible: true }));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: calm ? "auto" : "smooth" });
}

function choose() {
  const on = document.activeElement;
  if (!(on instanceof HTMLElement) || on === document.body) {
    const first = focusable()[0];
    return first && focusOn(first);
  }
  if (press("Enter")) return;
  if (waits(on)) return on.dispatchEvent(new Event("change", { bubbles: true }));
  if (on instanceof HTMLTextAreaElement || (on instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit", "file"].includes(on.type))) {
    /** @type {any} */ (navigator).virtualKeyboard?.show(); // Steam's own keyboard opens with Steam and X
    return;
  }
  on.click();
}

function back() {
  const dialog = /** @type {HTMLDialogElement | undefined} */ ([...document.querySelectorAll("dialog:modal")].at(-1));
  if (dialog) return dialog.close();
  if (press("Escape")) return;
  const fold = document.activeElement?.closest("details[open]");
  if (fold instanceof HTMLDetailsElement) {
    fold.open = false;
    const summary = fold.querySelector("summary");
    if (summary) focusOn(summary);
  } else {
    go("up");
  }
}

/** For how long each button or direction has been seen pressed, in ms, and how often it has acted, by its number. @type {Map<number, {time: number, acts: number}>} */
const held = new Map();

// The browser's own ring is for keyboards, and may stay away after a mouse or a finger.
const ring = new CSSStyleSheet({ disabled: true });
ring.replaceSync(`:focus:not([tabindex="-1"]), input:focus + span { outline: 3px solid var(--gold-text); outline-offset: 2px; }`);

/** Acts on a press, and again and again while it is held if it repeats. passed is the time since the last frame, in ms. @param {number} which @param {boolean} isDown @param {number} passed @param {() => void} act @param {boolean} [repeats] */
function hold(which, isDown, passed, act, repeats = false) {
  const hand = held.get(which);
  if (!isDown) return held.delete(which);
  if (!hand) {
    ring.disabled = false;
    held.set(which, { time: 0, acts: 1 });
    return act();
  }
  hand.time += passed;
  if (repeats && hand.time >= pauses[0] + (hand.acts - 1) * pauses[1]) {
    hand.acts++;
    act();
  }
}

/** The animation frame to come, 0 for none, and when the last one was, ms. */
let frame = 0;
let last = 0;

/** @param {number} now ms */
function poll(now) {
  const all = navigator.getGamepads().filter((pad) => pad?.connected);
  frame = all.length > 0 && !document.hidden ? nextFrame(poll) : 0;
  const passed = Math.min(100, now - last); // a page that stood still did not see how long a button was held
  last = now;
  if (!document.hasFocus()) return held.clear(); // another window has the gamepad
  const is = (/** @type {number} */ button) => all.some((pad) => pad?.buttons[button]?.pressed);
  const leaning = (/** @type {number} */ axis) => all.reduce((most, pad) => (Math.abs(pad?.axes[axis] ?? 0) > Math.abs(most) ? (pad?.axes[axis] ?? 0) : most), 0);
  const [x, y] = [leaning(0), leaning(1)];
  const leansTo = { left: x < -leans && -x > Math.abs(y), right: x > leans && x > Math.abs(y), up: y < -leans && -y >= Math.abs(x), down: y > leans && y >= Math.abs(x) };
  for (const [button, direction, key] of pads) hold(button, is(button) || leansTo[direction], passed, () => move(direction, key), true);
  hold(A, is(A), passed, choose);
  hold(B, is(B), passed, back);
  const roll = leaning(3);
  if (Math.abs(roll) > leans / 2) scrollBy({ top: (roll * scrolls * passed) / 1000, behavior: "instant" });
}

/** Listens to gamepads from now on. */
export function listen() {
  const begin = () => {
    if (frame === 0 && !document.hidden) {
      last = runTime();
      frame = nextFrame(poll);
    }
  };
  addEventListener("gamepadconnected", begin);
  document.addEventListener("visibilitychange", begin);
  document.addEventListener("pointerdown", () => (ring.disabled = true));
  document.adoptedStyleSheets.push(ring);
  begin();
}
