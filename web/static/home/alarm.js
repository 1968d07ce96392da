// Calls a person who looks elsewhere: title, sound, notification.

const title = document.title;
/** @type {AudioContext | undefined} */
let audio;

export const alarm = {
  /** Enables sound, which browsers allow only after a click. */
  allowSound() {
    audio ??= new AudioContext();
    audio.resume().catch(() => {});
  },

  /** Enables sound, and asks for permission to show notifications. */
  async allow() {
    this.allowSound();
    if (globalThis.Notification?.permission === "default") await Notification.requestPermission().catch(() => {});
  },

  /** @param {string} text */
  ring(text) {
    document.title = `● ${text}`;
    if (!document.hidden) return chime();
    chime();
    if (globalThis.Notification?.permission !== "granted") return;
    const note = new Notification("Muster", { body: text, tag: "muster" });
    note.onclick = () => {
      focus();
      note.close();
    };
  },

  rest() {
    if (document.title !== title) document.title = title;
  },
};

/** Plays two notes. */
function chime() {
  if (!audio || audio.state !== "running") return;
  for (const [i, hz] of [660, 880].entries()) {
    const from = audio.currentTime + i * 0.18;
    const tone = audio.createOscillator();
    const loud = audio.createGain();
    tone.frequency.value = hz;
    loud.gain.setValueAtTime(0.0001, from);
    loud.gain.exponentialRampToValueAtTime(0.12, from + 0.02);
    loud.gain.exponentialRampToValueAtTime(0.0001, from + 0.35);
    tone.connect(loud).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 0.4);
  }
}
