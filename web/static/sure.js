// A second press for what cannot be taken back: the first one asks on the button itself.

/** How long a button waits for the second press, ms. */
const waits = 4000;

const armed = { key: "", timer: 0 };

/** Whether a button has been pressed once. @param {string} key */
export const isArmed = (key) => armed.key === key;

/** Notes a press, and returns whether it was the second. @param {string} key @param {() => unknown} changed draws the page */
export function press(key, changed) {
  clearTimeout(armed.timer);
  const isSure = isArmed(key);
  armed.key = isSure ? "" : key;
  if (!isSure) armed.timer = Number(setTimeout(() => ((armed.key = ""), changed()), waits));
  changed();
  return isSure;
}
