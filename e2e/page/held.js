// A page's time that stands still until musterTime.pass: web/static/time.js asks it. Put it into a page, or
// into Node, before the page's modules. CSS animations, media and what the browser times itself go on.
{
  let now = Date.now();
  let timers = 1e9; // no browser counts its own so far
  /** @type {{timer: number, at: number, every: number, call: () => void}[]} by time, and those of one time as they were set */
  let waiting = [];
  const set = (call, ms, every, timer = ++timers) => {
    waiting.push({ timer, at: now + Math.max(0, ms), every, call });
    waiting.sort((a, b) => a.at - b.at); // stable
    return timer;
  };
  globalThis.musterTime = {
    now: () => now,
    setTimeout: (call, ms) => (ms > 0 ? set(call, ms, 0) : Number(setTimeout(call))), // for which no time need pass
    setInterval: (call, ms) => set(call, ms, ms),
    clearTimeout: (timer) => void (waiting = waiting.filter((one) => one.timer !== timer)),
    /** Lets time pass until the next of what is due by then has happened. @param {number} end @returns {boolean} whether anything was due */
    step(end) {
      if (!(waiting[0]?.at <= end)) {
        now = end;
        return false;
      }
      const { timer, at, every, call } = waiting.shift();
      now = at;
      if (every > 0) set(call, every, every, timer);
      call();
      return true;
    },
    /** Lets time pass: what is due in it happens in its order. @param {number} ms */
    pass(ms) {
      for (const end = now + ms; this.step(end); );
    },
  };
}
