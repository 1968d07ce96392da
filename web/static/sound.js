// The sounds of somebody who comes, of the reveal, and of seats for all. They are synthesised here, so nothing is loaded,
// and nothing sounds before somebody has asked for it on this page.

import { moments, spokeAt } from "./stages/moment.js";

/** @type {{context: AudioContext | null}} whether sound is on; only a tap can start it */
const sound = { context: null };

/** Whether sound is on. */
export const isOn = () => sound.context !== null;

/** Switches sound, in answer to a tap. */
export function toggle() {
  if (sound.context) void sound.context.close();
  sound.context = sound.context ? null : new AudioContext();
}

/** Asks for notifications, which browsers allow only after a tap. */
export function allow() {
  if (globalThis.Notification?.permission === "default") void Notification.requestPermission();
}

/** Calls a person who asked for that, here and where the page is not visible. @param {string} text @param {BaseAudioContext | null} context where */
export function call(text, context = sound.context) {
  if (!context) return;
  for (const [i, hertz] of [523, 659, 784, 1047].entries()) note(context, hertz, i * 160, 0.5, 0.2, "triangle");
  if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
  try {
    const shown = new Notification("Muster", { body: text, tag: "muster seats" });
    shown.onclick = () => (focus(), shown.close());
  } catch {
    // A phone shows no notifications from a page, so the sound has to be enough.
  }
}

/** The pitch of a pluck, Hz: nearer is higher. @param {number} ms */
export function pitchOf(ms) {
  const highest = 880;
  const halved = 60; // ms at which it is an octave lower
  return highest / (1 + ms / halved);
}

/** Plays a reveal from its beginning, if sound is on. @param {number[]} pings in the order of the spokes, ms @param {BaseAudioContext | null} context where */
export function play(pings, context = sound.context) {
  if (!context) return;
  note(context, 82, moments.pin, 2.2, 0.3, "sine");
  pings.forEach((ms, i) => note(context, pitchOf(ms), spokeAt(i, pings.length), 0.5, 0.12, "triangle"));
  for (const hertz of [220, 277, 330, 440]) note(context, hertz, moments.place, 2.4, 0.09, "triangle");
}

/** Says in two notes that somebody has come, if sound is on. @param {BaseAudioContext | null} context where */
export function come(context = sound.context) {
  if (!context) return;
  note(context, 587, 0, 0.25, 0.1, "triangle");
  note(context, 880, 90, 0.35, 0.1, "triangle");
}

/** @param {BaseAudioContext} context @param {number} hertz @param {number} at ms from now @param {number} lasts s @param {number} loud @param {OscillatorType} type */
function note(context, hertz, at, lasts, loud, type) {
  const tone = new OscillatorNode(context, { type, frequency: hertz });
  const gain = new GainNode(context, { gain: 0 });
  const from = context.currentTime + at / 1000;
  gain.gain.setValueAtTime(0, from);
  gain.gain.linearRampToValueAtTime(loud, from + 0.015);
  gain.gain.exponentialRampToValueAtTime(0.0001, from + lasts);
  tone.connect(gain).connect(context.destination);
  tone.start(from);
  tone.stop(from + lasts);
}
