// The reveal's sound, made here: nothing is fetched, and nothing is heard before somebody
// has asked for it on this page.

import { moments, spokeAt } from "./stages/moment.js";

/** @type {{context: AudioContext | null}} whether sound is on: only a tap may begin it */
const sound = { context: null };

/** Whether it is on. */
export const isOn = () => sound.context !== null;

/** Switches it, in answer to a tap. */
export function toggle() {
  if (sound.context) void sound.context.close();
  sound.context = sound.context ? null : new AudioContext();
}

/** How high a pluck is, Hz: nearer is higher. @param {number} ms */
export function pitchOf(ms) {
  const highest = 880;
  const halved = 60; // ms at which it is an octave lower
  return highest / (1 + ms / halved);
}

/** Plays a reveal from its beginning, if sound is on. @param {number[]} pings in the order of the spokes, ms @param {BaseAudioContext | null} context where */
export function play(pings, context = sound.context) {
  if (!context) return;
  const begin = context.currentTime;
  /** @param {number} hertz @param {number} at ms @param {number} lasts s @param {number} loud @param {OscillatorType} type */
  const note = (hertz, at, lasts, loud, type) => {
    const tone = new OscillatorNode(context, { type, frequency: hertz });
    const gain = new GainNode(context, { gain: 0 });
    const from = begin + at / 1000;
    gain.gain.setValueAtTime(0, from);
    gain.gain.linearRampToValueAtTime(loud, from + 0.015);
    gain.gain.exponentialRampToValueAtTime(0.0001, from + lasts);
    tone.connect(gain).connect(context.destination);
    tone.start(from);
    tone.stop(from + lasts);
  };
  note(82, moments.pin, 2.2, 0.3, "sine");
  pings.forEach((ms, i) => note(pitchOf(ms), spokeAt(i, pings.length), 0.5, 0.12, "triangle"));
  for (const hertz of [220, 277, 330, 440]) note(hertz, moments.place, 2.4, 0.09, "triangle");
}
