// Time that a test holds: Date, performance.now, timers and frames of the page's modules. Nothing
// happens until the test lets time pass.

const RealDate = globalThis.Date;

/** @type {{at: number, every: number | null, run: () => void, id: number}[]} */
let timers = [];
/** @type {((at: number) => void)[]} */
let frames = [];
let now = RealDate.UTC(2026, 0, 1);
let ids = 0;
/** When the clock was set last, and how long the page had been open by then, ms. */
let setAt = now;
let open = 0;

/** How long the page has been open, ms: it never goes back. */
const uptime = () => open + now - setAt;

class HeldDate extends RealDate {
  constructor(...of) {
    if (of.length === 0) super(now);
    else super(...of);
  }

  static now() {
    return now;
  }
}

/** @param {number | null} every */
const timer = (run, wait, of, every) => {
  timers.push({ at: now + Math.max(0, Number(wait) || 0), every, run: () => run(...of), id: ++ids });
  return ids;
};
const clear = (id) => (timers = timers.filter((one) => one.id !== Number(id)));

/** Holds the time of the modules that are loaded from now on. */
export function hold() {
  Object.assign(globalThis, {
    Date: HeldDate,
    setTimeout: (run, wait, ...of) => timer(run, wait, of, null),
    setInterval: (run, wait, ...of) => timer(run, wait, of, wait),
    clearTimeout: clear,
    clearInterval: clear,
    requestAnimationFrame: (run) => frames.push(run),
    cancelAnimationFrame: () => {},
  });
  Object.defineProperty(globalThis, "performance", { value: { now: uptime, mark() {}, getEntriesByType: () => [] }, configurable: true });
}

/** Sets the clock, and forgets the timers of what stood on the page before. @param {number} to ms */
export function setTo(to) {
  open = uptime() + 60_000; // as long as nobody looked
  setAt = now = to;
  timers = timers.filter((one) => one.every !== null).map((one) => ({ ...one, at: now + /** @type {number} */ (one.every) }));
}

/** Lets promises settle, and draws one frame if somebody asked for it: what moves asks for frames without an end. */
export async function settles() {
  await new Promise((done) => setImmediate(done));
  const due = frames;
  frames = [];
  for (const run of due) run(uptime());
  await new Promise((done) => setImmediate(done));
}

/** Lets time pass: each timer runs in its turn, with a frame behind it. @param {number} ms */
export async function passes(ms) {
  const end = now + ms;
  for (;;) {
    await settles();
    const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at || a.id - b.id);
    if (!next) break;
    now = Math.max(now, next.at);
    if (next.every === null) clear(next.id);
    else next.at += Math.max(1, next.every);
    next.run();
  }
  now = end;
  await settles();
}
