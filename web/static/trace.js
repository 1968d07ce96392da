// How each player's discovery went, as points that the host sends as they come.

export const LOST = -1;

// A probe's result in a report: 0 is lost, 1 refused, and from ANSWERED on it is an RTT.
const FORBIDDEN = 2;
const ANSWERED = 3;
// The fewest bytes of a probe, however many probes a frame claims.
const LEAST_BYTES = 3;
// The first group of a varint that would exceed the exact range of a number.
const TOO_LARGE = 2 ** 49;

/** One player's points, in the order of time. */
export class Cloud {
  constructor() {
    this.length = 0;
    this.time = new Float32Array(4096); // s since measuring began
    this.rtt = new Float32Array(4096); // ms, LOST if there was no answer
    this.phase = new Uint8Array(4096); // 0 ordered, 1 calibration, 2 refining
    /** @type {number[]} RTTs of ordered probes that the auto-stop looks at */
    this.window = [];
    /** @type {{time: number, rtt: number}[]} the auto-stop line */
    this.line = [];
    this.ordered = 0;
  }

  /** @param {number} time @param {number} rtt @param {number} phase */
  add(time, rtt, phase) {
    if (this.length === this.time.length) this.grow();
    this.time[this.length] = time;
    this.rtt[this.length] = rtt;
    this.phase[this.length] = phase;
    this.length++;
    if (phase === 0 && rtt !== LOST) this.follow(time, rtt);
  }

  grow() {
    for (const column of /** @type {const} */ (["time", "rtt"])) {
      const longer = new Float32Array(2 * this[column].length);
      longer.set(this[column]);
      this[column] = longer;
    }
    const longer = new Uint8Array(2 * this.phase.length);
    longer.set(this.phase);
    this.phase = longer;
  }

  /**
   * Moves the auto-stop line of NetGames 2006: the 2nd percentile of the last 100 answers in order.
   * Probing stops when the line exceeds the limit.
   * @param {number} time @param {number} rtt
   */
  follow(time, rtt) {
    this.window.push(rtt);
    if (this.window.length > 100) this.window.shift();
    if (++this.ordered % 10 === 0 && this.window.length === 100) {
      this.line.push({ time, rtt: this.window.toSorted((a, b) => a - b)[2] });
    }
  }

  /** How many servers answered within ms. @param {number} ms */
  near(ms) {
    let n = 0;
    for (let i = 0; i < this.length; i++) {
      if (this.rtt[i] !== LOST && this.rtt[i] <= ms) n++;
    }
    return n;
  }

  /** Recent probes a second. @param {number} now s since measuring began */
  rate(now) {
    const span = 3;
    let i = this.length;
    while (i > 0 && this.time[i - 1] > now - span) i--;
    return (this.length - i) / Math.min(span, Math.max(now, 0.5));
  }

  /** All RTTs in ascending order. */
  sorted() {
    return this.rtt.slice(0, this.length).filter((rtt) => rtt !== LOST).sort();
  }
}

/** All players' clouds of a round. */
export class Clouds {
  constructor() {
    /** @type {Map<string, Cloud>} */
    this.byPlayer = new Map();
    this.round = 0;
    /** counts the frames that were read, for drawing. */
    this.edition = 0;
  }

  /** @param {string} player */
  of(player) {
    return this.byPlayer.get(player) ?? new Cloud();
  }

  /** Forgets the last round when another begins. @param {number} round */
  enter(round) {
    if (round === this.round) return;
    this.round = round;
    this.byPlayer.clear();
    this.edition++;
  }

  /** Forgets everything, because the host sends it again. */
  clear() {
    this.byPlayer.clear();
    this.edition++;
  }

  /** Reads a frame: see host/wire/report.go. @param {ArrayBuffer} buffer */
  read(buffer) {
    const r = new Reader(new Uint8Array(buffer));
    const player = r.text(r.number());
    r.number(); // the kind
    this.enter(r.number());
    const first = r.number();
    r.number(); // the sender's clock
    const known = this.byPlayer.get(player);
    const cloud = known && known.length <= first ? known : new Cloud();
    this.byPlayer.set(player, cloud);
    this.edition++;
    let time = 0;
    let ticks = 0;
    for (let n = Math.min(r.number(), r.left() / LEAST_BYTES); n > 0; n--) {
      const timing = r.number();
      time += Math.floor(timing / 3);
      r.number(); // the server
      const code = r.number();
      if (code === FORBIDDEN) continue; // nobody asked
      if (code >= ANSWERED) ticks += unzigzag(code - ANSWERED);
      cloud.add(time / 1000, code >= ANSWERED ? Math.max(ticks / 10, 0.05) : LOST, timing % 3);
    }
  }
}

/** @param {number} n */
function unzigzag(n) {
  return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
}

class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** How many bytes are left. */
  left() {
    return Math.max(0, this.bytes.length - this.at);
  }

  /** An unsigned varint, least significant group first; beyond the end everything is 0. */
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++] ?? 0;
      if (scale < TOO_LARGE) value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  /** @param {number} length */
  text(length) {
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }
}
